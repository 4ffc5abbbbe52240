/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_HELD_BY_H
#define KONTEND_QUERY_BLAME_HELD_BY_H

#include "rows.h"

/* Cells of blame, by the lock that was waited for: for all locks of a table. `= {0}` */
struct held_by {
	struct blame_rows b;
	struct blame_weight *v; /* sorted by the id of the lock */
	size_t n;
	uint32_t *cells; /* scratch */
	bool is_made;
};

/* The holder that made tasks wait longest for one lock. */
struct held_by_most {
	const char *name; /* "dd/701"; of several threads their process, else "9 of bench-mmap" */
	double pct;	  /* of all that was waited for the lock */
};

/* @lock: its id. Returns false if none is known, or it explains little; also without memory. */
bool held_by_most(struct held_by *h, struct query *q, uint64_t lock, struct held_by_most *ret);

#endif
