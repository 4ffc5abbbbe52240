/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_DIFF_GROUPS_H
#define KONTEND_CMD_DIFF_GROUPS_H

struct opts;

/* `kontend diff OLD... -- NEW...`: the exit status. */
int cmd_diff_groups(const struct opts *o);

#endif
