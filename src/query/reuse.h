/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_REUSE_H
#define KONTEND_SRC_QUERY_REUSE_H

#include "group.h"
#include "rows.h"

/* State of the sources of answers: while it is equal, answers do not change. */
struct reuse_state {
	uint64_t changes, generation, n_events, n_ticks, now_ns, n_renewed, window_ns;
	uint64_t n_lines; /* answers about source lines that have come */
	uint64_t only;	  /* which waits are asked about: query.only */
};

struct reuse_groups;
struct reuse_order;

/* Waits of kontend itself. */
struct reuse_own {
	struct reuse_state state;
	uint64_t waits, ns;
};

/* Why tasks wait for the lock that the verdict is about. */
struct reuse_cause {
	struct reuse_state state;
	uint64_t lock;
	const char *text; /* a sentence; NULL: none */
	const char *at;	  /* the line of the program that is to blame; NULL: not known */
};

/*
 * Results of a pass over all cells or rows, which stay the same until the model or the names
 * change: scrolling a screen asks for nothing else. Without query.keeps nothing is kept: all lies
 * in the query's own arena.
 */
struct reuse {
	struct arena arena;
	struct reuse_state state; /* when the frame began */
	struct reuse_groups *groups;
	struct reuse_order *orders;
	size_t n_groups, n_orders;
	struct reuse_own own;
	struct reuse_cause cause;
	uint64_t number; /* of the last order ever made */
};

/* At the beginning of a frame: drops cached parts that are outdated, or too large. */
void reuse_begin(struct query *q);
void reuse_deinit(struct reuse *k);
/* The arena for cached parts. */
struct arena *reuse_arena(struct query *q);

/* As query_group(). */
int reuse_group(struct query *q, enum query_by by, const struct query_scope *scope,
		struct groups *ret);

/* False: it has to be summed up. */
bool reuse_own_find(const struct query *q, struct reuse_own *ret);
void reuse_own_put(struct query *q, const struct reuse_own *own);

/* NULL: it has to be made. */
const struct reuse_cause *reuse_cause_find(const struct query *q, uint64_t lock);
void reuse_cause_put(struct query *q, const struct reuse_cause *cause); /* texts are copied */

/* Which rows there are, filtered, in their order. */
struct rows_order {
	uint64_t *ids;
	uint32_t *rows;
	double *most; /* by column of the table: the greatest known value of all rows */
	size_t n;
	uint64_t number; /* 0: not kept */
};

/* NULL: it has to be made. @sort: the column. */
const struct rows_order *reuse_order_find(struct query *q, const struct query_spec *s,
					  const struct table_kind *kind, size_t sort);
/* Without memory it is not kept. */
void reuse_order_put(struct query *q, const struct query_spec *s, const struct table_kind *kind,
		     size_t sort, struct rows_order *o);

#endif
