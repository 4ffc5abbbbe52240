/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RIGHTS_H
#define KONTEND_RIGHTS_H

/*
 * Drops all capabilities of the calling thread, in all sets, since permitted ones could become
 * effective again, and prevents programs it executes from gaining new ones. 0 or a negative errno.
 */
int rights_give_up(void);

#endif
