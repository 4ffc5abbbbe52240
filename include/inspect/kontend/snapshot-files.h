/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_FILES_H
#define KONTEND_SNAPSHOT_FILES_H

#include "kontend/locksnap.h"

#include <stdbool.h>

/*
 * Adds to snapshots of locks the locks of files that tasks wait for, with waiters, holders and
 * paths: from /proc, without BPF. For one thread.
 */
struct snapshot_files;
struct target;

/* @proc: "/proc", or a tree that a test made; borrowed. NULL: no memory. */
struct snapshot_files *snapshot_files_new(const char *proc);
/*
 * @wanted: there may be such waits; else they are only searched once more, and where the
 * previous search found some. @target: whose waits are measured; NULL: all. 0 or -ENOMEM.
 */
int snapshot_files_add(struct snapshot_files *f, bool wanted, const struct target *target,
		       struct locksnap *ret);
void snapshot_files_free(struct snapshot_files *f); /* NULL is fine */

#endif
