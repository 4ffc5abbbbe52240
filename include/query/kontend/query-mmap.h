/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_MMAP_H
#define KONTEND_QUERY_MMAP_H

#include "kontend/mmlevel.h"
#include "kontend/query-hist.h"
#include "kontend/query.h"

/*
 * How long it takes to get mmap_locks, by process or by memory cgroup, readers and writers apart.
 * All answers lie in the query's arena, as those of query.h do.
 */

/* How it is measured, for the overview and the header line of the view. */
struct query_mmap_sum {
	bool known;	     /* it is known which locks are mmap_locks */
	const char *reason;  /* why not, or "" */
	uint32_t level;	     /* enum mmlevel */
	uint32_t asked;	     /* the level that was asked for */
	const char *missing; /* why it is another one, or "" */
	uint32_t one_in;     /* of MMLEVEL_SAMPLED */
	uint32_t event_ns;   /* what an event costs, measured; 0: not known */
	uint64_t events;     /* since the start */
	double events_per_s; /* of the last bucket, or of all that was measured */
	double cost_pct;     /* of one CPU, computed from these two */
	uint64_t seen_ns;    /* time in which events came, since the sums began */
	double scale;	     /* acquisitions that stand for one that was seen */
	bool counted;	     /* by counts of all of them, else by time */
	bool paths;	     /* call paths are measured */
	/* Since the sums began: see mmlock.h. */
	uint64_t unpaired, asked_only, held_only, release_only, tried, downgraded, dropped;
};

int query_mmap_sum(struct query *q, bool average, struct query_mmap_sum *ret);
/* "contended", "sampled, 1/10 of the time", "pid", "all, with call paths" */
const char *query_mmap_level_text(struct query *q, const struct query_mmap_sum *s);

/*
 * Table "mmap": a row a process and mode; with spec.by BY_CGROUP a row a memory cgroup and mode. A
 * row's id is one of BY_MMAP, or BY_MMAP_MEMCG. With spec.by BY_STACK a row a call path, which says
 * how long locks were held that were got there.
 */
int query_mmap(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
extern const struct table_kind query_mmap_kind;
/* Does a column say something of a process? */
bool query_mmap_has(size_t column);
/* Are its figures of the query's window? Else of all since the sums began. */
bool query_mmap_is_of_window(const struct query *q);
/* "process", "memcg", "stack" */
const char *query_mmap_by_name(enum query_by by);

/* Figures of a row from the events: n_waits of both 0 if they have none. */
struct query_mmap_row {
	uint64_t acquired, failed;    /* as seen: not scaled */
	struct query_hist wait, hold; /* from asking to having it; having it */
};

int query_mmap_row(struct query *q, enum query_by by, uint64_t id, struct query_mmap_row *ret);

/* The rows of "mmap" by process where most is waited now, worst first; QUERY_MMAP_WORST at most. */
enum { QUERY_MMAP_WORST = 3 };
int query_mmap_worst(struct query *q, bool average, struct table *ret, struct error *err);

/* The sentence for a table without rows. */
const char *query_mmap_none(struct query *q, enum query_by by, const struct query_mmap_sum *s);

#endif
