/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_QUEUED_H
#define KONTEND_QUERY_QUEUED_H

#include "kontend/query.h"

/*
 * Queues of locks over time: table "queues", a row for each lock that two have waited for at a
 * time, whatever the modes. Figures include waits in flight, and are of all waits for the lock: a
 * filter of waits leaves the locks that such waits are for. Times of hand-overs are of all since
 * the sums began.
 */
int query_queued(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
extern const struct table_kind query_queued_kind;

struct query_queued_sum {
	uint32_t queues, waiting; /* that are kept; tasks in them */
	uint32_t convoys;	  /* that go on */
	uint64_t no_room;	  /* waits that found no room for the queue of their lock */
	bool is_short;		  /* the window has more than is kept */
	bool times;		  /* are releases reported? Else no hand-over has a time */
};

int query_queued_sum(struct query *q, struct query_queued_sum *ret); /* 0 or -ENOMEM */

/* The queue of one lock, for its page. */
struct query_queued_lock {
	const uint64_t *readers, *writers; /* longest queue of each bucket, the oldest first */
	const uint64_t *handed;		   /* hand-overs of each */
	uint32_t n;			   /* buckets; 0: there is no queue */
	bool has_modes;
	uint64_t stolen; /* at least; 0: also where it cannot be seen */
	uint64_t handed_n, passed, convoys, convoy_longest_ns, convoy_now_ns, starved;
	uint64_t times_n, p50_ns, p99_ns;
	uint32_t longest, passed_most;
};

/* Of the lock with that id in the dimension BY_LOCK. 0 or -ENOMEM. */
int query_queued_lock(struct query *q, uint64_t id, struct query_queued_lock *ret);

#endif
