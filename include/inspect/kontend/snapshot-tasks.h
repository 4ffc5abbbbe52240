/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_TASKS_H
#define KONTEND_SNAPSHOT_TASKS_H

#include "kontend/locksnap.h"

/*
 * Adds to snapshots of locks the blocked tasks, as /proc shows them, where BPF does not: with their
 * calls (which takes CAP_SYS_ADMIN), the file of their system call, and how long they have slept.
 * For one thread at a time.
 */
struct snapshot_tasks;
struct target;

/*
 * @proc: "/proc", or a tree that a test made; borrowed. @kallsyms: the file with the addresses of
 * functions; opened here, as that takes a privilege that is given up later. NULL: no memory.
 */
struct snapshot_tasks *snapshot_tasks_new(const char *proc, const char *kallsyms);
/*
 * @target: whose tasks are measured; NULL: all. @reason: why BPF does not read them. 0 or -ENOMEM;
 * where tasks cannot be read the snapshot says why.
 */
int snapshot_tasks_add(struct snapshot_tasks *t, const struct target *target, const char *reason,
		       struct locksnap *ret);
void snapshot_tasks_free(struct snapshot_tasks *t); /* NULL is fine */

#endif
