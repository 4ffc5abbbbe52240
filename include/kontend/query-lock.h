/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LOCK_H
#define KONTEND_QUERY_LOCK_H

#include "kontend/query.h"

/*
 * Who has a lock at this moment and who waits for it: as the latest snapshot of locks says, and
 * without one as the waits in flight do, which know no holder. Texts are NULL where there is nobody
 * or nothing is known, else they lie in the query's arena.
 */
struct query_lock_now {
	const char *holder;    /* "mm/5219 W", "mm/5219 R?" */
	const char *certainty; /* "sure", "hint" */
	const char *is;	       /* "running on 1", "asleep io_schedule" */
	uint64_t held_ns;      /* how long each look has seen it so; 0: not twice */
	const char *owner_comm;
	int32_t owner_pid, owner_tid;
	uint32_t readers_waiting, writers_waiting; /* locks without modes: writers */
};

void query_lock_now(struct query *q, uint64_t addr, enum lock_type type,
		    struct query_lock_now *ret);
/* Of the lock with that id in the dimension BY_LOCK; false: it is not there any more. */
bool query_lock_now_by_id(struct query *q, uint64_t id, struct query_lock_now *ret);

#endif
