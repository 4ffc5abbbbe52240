/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAPSHOT_LOCKS_H
#define KONTEND_SNAPSHOT_LOCKS_H

#include "kontend/error.h"
#include "kontend/lock-requests.h"
#include "kontend/locksnap.h"

/*
 * Reads the holders and waiters of the running kernel's sleeping locks, and the objects that
 * contain the locks, by BPF programs that are run on demand and take no lock. For one thread.
 */
struct kerntypes;
struct snapshot_locks;
struct target;

/*
 * @all_mms: every snapshot names the mmap_lock of every process, asked for or not. @types: NULL: it
 * reads them itself. -ENOTSUP when kontend was built without BPF, else what the kernel said.
 */
int snapshot_locks_new(struct snapshot_locks **ret, bool all_mms, struct kerntypes *types,
		       struct error *err);
/* Do its snapshots have the blocked tasks? Else they say why not. */
bool snapshot_locks_has_tasks(const struct snapshot_locks *w);
/* Counts of sleeping tasks are of these alone; borrowed. Locks are those of all. */
void snapshot_locks_of(struct snapshot_locks *w, const struct target *target);
/* Of a command: the process that runs it. From any thread, once it is there. */
void snapshot_locks_child(struct snapshot_locks *w, int pid);
/*
 * Takes a snapshot into @ret, which is cleared first: all locks that tasks wait for, as far as the
 * kernel shows them, and the requested ones. 0 or a negative errno: try again later.
 */
int snapshot_locks_take(struct snapshot_locks *w, const struct lock_request_lock *asks, size_t n,
			struct locksnap *ret, struct error *err);
/*
 * Adds the state and the calls of holders of locks of files and programs that have been added to
 * the latest snapshot. 0 or a negative errno.
 */
int snapshot_locks_holders(struct snapshot_locks *w, struct locksnap *s);
/*
 * Adds how holders that could run, and their waiters, are scheduled, when the locks of files and of
 * programs are there as well.
 */
int snapshot_locks_add_runs(struct snapshot_locks *w, struct locksnap *s);
/* The registers of a program whose task sleeps. */
enum { SNAPSHOT_REGISTERS = 16 };
struct snapshot_registers {
	int32_t tid;
	/* As in PERF_SAMPLE_REGS_USER, those that a caller finds again: a bit for each, and their
	 * values. 0: not known. */
	uint64_t mask;
	uint64_t of[SNAPSHOT_REGISTERS];
};
/* Fills in those of the @n tasks that @v names. 0 or a negative errno: none are known. */
int snapshot_locks_registers(struct snapshot_locks *w, struct snapshot_registers *v, size_t n);
void snapshot_locks_free(struct snapshot_locks *w); /* NULL is fine */

#endif
