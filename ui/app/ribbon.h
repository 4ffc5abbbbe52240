/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_RIBBON_H
#define KONTEND_UI_APP_RIBBON_H

#include "kontend/query-incidents.h"
#include "kontend/screen.h"
#include "kontend/timeline.h"

enum { RIBBON_ROWS = 1 + TIMELINE_FIGURES };

/* The whole of a timeline, a row a figure: where one is, and the range, are marked. */
struct ribbon {
	const struct timeline_bucket *buckets;
	size_t n;
	uint64_t begin_ns, end_ns, now_ns;
	uint64_t read_ns;	 /* where the last bucket ends: what comes after is not read yet */
	uint64_t from_ns, to_ns; /* of the range; 0 = not marked */
	uint64_t a_ns, b_ns;	 /* of the marks; 0 = not set */
	const struct query_incidents *incidents; /* a ! each; NULL: none */
	const uint64_t *of; /* by enum timeline_figure: how much there is; NULL, 0: no limit */
};

/* Rows that have something to show; waits always have. */
int ribbon_rows(const struct ribbon *b);
void ribbon_draw(const struct ribbon *b, struct screen *s, struct rect r);
/* The time to go to for a click at column @x of the screen; false when it is beside the strip. */
bool ribbon_time_at(const struct ribbon *b, struct rect r, int x, uint64_t *ret_ns);

#endif
