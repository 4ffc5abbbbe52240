/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ROWS_H
#define KONTEND_METRICS_ROWS_H

#include "kontend/locktype.h"
#include "kontend/openmetrics-text.h"

/*
 * Series with names from outside: locks, cgroups, memory cgroups. Their number is limited; waits
 * without a series go to the `other` of their kind. A series that was shown stays and only grows,
 * until it has not grown for an hour and a new one needs its place: then it ends, and `other` does
 * not change.
 */
enum { METRICS_NAME = 512, METRICS_KINDS = LOCK_TYPES };

struct metrics_row {
	char name[METRICS_NAME];      /* cleaned, so that equal labels are one row */
	unsigned kind;		      /* type of lock, or mode: set by the caller */
	uint64_t id;		      /* of the lock, if the name is ambiguous; 0 */
	struct openmetrics_hist hist; /* buckets: only if the caller has them */
	uint64_t max_ns;	      /* since the last scrape */
	uint64_t waiting;	      /* tasks waiting now */
	uint64_t grown_ns;	      /* time of the last growth */
};

struct metrics_rows {
	struct metrics_row *rows;
	uint64_t *hashes;
	size_t n, most;
	bool is_cut; /* only the first of a second are examined: the maximum of the others is not
			known */
	struct metrics_row other[METRICS_KINDS];
	uint64_t n_ended;
};

int metrics_rows_init(struct metrics_rows *t, size_t most); /* -ENOMEM */
void metrics_rows_deinit(struct metrics_rows *t);
/*
 * The row of this name and kind. If there is none: a new one, if @may_begin and there is room, else
 * `other`.
 */
struct metrics_row *metrics_rows_get(struct metrics_rows *t, const char *name, unsigned kind,
				     bool may_begin, uint64_t now_ns);
/* Adds @n waits, the longest of @max_ns, and the number of tasks that wait now. */
void metrics_rows_add(struct metrics_row *r, uint64_t n, uint64_t total_ns, uint64_t max_ns,
		      uint64_t waiting, uint64_t now_ns);
void metrics_rows_no_waiting(struct metrics_rows *t);
void metrics_rows_no_max(struct metrics_rows *t);

#endif
