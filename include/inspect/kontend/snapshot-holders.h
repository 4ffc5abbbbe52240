/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_HOLDERS_H
#define KONTEND_SNAPSHOT_HOLDERS_H

#include "kontend/locksnap.h"

/*
 * Adds to snapshots of locks in which function of the kernel those holders of locks of files and
 * programs sleep of whom only that is known: as /proc/PID/wchan names it. For one thread at a time.
 */
struct snapshot_holders;

/*
 * @proc: "/proc", or a tree that a test made; borrowed. @kallsyms: the file with the addresses of
 * functions; opened here, as that takes a privilege that is given up later. NULL: no memory.
 */
struct snapshot_holders *snapshot_holders_new(const char *proc, const char *kallsyms);
int snapshot_holders_add(struct snapshot_holders *h, struct locksnap *s); /* 0 or -ENOMEM */
void snapshot_holders_free(struct snapshot_holders *h);			  /* NULL is fine */

#endif
