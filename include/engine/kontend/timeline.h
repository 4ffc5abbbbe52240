/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TIMELINE_H
#define KONTEND_TIMELINE_H

#include "kontend/engine.h"

/*
 * An engine that can go to any moment of its stream. It plays the stream once from end to end (the
 * first pass), noting the wait of each bucket for the ribbon and keeping model checkpoints at ticks
 * in a bounded amount of memory (packed, and spread evenly by the work between them: the one that
 * is missed least goes when the bound is reached). Going to a time restores the last checkpoint
 * before it, seeks the source to where that was, and plays on; events up to the checkpoint's time
 * are skipped. Needs a source that can seek (a recording, or the history of a live session).
 *
 * One can stand at ticks, and at the end where events follow the last tick; the first of these is
 * where everything earlier leads to. Bucket i ends where the i-th of them is.
 */
struct timeline;

struct timeline_bucket {
	uint64_t start_ns; /* session clock */
	uint64_t wait_ns, contended;
};

struct timeline_options {
	/* 0: so that the whole has some hundreds of buckets, >= 10 ms; the stream's own ticks where
	 * its source_span() is not known. */
	uint64_t tick_ns;
	size_t checkpoint_bytes;    /* 0: 48 MiB */
	uint64_t checkpoint_events; /* at least between two of them; 0: 100,000 */
	/* Called now and then in the first pass with 0..1000 per mille (0 where the span is not
	 * known); not 0 = stop (-ECANCELED). */
	int (*progress)(void *ctx, unsigned per_mille);
	void *ctx;
};

/*
 * Makes the first pass, and then stands at the end. The engine is borrowed, has not been pumped yet
 * (or stands at a tick since it was rewound) and is from now on moved by the timeline alone.
 * -ESPIPE: the source cannot seek.
 */
int timeline_new(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		 struct error *err);
void timeline_free(struct timeline *t);

uint64_t timeline_begin_ns(const struct timeline *t);
uint64_t timeline_end_ns(const struct timeline *t);
uint64_t timeline_now_ns(const struct timeline *t);
uint64_t timeline_tick_ns(const struct timeline *t);
const struct timeline_bucket *timeline_buckets(const struct timeline *t, size_t *ret_n);

/*
 * The state at the last tick at or before @time_ns (clamped to the stream). After a failure the
 * engine is somewhere on the way; any of these can be tried again.
 */
int timeline_seek(struct timeline *t, uint64_t time_ns, struct error *err);
/*
 * Aggregates of [from, to] only: every table then speaks of the range, in whole buckets, at least
 * one. Seeking leaves it again, and so does from == to.
 */
int timeline_range(struct timeline *t, uint64_t from_ns, uint64_t to_ns, struct error *err);

#endif
