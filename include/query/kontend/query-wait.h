/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_WAIT_H
#define KONTEND_QUERY_WAIT_H

#include "kontend/hash.h"
#include "kontend/query.h"

/*
 * The table of query_waiters() with the longest waits that have just ended behind those that go on.
 * For a screen, with @fold, at least so many tasks that wait for one lock are one row, whose column
 * "waiting" says how many, but those of the locks at @open. With a filter nothing is folded: it is
 * for single waits.
 */
struct query_fold {
	uint32_t least;
	const uint64_t *open;
	size_t n_open;
};

int query_wait_rows(struct query *q, const struct query_spec *s, const struct query_fold *fold,
		    struct table *ret, struct error *err);

/* The row's id. */
static inline uint64_t query_fold_id(uint64_t addr)
{
	return hash_u64(~addr);
}

/*
 * One row of query_waiters() with its calls. Texts are NULL where nothing is known, else they lie
 * in the query's arena.
 */
struct query_wait {
	const char *task, *kind, *name, *phase;
	const char *holder, *certainty, *is; /* as in struct query_lock_now */
	const char *next;		     /* the same */
	const char *at, *syscall;	     /* line of the program that waits; in which call */
	const char *owner_at;		     /* as in struct query_lock_now */
	uint64_t since_ns;
	uint64_t ended_ns; /* so long ago, with `ended` */
	bool ended;
	uint64_t lock_id; /* of the lock's row by lock */
	bool approx;	  /* it is only known to be that long about, or at least */
	/* Two columns, a row for each depth, the innermost call first. No row: no call is known. */
	struct table calls;
};

/*
 * Of the row with that id. 0, -ENOENT when that wait is none of the table any more, -ENOMEM or
 * -EINVAL with @err: what
 * @s sorts or filters the calls by is wrong.
 */
int query_wait(struct query *q, uint64_t row, const struct query_spec *s, struct query_wait *ret,
	       struct error *err);

#endif
