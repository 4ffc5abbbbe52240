/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_TIMELINE_INT_H
#define KONTEND_SRC_ENGINE_TIMELINE_INT_H

#include "kontend/engine-pack.h"
#include "kontend/timeline.h"

/* engine-pack.c: a copy of a model of which the large arrays are packed. */
struct engine_packed {
	struct model model;	 /* with almost no cells */
	struct cell_table cells; /* sizes only */
	struct engine_packed_array {
		void *data;
		size_t stored;
	} arrays[4]; /* cells, their sums, histograms, what is recent */
	size_t bytes;
};

int engine_packed_make(struct engine_packed *ret, const struct model *m, struct engine_pack *p);
/* As model_copy(). 0, -ENOMEM or -EBADMSG. */
int engine_packed_copy(struct model *dst, const struct engine_packed *from, struct engine_pack *p);
void engine_packed_deinit(struct engine_packed *m);

/* A model as it was right after a tick, and how to come back there. */
struct timeline_point {
	struct engine_packed model;
	struct engine_place place;
	size_t stop;
	uint64_t work; /* done from the stream's beginning up to here */
};

/*
 * A stop is a moment that can be gone to: each tick, and the end where events follow the last tick.
 * Stop i is where bucket i ends.
 */
struct timeline {
	struct engine *engine;
	struct timeline_options options;
	uint64_t tick_ns;
	struct timeline_bucket *buckets;
	size_t n, cap;
	uint64_t end_ns;
	bool is_read;	    /* to its end: all stops are known */
	unsigned per_mille; /* of the stream were read */
	bool has_tail;	    /* the last stop is no tick but the end */

	struct timeline_point *points; /* ascending; the first one stays */
	size_t n_points, cap_points;
	size_t bytes;
	uint64_t work, gap; /* gap: least work between two points */
	uint64_t max_tick;  /* time of the latest tick */
	struct engine_pack pack;
	uint64_t n_events; /* when `work` was summed up */

	size_t at;     /* stop where the engine is */
	bool is_whole; /* and it has all up to there: no range, no failure on the way */
	bool is_range; /* and it has all since stop `from` up to there */
	size_t from;
	uint64_t exact_ns; /* where the range that the engine has ends, between stops; 0: at a stop
			    */
};

/* timeline-point.c */
/* At a tick that was never read before: keeps a point when one is due. 0 or -ENOMEM. */
int timeline_note_point(struct timeline *t, struct error *err);
/* The last point at or before a stop; NULL when there is none. */
const struct timeline_point *timeline_point_before(const struct timeline *t, size_t stop);
void timeline_free_points(struct timeline *t);

#endif
