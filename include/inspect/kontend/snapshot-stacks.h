/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_STACKS_H
#define KONTEND_SNAPSHOT_STACKS_H

#include "kontend/locksnap.h"

/*
 * Adds to snapshots of locks the calls in their programs of tasks that wait for long: also of
 * programs without frame pointers, and of functions that Python runs. They are read while the tasks
 * sleep, from /proc and the memory of the programs; that needs the right to read it (ptrace). For
 * one thread.
 */
struct snapshot_locks;
struct snapshot_stacks;

enum { SNAPSHOT_STACKS_MOST = 256 };   /* tasks of a snapshot; others are left out */
#define SNAPSHOT_STACKS_NS 10000000ull /* that a task has waited at least */

/* @proc: "/proc", or a tree that a test made; borrowed. @keep: symbols of programs, in files. NULL:
 * no memory. */
struct snapshot_stacks *snapshot_stacks_new(const char *proc, bool keep);
/*
 * Of the waiters for locks and of the blocked tasks that @ret has; a task that sleeps still since
 * the call before is not read again. @kernel: reads their registers; NULL: not. 0 or -ENOMEM.
 */
int snapshot_stacks_add(struct snapshot_stacks *s, struct snapshot_locks *kernel,
			struct locksnap *ret);
void snapshot_stacks_free(struct snapshot_stacks *s); /* NULL is fine */

#endif
