/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LOCKS_SCHED_H
#define KONTEND_QUERY_LOCKS_SCHED_H

#include "kontend/locksnap.h"

struct query;

/* A task of high priority waits for one of low priority that a third one keeps off its CPU. */
struct query_inversion {
	const struct locksnap_waiter *waiter;
	const struct locksnap_queue *queue; /* in which it waits */
	const struct locksnap_queue *root; /* whose holder is kept off: the same, or over a chain */
	const struct locksnap_run *high, *low;
	uint64_t ns; /* that it has waited; 0: not known */
};

/* How a task is scheduled, by the latest snapshot; NULL: it was not asked. */
const struct locksnap_run *query_run(struct query *q, int32_t tid);
const char *query_run_policy(struct query *q, const struct locksnap_run *r); /* "FIFO 80" */
const char *query_run_off_policy(struct query *q, const struct locksnap_run *r);
const char *query_run_off_name(struct query *q, const struct locksnap_run *r); /* "rt/7" */
/* Of its holder, after "runnable on 1": " only, kept off by rt/7 (FIFO 50)"; "": no more is known.
 */
const char *query_run_why(struct query *q, const struct locksnap_queue *l);
/* "throttled by cpu.max of /app (10 of 100ms) for >=80.0ms": why it does not run; NULL: it is not.
 */
const char *query_run_throttled(struct query *q, int32_t tid);
bool query_inversion_of(struct query *q, const struct locksnap_waiter *w,
			struct query_inversion *ret);
/* The longest at the lock at @addr, or, 0, anywhere, and how many there are. False: none. */
bool query_inversion_worst(struct query *q, uint64_t addr, struct query_inversion *ret,
			   uint32_t *ret_n);
const char *query_inversion_text(struct query *q, const struct query_inversion *i);

#endif
