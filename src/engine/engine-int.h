/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_INT_H
#define KONTEND_SRC_ENGINE_ENGINE_INT_H

#include "kontend/engine.h"

/* engine.c: gives back a record that was kept. */
void engine_release(struct engine *e, struct record *r);

/* Records that could not be read, by the source or by the decoder. */
static inline uint64_t engine_bad(const struct engine *e)
{
	return e->merged.n_bad + e->notes.bad;
}

/* engine-formats.c: at the end of the stream, a note for each event that cannot be decoded. 0 or
 * -ENOMEM. */
int engine_note_formats(struct engine *e);

/* engine-snapshot.c */
/* Takes over a RECORD_SNAPSHOT. 0 or -ENOMEM (then the record is still the caller's). */
int engine_hold_snapshot(struct engine *e, const struct record *r);
/* Applies the snapshots up to @time_ns, or only gives them back (@act false). */
void engine_snapshots_until(struct engine *e, uint64_t time_ns, bool act);
/*
 * Estimates the sums of short waits at @time_ns from those before and after it, if there are both.
 */
void engine_sums_at(struct engine *e, uint64_t time_ns);
void engine_snapshots_deinit(struct engine *e); /* gives all back */

/* engine-ask.c */
/* Fills in e->lock_requests from the model. */
void engine_ask(struct engine *e);

/* --- merge.c --- */

/*
 * Gives a record to decoder and merge, before the model gets it. Positive: the merge holds it now;
 * 0: the caller still has it; or a negative errno.
 */
int merge_take(struct decode *d, struct order *o, const struct record *r, struct error *err);
/* True for a round or a tick; *ret: the time up to which events may leave the merge. */
bool merge_until(const struct record *r, uint64_t *ret);
/* Copies the counts of the merge, without the mark of the source. */
void merge_look(const struct decode *d, const struct order *o, struct engine_merged *ret);

/* --- ahead.c --- */

/*
 * A thread that takes records from a source, decodes and merges them, and hands out what the model
 * gets, in that order: events by time, and between them the records that are no events.
 */
struct ahead;

/* A run of events; else a record; else the end. Valid until the next call. */
struct ahead_item {
	const struct event *events;
	const uint64_t *last_times; /* last_time of the merge after each event */
	size_t n;
	struct record *record;
	struct engine_merged merged; /* at the record, or at each of the events */
	int end;		     /* SOURCE_END, or a negative errno */
};

/* Borrows all three: the thread uses them until ahead_free(). NULL: no memory, or no thread. */
struct ahead *ahead_new(struct source *s, struct decode *d, struct order *o);
/* Ends the thread. Events that it has not handed out are lost; records are given back. */
void ahead_free(struct ahead *a);

/* Waits for the next item. */
void ahead_next(struct ahead *a, struct ahead_item *ret, struct error *err);
/* The caller keeps the record handed out last, until ahead_release(). */
void ahead_keep(struct ahead *a);
void ahead_release(struct ahead *a, const struct record *r);

/* --- engine-range.c --- */

/*
 * To be called before an event, a round or a tick of @time is applied: acts on ends of the range,
 * and of slices, that lie before it.
 */
int engine_range_pass(struct engine *e, uint64_t time, struct error *err);
/*
 * Sets the range @r, whose ends are filled in. A tick at @at_ns, which is not after its begin, has
 * been applied; 0 as @r->from_ns: the range has all up to its end. The caller takes it out of the
 * engine.
 */
void engine_range_set(struct engine *e, struct engine_range *r, uint64_t at_ns);
/*
 * At a tick, before its bucket is closed. True if the range ends there: then it has closed the
 * bucket.
 */
bool engine_range_ends(struct engine *e, uint64_t time);
/* Right after a tick: the range may begin there. */
void engine_range_tick(struct engine *e, uint64_t time);
/* Takes a snapshot when no more events are applied: it may complete the range. */
void engine_range_rest(struct engine *e, const struct record *r);
/* At the end of the stream: a range that is not complete ends here. */
void engine_range_end(struct engine *e);

static inline bool engine_is_cut(const struct engine *e)
{
	return e->range || e->slices;
}

static inline bool engine_range_is_done(const struct engine *e)
{
	return e->range && e->range->state >= ENGINE_RANGE_ENDING;
}

/* --- engine-tracing.c --- */

struct engine_tracing;
struct sym;

/* @sym must outlive it, and may be loaded again. NULL: no memory. */
struct engine_tracing *engine_tracing_new(const struct sym *sym);
struct model_tracing *engine_tracing_model(struct engine_tracing *t);
void engine_tracing_free(struct engine_tracing *t);

/* --- engine-unwind.c --- */

/* Unwinds the stack dumps of samples. Opens no files before the first of them. */
struct engine_unwind;

/* @e: the engine whose model it works for; it must live longer. 0 or -ENOMEM. */
int engine_unwind_new(struct engine_unwind **ret, struct engine *e);
struct profile_unwinder *engine_unwind_profile(struct engine_unwind *u);
void engine_unwind_free(struct engine_unwind *u); /* NULL is fine */

#endif
