/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RIGHTS_H
#define KONTEND_RIGHTS_H

/*
 * Gives up all capabilities of the calling thread, in all sets, as of effective ones alone others
 * could be made again, and the way to new ones: what it executes cannot get any back. 0 or a
 * negative errno.
 */
int rights_give_up(void);

#endif
