/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_MMAP_H
#define KONTEND_QUERY_MMAP_H

#include "kontend/query.h"

/*
 * How long it takes to get mmap_locks, by process or by memory cgroup, readers and writers apart.
 * All answers lie in the query's arena, as those of query.h do.
 */

/* For the overview and the header line of the view. */
struct query_mmap_sum {
	bool known;	    /* there are names of locks: without, no lock is known to be one */
	const char *reason; /* why there are none, or "" */
};

int query_mmap_sum(struct query *q, struct query_mmap_sum *ret);

/*
 * Table "mmap": a row a process and mode; with spec.by BY_CGROUP a row a memory cgroup and mode. A
 * row's id is one of BY_MMAP, or BY_MMAP_MEMCG.
 */
int query_mmap(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
const struct column *query_mmap_columns(size_t *ret_n);
/* "process", "memcg" */
const char *query_mmap_by_name(enum query_by by);

/* The rows of "mmap" by process where most is waited now, worst first; QUERY_MMAP_WORST at most. */
enum { QUERY_MMAP_WORST = 3 };
int query_mmap_worst(struct query *q, bool average, struct table *ret, struct error *err);

/* The sentence for a table without rows. */
const char *query_mmap_none(struct query *q, const struct query_mmap_sum *s);

#endif
