/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TIMELINE_H
#define KONTEND_TIMELINE_H

#include "kontend/engine.h"

/*
 * An engine that can go to any moment of its stream. It plays the stream once from end to end (the
 * first pass, in steps: what was read can be gone to before it ends), noting the wait of each
 * bucket for the ribbon and keeping model checkpoints at ticks in a bounded amount of memory
 * (packed, and spread evenly by the work between them: the one that is missed least goes when the
 * bound is reached). Going to a time restores the last checkpoint before it, seeks the source to
 * where that was, and plays on; events up to the checkpoint's time are skipped. Needs a source that
 * can seek (a recording, or the history of a live session).
 *
 * One can stop at ticks, at the end where events follow the last tick, and at the end of a range;
 * the first of these is where everything earlier leads to. Bucket i ends where the i-th of them is.
 */
struct timeline;

/* Figures of a bucket besides its waits: the state at its end. 0: none, or not known. */
enum timeline_figure {
	TIMELINE_SLOTS,	   /* breakpoint slots used, on all CPUs */
	TIMELINE_SHORT,	   /* perf events that wait for a counter */
	TIMELINE_ROTATION, /* ns that rotation takes per second */
	TIMELINE_XOL,	   /* slots used of the fullest XOL area */
	TIMELINE_FIGURES,
};

struct timeline_bucket {
	uint64_t start_ns; /* session clock */
	uint64_t wait_ns, contended;
	uint64_t figures[TIMELINE_FIGURES];
};

/* Source of the figures: is asked at each stop, once, while the first pass is there. */
struct timeline_watch {
	int (*note)(struct timeline_watch *w, const struct engine *e,
		    uint64_t figures[TIMELINE_FIGURES]); /* 0 or -ENOMEM */
};

struct timeline_options {
	/* 0: so that the whole has some hundreds of buckets, >= 10 ms; the stream's own ticks where
	 * its source_span() is not known. */
	uint64_t tick_ns;
	size_t checkpoint_bytes;      /* 0: 48 MiB */
	uint64_t checkpoint_events;   /* at least between two of them; 0: 100,000 */
	struct timeline_watch *watch; /* borrowed; NULL: there are no figures */
	bool ahead;		      /* the first pass by engine_read_ahead(), where that can be */
};

/*
 * Begins the first pass: reads up to the first stop. The engine is borrowed, has not been pumped
 * yet (or is at a tick since it was rewound) and is from now on moved by the timeline alone.
 * -ESPIPE: the source cannot seek.
 */
int timeline_open(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		  struct error *err);
/*
 * Continues the first pass by a bounded amount of work, from where it was left: the caller may have
 * gone elsewhere in the part that was read. Afterwards the engine is at the last stop, or between
 * it and the next one. Does nothing when all was read.
 */
int timeline_read(struct timeline *t, struct error *err);
bool timeline_is_read(const struct timeline *t);
/* How much of the stream was read; 0 as long as that is not known. */
unsigned timeline_per_mille(const struct timeline *t);
/* Makes all of the first pass, and then is at the end. */
int timeline_new(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		 struct error *err);
void timeline_free(struct timeline *t);

uint64_t timeline_begin_ns(const struct timeline *t);
uint64_t timeline_end_ns(const struct timeline *t); /* of what was read */
/* Where the stream ends as far as is known: not before timeline_end_ns(). */
uint64_t timeline_whole_ns(const struct timeline *t);
uint64_t timeline_now_ns(const struct timeline *t);
uint64_t timeline_tick_ns(const struct timeline *t);
const struct timeline_bucket *timeline_buckets(const struct timeline *t, size_t *ret_n);

/*
 * The state at the last tick at or before @time_ns (clamped to the stream). After a failure the
 * engine is somewhere on the way; any of these can be tried again.
 */
int timeline_seek(struct timeline *t, uint64_t time_ns, struct error *err);
/*
 * Aggregates of [from, to] only: every table then speaks of the range, whose ends need not be
 * stops, and timeline_now_ns() is its end. Of what is before the first stop nothing can be left
 * out: a range that begins there begins at timeline_begin_ns(). Seeking leaves it again, and so
 * does from == to.
 */
int timeline_range(struct timeline *t, uint64_t from_ns, uint64_t to_ns, struct error *err);

#endif
