/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_ENDED_H
#define KONTEND_SRC_QUERY_ENDED_H

#include "internal.h"
#include "kontend/ended.h"
#include "perf/snapshot.h"

/*
 * Rows of things that earlier looks have seen and the last one has not (ended.h), after those of
 * the last one. A table has two columns for it, one after the other: whether it has ended, and when
 * it was seen last; screens and texts show the second one where there is such a row.
 */
struct query_ended {
	enum ended_kind kind;
	uint32_t *at; /* index in struct ended, by row */
	size_t n;
};

/* Of the model, in the query's arena. 0 or -ENOMEM. */
int query_ended(struct query *q, enum ended_kind kind, struct query_ended *ret);
/* How many there was no room for. */
uint64_t query_ended_more(const struct query *q, enum ended_kind kind);
/* Columns as they are to be shown; NULL: no memory. */
const struct column *query_ended_columns(struct query *q, const struct query_ended *e,
					 const struct table_kind *kind, size_t ended);
/* Both columns, @v being the first one, of the @i-th that has ended. */
void query_ended_fill(const struct query *q, const struct query_ended *e, size_t i,
		      struct value *v);
/* The snapshot that it is in, as of when it was seen last: a shallow copy. */
struct upsnap query_ended_upsnap(const struct query *q, const struct query_ended *e, size_t i);

#endif
