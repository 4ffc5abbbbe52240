/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HISTORY_H
#define KONTEND_HISTORY_H

#include "kontend/engine.h"

/*
 * The last minutes of a live session, to travel back over while it is paused. A source around
 * another one: records pass through at once, and a compressed copy of each is kept. How to use it:
 *
 *   live     the engine has the history as its source; after each ENGINE_TICK: history_note().
 *   pause    history_freeze(). The engine is at a tick of its own and is not pumped any more.
 *            Whenever source_fd() is readable: history_collect(), so that nothing is lost.
 *   travel   history_travel(), then timeline_new() on the same engine, with tick_ns 0, and
 *            whatever a timeline can do. It plays the whole window once, so do it when it is asked
 *            for. When it fails, so does the travel: history_thaw() still brings the engine back.
 *   resume   timeline_free(), then history_thaw(): the engine is where it was at the pause. Pumped,
 *            it catches up from what was collected, and then is live again.
 *
 * Records of tasks and contention that come while more than the bound is collected in a pause are
 * lost: when the engine has caught up a RECORD_DROP says how many.
 */
struct history_options {
	size_t bytes;	    /* limit after compression; a pause may add as much; 0: 8 MiB */
	size_t model_bytes; /* for packed copies of the model, at least two; 0: 32 MiB */
	uint64_t span_ns;   /* limit of the time that is kept; 0: 10 minutes */
};

struct history_stat {
	uint64_t begin_ns; /* the earliest tick to go to; 0: none */
	size_t bytes;	   /* of records, compressed */
	size_t model_bytes;
	uint64_t raw_bytes;    /* of the same records before compression */
	uint64_t lost_records; /* perf records lost in all pauses */
};

/* Takes over @inner, unless it fails. */
int history_new(struct source **ret, struct source *inner, const struct history_options *o,
		struct error *err);
void history_stat(struct source *s, struct history_stat *ret);

/* To be called at each tick: the window may begin there. Without memory it does not. */
void history_note(struct source *s, const struct engine *e);

/*
 * Positive answer of history_travel(): there is no window, as there was no tick yet or no memory.
 */
enum { HISTORY_EMPTY = 1 };

/* Pumps the engine to the end of the records so far, and to a tick there. 0 or negative. */
int history_freeze(struct source *s, struct engine *e, struct error *err);
/* Takes a limited number of records into the log. 0, SOURCE_IDLE, SOURCE_END or negative. */
int history_collect(struct source *s, struct error *err);
/* Moves the engine to the beginning of the window. */
int history_travel(struct source *s, struct engine *e, struct error *err);
int history_thaw(struct source *s, struct engine *e, struct error *err);

#endif
