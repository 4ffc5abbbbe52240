/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_DIFF_H
#define KONTEND_QUERY_DIFF_H

#include "kontend/query.h"

/*
 * Compares two measurements in the table "diff". Addresses, thread ids and the like differ after
 * the next boot or even in the next run, so rows are matched by name (and type of lock): static
 * locks by their symbol, all others by the function that waits for them most, tasks and processes
 * by their comm. Figures are per second of their own measurement. Without spec.sort, rows are in
 * the order of the absolute change of wait per second. spec.average has no effect. The answer is in
 * the arena of
 * @b; both queries must stay in the same frame until it is written.
 */
int query_diff(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
	       struct error *err);
extern const struct table_kind query_diff_kind;

/* The time that the figures of @q are of. */
uint64_t query_diff_length(const struct query *q);

/*
 * Compares two moments of one recording in the table "compare": figures of the window of each
 * query, those of @b, those of @a, and their differences. Rows and their ids are those of "locks",
 * and spec.scope restricts them as there. All else is as in query_diff().
 */
int query_compare(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
		  struct error *err);
extern const struct table_kind query_compare_kind;

/*
 * A marked moment: a copy of the engine's model with a query of its own. It has no names of
 * functions, but uses those of the engine, which must live as long.
 */
struct query_moment {
	struct engine *engine; /* holds the copy for the query */
	struct query query;
};

/* 0 or -ENOMEM with all empty. */
int query_moment_init(struct query_moment *m, const struct engine *e);
void query_moment_deinit(struct query_moment *m);

#endif
