/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HOLDER_H
#define KONTEND_HOLDER_H

#include "kontend/cell-owner.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The holder of a lock for which tasks wait: the one place that answers this. All records that name
 * a holder go through here (begins, owners and holders, snapshots of locks, ends of waits); blame
 * and the sums of holds get it from here. Holders are written as in cell-owner.h.
 */
struct model;
struct wait;

enum { HOLDER_READERS = 3 };

/* The holders of a lock, valid while tasks wait for it without a break. */
struct lock_has {
	uint32_t who;	 /* has it; cell_owner_is_free(): no task; OWNER_NONE: not known */
	uint32_t before; /* who had it until then */
	/* Other readers that had it with `who`, the latest first, and were not seen to let go. */
	uint32_t readers[HOLDER_READERS];
	uint64_t reported_ns;
	uint64_t gone_ns; /* since then it is known that `who` has it no more; 0: it is not */
};

/* When the lock of a file was taken, as events report it. */
struct lock_taken {
	uint64_t ns;	  /* 0: not known */
	uint64_t seen_ns; /* when that was reported */
	int32_t pid;	  /* the process that took it; 0: not known, or it has passed it on */
};

/* The holder of the lock of @w, which is in flight, as events report it; *@ret_ns: as of when. */
uint32_t holder_now(const struct model *m, const struct wait *w, uint64_t *ret_ns);
/*
 * Since when process @pid, the holder, has had the lock of a file for which tasks wait; 0: since
 * before the measurement, or not known.
 */
uint64_t holder_taken_ns(const struct model *m, uint32_t lock, int32_t pid);
/* The wait of @task for the lock at @addr, in whatever mode; NULL: it does not wait for it. */
const struct wait *holder_wait_at(const struct model *m, uint32_t task, uint64_t addr);
/*
 * The same of a wait that has ended: the holder that a look saw, else the one that events reported
 * while it lasted, else the last one before it got the lock. In a queue the last one is a waiter
 * that got the lock a moment before, and no cause.
 */
static inline uint32_t holder_then(uint32_t held_by, uint32_t seen, uint32_t reported)
{
	return cell_owner_task(seen)	   ? seen
	       : cell_owner_task(reported) ? reported
	       : held_by		   ? held_by
					   : reported;
}

#endif
