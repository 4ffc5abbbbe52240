/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_REPLAY_H
#define KONTEND_CMD_REPLAY_H

struct cmd_shot;
struct opts;

/* `kontend replay` on the terminal, or of a moment onto @shot; NULL: the terminal. */
int cmd_replay_to(const struct opts *o, struct cmd_shot *shot);

#endif
