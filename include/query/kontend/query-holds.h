/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HOLDS_H
#define KONTEND_QUERY_HOLDS_H

#include "kontend/query.h"

/*
 * How long one lock, or all locks of a type, were held, waited for or not: --holds. Sums are of all
 * the time that was measured.
 */
struct query_holds_kind {
	const char *kind; /* "mutex", "rwsem:W", "rwsem:R" */
	uint64_t acquired, holds, total_ns, avg_ns, p50_ns, p99_ns, max_ns;
	double acquired_per_s; /* since the snapshot before; in reports on average */
	uint64_t unbegun, unended, by_other, chainless, no_room;
};

enum { QUERY_HOLDS_KINDS = 3, QUERY_HOLDS_NOTES = 12 };

struct query_holds_sum {
	bool asked;	  /* the stream has them */
	const char *what; /* the lock or the type, as it was given */
	uint64_t lock;	  /* its address; 0: a type, or not known */
	const char *none; /* why nothing is measured; NULL: it is */
	uint64_t span_ns;
	struct query_holds_kind kinds[QUERY_HOLDS_KINDS]; /* those that were acquired */
	size_t n_kinds;
	const char *level; /* "all", "no chains", "one in N", "stopped" */
	uint32_t every;
	/* The cost of the programs: of one CPU, and a run of them; not known: see no_price. */
	bool is_priced;
	double cost_pct, runs_per_s;
	uint64_t run_ns;
	const char *no_price;
	uint64_t missed, readers_unknown;
	/* Sentences about what is left out or not known. */
	const char *notes[QUERY_HOLDS_NOTES];
	size_t n_notes;
};

bool query_holds_asked(const struct query *q); /* the stream has them */
int query_holds_sum(struct query *q, bool average, struct query_holds_sum *ret); /* 0 or -ENOMEM */
/* "costs 0.3% of a CPU at 1.2M/s", or why that is not known; in the arena, NULL: no memory. */
const char *query_holds_price(struct query *q, const struct query_holds_sum *s);
/* The holds of the lock @id (as in query_scope) in lines of text; none where nothing asks for it.
 */
enum { QUERY_HOLDS_LINES = 4 };
struct query_holds_page {
	const char *lines[QUERY_HOLDS_LINES];
	size_t n;
};
/* 0 or -ENOMEM. */
int query_holds_page(struct query *q, uint64_t id, struct query_holds_page *ret);
/* A row each lock and mode; each call chain that takes them; each task that held them. */
int query_holds(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
int query_holds_chains(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err);
int query_holds_tasks(struct query *q, const struct query_spec *s, struct table *ret,
		      struct error *err);
extern const struct table_kind query_holds_kind, query_holds_chains_kind, query_holds_tasks_kind;

#endif
