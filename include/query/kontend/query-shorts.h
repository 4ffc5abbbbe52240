/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_SHORTS_H
#define KONTEND_QUERY_SHORTS_H

#include "kontend/figure.h"
#include "kontend/query.h"

/*
 * Waits that have no record of their own: those below a threshold, summed up by type and caller,
 * and those that are only counted, by type. As of the last snapshot.
 */
struct query_shorts {
	bool known;			/* there may be such */
	const char *level;		/* "all", "threshold", "counts": the level in effect now */
	uint64_t threshold_ns, most_ns; /* now, and the highest so far; 0: none */
	uint64_t n, total_ns;		/* summed up */
	uint64_t counted;		/* only counted */
	uint64_t all_ns, summed_ns, counted_ns; /* so long on each level */
	uint64_t estimated_ns; /* of the beginning: its sums were divided by time */
	uint64_t n_changes;
	bool governed;		 /* --max-overhead: */
	double max_pct, now_pct; /* of the CPU time of all CPUs */
	uint64_t event_ns;	 /* what a begin or end of a wait costs */
	bool timed;		 /* that is known */
};

enum { QUERY_SHORTS_TEXT = 384 }; /* bytes for the texts below */

extern const struct figure query_shorts_figures[];

struct query_shorts query_shorts(const struct query *q);
/*
 * "shorter than 10.0us: 1.2M waits, 3.4s in all, by type and caller only; ..." and what the
 * governor does, into @buf.
 */
const char *query_shorts_text(const struct query_shorts *s, char *buf, size_t size);
/* The text for the line above a screen: "<10.0us summed", "counts only"; "" on level all. */
const char *query_shorts_mark(const struct query_shorts *s, char *buf, size_t size);

#endif
