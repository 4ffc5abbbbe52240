/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ROWS_H
#define KONTEND_METRICS_ROWS_H

#include "kontend/locktype.h"
#include "kontend/openmetrics-text.h"

/*
 * Series with a name that comes from outside: of locks, cgroups, memory cgroups. There are so many
 * at most; what has none is added to the `other` of its kind. A series that was shown stays, and
 * only grows, until it has stood still for an hour and there is no room for a new one: then it
 * ends, and `other` does not change by it.
 */
enum { METRICS_NAME = 512, METRICS_KINDS = LOCK_TYPES };

struct metrics_row {
	char name[METRICS_NAME];      /* cleaned, so that equal labels are one row */
	unsigned kind;		      /* of lock, or mode: the caller's */
	uint64_t id;		      /* of the lock, where the name alone does not say which; 0 */
	struct openmetrics_hist hist; /* buckets: where the caller has them */
	uint64_t max_ns;	      /* since the last scrape */
	uint64_t waiting;	      /* now */
	uint64_t grown_ns;	      /* when it last did */
};

struct metrics_rows {
	struct metrics_row *rows;
	uint64_t *hashes;
	size_t n, most;
	bool is_cut; /* only the first of a second are looked at: no max of the others is known */
	struct metrics_row other[METRICS_KINDS];
	uint64_t n_ended;
};

int metrics_rows_init(struct metrics_rows *t, size_t most); /* -ENOMEM */
void metrics_rows_deinit(struct metrics_rows *t);
/*
 * That with this name and kind. If there is none: a new one, when @may_begin and there is room,
 * else `other`.
 */
struct metrics_row *metrics_rows_get(struct metrics_rows *t, const char *name, unsigned kind,
				     bool may_begin, uint64_t now_ns);
/* Adds @n waits, of which the longest is @max_ns, and tasks that wait now. */
void metrics_rows_add(struct metrics_row *r, uint64_t n, uint64_t total_ns, uint64_t max_ns,
		      uint64_t waiting, uint64_t now_ns);
void metrics_rows_no_waiting(struct metrics_rows *t);
void metrics_rows_no_max(struct metrics_rows *t);

#endif
