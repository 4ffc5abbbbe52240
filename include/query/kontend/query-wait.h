/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_WAIT_H
#define KONTEND_QUERY_WAIT_H

#include "kontend/query.h"

/*
 * One row of query_waiters() with its calls. Texts are NULL where nothing is known, else they lie
 * in the query's arena.
 */
struct query_wait {
	const char *task, *kind, *name, *phase;
	const char *holder, *certainty, *is; /* as in struct query_lock_now */
	uint64_t since_ns;
	uint64_t lock_id; /* of the lock's row by lock */
	bool approx;	  /* it is only known to be that long about, or at least */
	/* Two columns, a row for each depth, the innermost call first. No row: no call is known. */
	struct table calls;
};

/*
 * Of the row with that id. 0, -ENOENT when that wait has ended, -ENOMEM or -EINVAL with @err: what
 * @s sorts or filters the calls by is wrong.
 */
int query_wait(struct query *q, uint64_t row, const struct query_spec *s, struct query_wait *ret,
	       struct error *err);

#endif
