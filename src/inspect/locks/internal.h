/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H
#define KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H

#include "kontend/locksnap.h"
#include "memcg.h"
#include "percpu.h"
#include "shared.h"

/* What the programs left in their arrays. */
struct snapshot_locks_raw {
	struct raw_locks_state *state;
	struct raw_lock *locks;
	const struct raw_lock_name *names;
	const struct raw_lock_waiter *waiters;
	const struct raw_lock_task *tasks;
	const uint64_t *bases; /* of the CPUs' per-CPU sections; 0: not known */
	const struct percpu *percpu;
	const char *proc; /* "/proc" */
	struct memcg_cache *memcgs;
	bool tells_percpu; /* where the sections are, for whoever has an address */
	bool ran_known;	   /* until when waiters ran, by a clock that is ahead of ours */
	int64_t ahead_ns;
};

/* Turns them into a snapshot. 0 or -ENOMEM. */
int snapshot_locks_fill(const struct snapshot_locks_raw *raw, struct locksnap *ret);

#endif
