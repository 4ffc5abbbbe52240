/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TIMELINE_H
#define KONTEND_TIMELINE_H

#include "kontend/engine.h"

/*
 * An engine that can go to any moment of its stream. It plays the stream once from begin to end
 * (the first pass, in steps: the part that was read is open to travel before the pass ends).
 * Meanwhile it notes the wait of each bucket for the ribbon, and keeps packed copies of the model
 * (checkpoints) at ticks. Their memory is limited; they are spread evenly by the work between them,
 * and the one that saves least work is dropped when the limit is reached. Going to a time restores
 * the last checkpoint before it, seeks the source to its place and plays on; events up to the time
 * of the checkpoint are skipped. The source must be able to seek: a recording, or the history of a
 * live session.
 *
 * Stops are ticks, the end of the stream if events follow the last tick, and the end of a range.
 * All that precedes the first stop belongs to it. Bucket i ends at stop i.
 */
struct timeline;

/* Figures of a bucket besides its waits: the state at its end. 0: none, or unknown. */
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

/* Fills in the figures. Called once for each stop, during the first pass. */
struct timeline_watch {
	int (*note)(struct timeline_watch *w, const struct engine *e,
		    uint64_t figures[TIMELINE_FIGURES]); /* 0 or -ENOMEM */
};

struct timeline_options {
	/*
	 * Length of a bucket. 0: so that the stream has some hundreds of buckets of at least 10 ms;
	 * if its source_span() is unknown, the ticks of the stream.
	 */
	uint64_t tick_ns;
	size_t checkpoint_bytes;      /* 0: 48 MiB */
	uint64_t checkpoint_events;   /* least number of events between two of them; 0: 100,000 */
	struct timeline_watch *watch; /* borrowed; NULL: no figures */
	bool ahead;		      /* use engine_read_ahead() for the first pass, if possible */
};

/*
 * Begins the first pass: reads up to the first stop. The engine is borrowed. It must not have been
 * pumped, unless it is at a tick after it was rewound. From now on only the timeline moves it.
 * -ESPIPE: the source cannot seek.
 */
int timeline_open(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		  struct error *err);
/*
 * Continues the first pass by a limited amount of work. The caller may have gone elsewhere in the
 * part that was read. Afterwards the engine is at the last stop, or between it and the next one.
 * Does nothing after the end of the pass.
 */
int timeline_read(struct timeline *t, struct error *err);
bool timeline_is_read(const struct timeline *t);
/* The part of the stream that was read; 0: not known yet. */
unsigned timeline_per_mille(const struct timeline *t);
/* Makes the whole first pass; then the engine is at the end. */
int timeline_new(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		 struct error *err);
void timeline_free(struct timeline *t);

uint64_t timeline_begin_ns(const struct timeline *t);
uint64_t timeline_end_ns(const struct timeline *t); /* end of the part that was read */
/* End of the stream as far as is known: not before timeline_end_ns(). */
uint64_t timeline_whole_ns(const struct timeline *t);
uint64_t timeline_now_ns(const struct timeline *t);
uint64_t timeline_tick_ns(const struct timeline *t);
const struct timeline_bucket *timeline_buckets(const struct timeline *t, size_t *ret_n);

/*
 * Goes to the last tick at or before @time_ns, which is clamped to the stream. After a failure the
 * engine is somewhere on the way, and the caller may try any of these functions again.
 */
int timeline_seek(struct timeline *t, uint64_t time_ns, struct error *err);
/*
 * Shows sums of [from, to] only: all tables are of that range, whose ends need not be stops, and
 * timeline_now_ns() is its end. Events before the first stop cannot be separated: a range that
 * begins before it begins at timeline_begin_ns(). Seeking, or from == to, ends the range.
 */
int timeline_range(struct timeline *t, uint64_t from_ns, uint64_t to_ns, struct error *err);

#endif
