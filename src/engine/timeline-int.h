/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_TIMELINE_INT_H
#define KONTEND_SRC_ENGINE_TIMELINE_INT_H

#include "kontend/engine-pack.h"
#include "kontend/model.h"
#include "kontend/timeline.h"
#include "packed.h"

/* The state right after a tick, and how to go back there. */
struct timeline_point {
	struct engine_packed model;
	struct engine_place place;
	size_t stop;
	uint64_t work; /* work from the beginning of the stream up to here */
};

/*
 * A stop is a moment to which a timeline can go: each tick, and the end if events follow the last
 * tick. Bucket i ends at stop i.
 */
struct timeline {
	struct engine *engine;
	struct timeline_options options;
	uint64_t tick_ns;
	struct timeline_bucket *buckets;
	size_t n, cap;
	uint64_t end_ns;
	bool is_read;	    /* the stream was read to its end: all stops are known */
	unsigned per_mille; /* the part of the stream that was read */
	bool has_tail;	    /* the last stop is the end of the stream, not a tick */

	struct timeline_point *points; /* ascending; the first one stays */
	size_t n_points, cap_points;
	size_t bytes;
	uint64_t work, gap; /* gap: least work between two points */
	uint64_t max_tick;  /* time of the latest tick */
	struct engine_pack pack;
	uint64_t n_events; /* events of the model when `work` was updated */

	size_t at;     /* stop where the engine is */
	bool is_whole; /* the engine has all up to that stop: no range, no failure on the way */
	bool is_range; /* the engine has all from stop `from` to that stop */
	size_t from;
	uint64_t exact_ns; /* end of the range of the engine, if it is between stops; 0: it is at a
			      stop */
};

/* timeline-point.c */
/* To be called at each new tick: keeps a point if one is due. 0 or -ENOMEM. */
int timeline_note_point(struct timeline *t, struct error *err);
/* The last point at or before a stop. NULL: none. */
const struct timeline_point *timeline_point_before(const struct timeline *t, size_t stop);
void timeline_free_points(struct timeline *t);

#endif
