/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NAMED_SUMS_H
#define KONTEND_NAMED_SUMS_H

#include "kontend/query-hist.h"

struct openmetrics_text;

/*
 * Sums with names from outside: locks, callers, cgroups, memory cgroups. They only grow, and their
 * number is limited: what has no series of its own is added to the `other` with the same further
 * labels. A series stays; only if it `ends`, one that has not grown for an hour makes room for a
 * new one, and `other` does not change.
 */
enum { NAMED_SUM_NAME = 1024 }; /* longer names are cut off: paths of cgroups may be long */

/* The values of its labels. */
struct named_key {
	const char *name;
	const char *type, *mode; /* constants; NULL: it has no such label */
};

struct named_sum {
	struct named_key key; /* the name is cleaned, so that equal labels are one row */
	uint64_t n, total_ns;
	uint64_t *counts;  /* HIST_BUCKETS of them; NULL: none */
	uint64_t max_ns;   /* since the last scrape */
	uint64_t waiting;  /* tasks waiting now */
	uint64_t grown_ns; /* time of the last growth */
};

struct named_sums {
	size_t most;
	bool ends;
	bool is_cut; /* only the first rows of a second are examined: the maximum of the others is
			not known */
	struct named_sum *rows;
	uint64_t *hashes;
	size_t n, cap, cap_hashes;
	struct named_sum *others;
	size_t n_others, cap_others;
	uint64_t n_ended;
};

void named_sums_deinit(struct named_sums *s);
/*
 * The row of this key, until the next call. If there is none: a new one, if @may_begin and there is
 * room, else that of `other`. NULL: no memory.
 */
struct named_sum *named_sums_get(struct named_sums *s, const struct named_key *key, bool may_begin,
				 uint64_t now_ns);
/* The `other` with the same type and mode. NULL: no memory. */
struct named_sum *named_sums_other(struct named_sums *s, const char *type, const char *mode);
bool named_sum_is_other(const struct named_sum *r);
/* Adds @n waits, the longest of @max_ns, and the number of tasks that wait now. */
void named_sum_add(struct named_sum *r, uint64_t n, uint64_t total_ns, uint64_t max_ns,
		   uint64_t waiting, uint64_t now_ns);
/* Adds a histogram. 0 or -ENOMEM: then nothing was added. */
int named_sum_add_hist(struct named_sum *r, const struct query_hist *h, uint64_t waiting,
		       uint64_t now_ns);
void named_sums_clear_waiting(struct named_sums *s);
void named_sums_clear_max(struct named_sums *s);

/* Writes a family with one value of each row, those of `other` last. */
enum named_sum_value {
	NAMED_SUM_N,
	NAMED_SUM_TOTAL,
	NAMED_SUM_MAX,
	NAMED_SUM_WAITING,
	NAMED_SUM_HISTOGRAM
};
void named_sums_put(const struct named_sums *s, const char *family, enum named_sum_value what,
		    struct openmetrics_text *t);
void named_sum_put(const struct named_sum *r, enum named_sum_value what,
		   struct openmetrics_text *t);

#endif
