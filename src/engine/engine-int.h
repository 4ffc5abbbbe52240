/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_INT_H
#define KONTEND_SRC_ENGINE_ENGINE_INT_H

#include "kontend/engine.h"

/* engine.c: gives back a record that was kept. */
void engine_release(struct engine *e, struct record *r);

/* engine-snapshot.c */
/* Takes over a RECORD_SNAPSHOT. 0 or -ENOMEM (then the record is still the caller's). */
int engine_hold_snapshot(struct engine *e, const struct record *r);
/* Those taken up to @time_ns act, or are only given back. */
void engine_snapshots_until(struct engine *e, uint64_t time_ns, bool act);
/* The sums of short waits up to then, from those before and after it, if both have come. */
void engine_sums_at(struct engine *e, uint64_t time_ns);
void engine_snapshots_deinit(struct engine *e); /* gives all back */

/* engine-ask.c */
/* Fills in e->lock_requests from what the model has. */
void engine_ask(struct engine *e);

/* --- merge.c --- */

/*
 * Gives a record to decoder and merge, before the model gets it. Positive: the merge holds it now;
 * 0: it is the caller's; a negative errno.
 */
int merge_take(struct decode *d, struct order *o, const struct record *r, struct error *err);
/* Is it a round or a tick? Then *ret is up to when events may leave the merge. */
bool merge_until(const struct record *r, uint64_t *ret);
/* How far the merge is; without the source's mark. */
void merge_look(const struct decode *d, const struct order *o, struct engine_merged *ret);

/* --- ahead.c --- */

/*
 * A thread that takes records from a source, decodes and merges them, and hands out what the model
 * is to get, in that order: events by time, and between them the records that are no events.
 */
struct ahead;

/* Runs of events, a record, or, without either, the end. Valid until the next call. */
struct ahead_item {
	const struct event *events;
	const uint64_t *last_times; /* of order, when it had handed each out */
	size_t n;
	struct record *record;
	struct engine_merged merged; /* at the record, or at each of the events */
	int end;		     /* SOURCE_END, or a negative errno */
};

/* Borrows all three, which are the thread's until ahead_free(). NULL: no memory, or no thread. */
struct ahead *ahead_new(struct source *s, struct decode *d, struct order *o);
/* Ends the thread. Events that it has not handed out are lost, but records are given back. */
void ahead_free(struct ahead *a);

/* Waits for the next one. */
void ahead_next(struct ahead *a, struct ahead_item *ret, struct error *err);
/* The record handed out last stays with the caller until it is released. */
void ahead_keep(struct ahead *a);
void ahead_release(struct ahead *a, const struct record *r);

/* --- engine-range.c --- */

/*
 * Before an event, a round or a tick of @time is applied: passes the ends of the range, and of
 * slices, that lie before it.
 */
int engine_range_pass(struct engine *e, uint64_t time, struct error *err);
/*
 * Sets the range @r, whose ends are filled in. A tick at @at_ns, which is not after its begin, has
 * been applied; 0 as @r->from_ns: the range has all up to its end. The caller takes it out of the
 * engine.
 */
void engine_range_set(struct engine *e, struct engine_range *r, uint64_t at_ns);
/* At a tick, before its bucket is closed: true if the range ends there, and has closed it. */
bool engine_range_ends(struct engine *e, uint64_t time);
/* Right after a tick: the range may begin there. */
void engine_range_tick(struct engine *e, uint64_t time);
/* A snapshot that comes when no event is taken any more: it may complete the range. */
void engine_range_rest(struct engine *e, const struct record *r);
/* The stream has ended, and nothing more completes the range. Without one nothing is done. */
void engine_range_end(struct engine *e);

static inline bool engine_is_cut(const struct engine *e)
{
	return e->range || e->slices;
}

static inline bool engine_range_is_behind(const struct engine *e)
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

/* Unwinds the dumps in samples of the profile; nothing is opened before the first of them. */
struct engine_unwind;

/* @e: whose model it works for, and which it must not outlive. 0 or -ENOMEM. */
int engine_unwind_new(struct engine_unwind **ret, struct engine *e);
struct profile_unwinder *engine_unwind_profile(struct engine_unwind *u);
void engine_unwind_free(struct engine_unwind *u); /* NULL is fine */

#endif
