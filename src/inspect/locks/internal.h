/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H
#define KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H

#include "kontend/locksnap.h"
#include "memcg.h"
#include "percpu.h"
#include "readers-shared.h"
#include "shared.h"

/* Results of the programs in their arrays. */
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
	const struct target *target; /* NULL: the whole system */
	bool tells_percpu;	     /* has the sections, to find the variable of an address */
	bool ran_known;		     /* until when waiters ran, by a clock that is ahead of ours */
	int64_t ahead_ns;
	const struct raw_reader *readers; /* of `wanted` */
	size_t n_readers;
	uint64_t wanted[RAW_READER_LOCKS];
	const char *no_readers; /* why they are not known; NULL: they are */
	bool many_tasks;
};

/* Adds @l's readers to the queue that is added next. 0 or -ENOMEM. */
int snapshot_locks_fill_readers(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
				struct locksnap *s, struct locksnap_queue *q);
/* Which file @tid sleeps for, if it waits for no lock. 0 or -ENOMEM. */
int snapshot_locks_fill_call(const struct snapshot_locks_raw *raw, const struct raw_call *c,
			     int tid, struct locksnap *s);
/* Path of a descriptor, cleaned likewise; 0: not known. */
uint32_t snapshot_locks_add_path(struct locksnap *s, const char *proc, int pid, int fd);
/* How many readers hold it, by its count. */
uint32_t snapshot_locks_readers(const struct raw_lock *l);
/* A comm or a cache's name, where what may not be shown has become '?'. */
uint32_t snapshot_locks_add_text(struct locksnap *s, const char *text, size_t size);

/* Turns them into a snapshot. 0 or -ENOMEM. */
int snapshot_locks_fill(const struct snapshot_locks_raw *raw, struct locksnap *ret);

#endif
