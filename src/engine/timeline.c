// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time travel over a stream that can be read again. The state at a tick depends on the stream
 * alone. So it is enough to keep some of the states (timeline-point.c) and to play on from the last
 * one before the goal. If the engine is already between that state and the goal, it just plays on.
 * Places are counted in stops (ticks), not in time: two ticks may have the same time.
 *
 * A range shows the sums that a user would see after going to its beginning, clearing the sums
 * there and watching until its end, both exact to the nanosecond. Waits in flight at its beginning
 * count if they end in it. Leaving the range restores a kept state, as the engine has cleared its
 * earlier sums.
 */
#include "engine-int.h"
#include "kontend/bisect.h"
#include "kontend/ending.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/shorts.h"
#include "timeline-int.h"
#include <errno.h>

enum { WAIT_MS = 100, MOST_BUCKETS = 500 };

static const uint64_t MIN_TICK_NS = 10000000;

static uint64_t stop_ns(const struct timeline *t, size_t stop)
{
	return stop + 1 < t->n ? t->buckets[stop + 1].start_ns : t->end_ns;
}

/*
 * The length of a bucket: 1, 2 or 5 times a power of ten, so that there are at most MOST_BUCKETS.
 */
static uint64_t tick_for(uint64_t span_ns)
{
	static const unsigned steps[] = {1, 2, 5};

	for (uint64_t unit = MIN_TICK_NS; unit < UINT64_MAX / 10; unit *= 10)
		for (unsigned i = 0; i < 3; i++)
			if (span_ns / (unit * steps[i]) < MOST_BUCKETS)
				return unit * steps[i];
	return UINT64_MAX / 10;
}

static void set_tick(struct timeline *t)
{
	uint64_t first, last;

	t->tick_ns = t->options.tick_ns;
	if (!t->tick_ns && source_span(t->engine->source, &first, &last) && last > first)
		t->tick_ns = tick_for(last - first);
	if (t->tick_ns)
		source_set_tick(t->engine->source, t->tick_ns);
}

/* The part of the stream that was read, as the source reports it. */
static void note_done(struct timeline *t)
{
	uint64_t done, all;

	if (source_progress(t->engine->source, &done, &all) && all)
		t->per_mille = done < all ? (unsigned)((double)done * 1000 / (double)all) : 1000;
}

static int add_bucket(struct timeline *t, struct timeline_bucket *b, uint64_t end_ns,
		      struct error *err)
{
	struct timeline_watch *w = t->options.watch;

	if ((w && w->note(w, t->engine, b->figures)) ||
	    mem_grow(&t->buckets, &t->cap, t->n, sizeof(*t->buckets)))
		return error_enomem(err, "the timeline");
	t->buckets[t->n++] = *b;
	t->end_ns = end_ns;
	return 0;
}

static int note_tick(struct timeline *t, struct error *err)
{
	const struct model *m = t->engine->model;
	uint64_t time = t->engine->place.time_ns;
	struct timeline_bucket b = {.start_ns = t->n ? t->end_ns : time - m->rate_ns,
				    .contended = m->rate_n};

	for (unsigned i = 0; i < LOCK_TYPES; i++)
		b.wait_ns += m->types[i].rate_wait_ns;
	int r = add_bucket(t, &b, time, err);
	return r ? r : timeline_note_point(t, err);
}

/* Events after the last tick make one more stop. */
static int note_end(struct timeline *t, struct error *err)
{
	const struct model *m = t->engine->model;
	struct timeline_bucket b = {.start_ns = t->n ? t->end_ns : m->start_ns,
				    .contended = m->cur_n};

	if (t->n && m->now_ns <= t->end_ns && m->n_events == t->n_events)
		return 0;
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		b.wait_ns += m->types[i].cur_wait_ns;
	t->has_tail = true;
	return add_bucket(t, &b, m->now_ns, err);
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	timeline_free_points(t);
	engine_pack_deinit(&t->pack);
	mem_free(t->buckets);
	mem_free(t);
}

uint64_t timeline_begin_ns(const struct timeline *t)
{
	return t->buckets[0].start_ns;
}

uint64_t timeline_end_ns(const struct timeline *t)
{
	return t->end_ns;
}

uint64_t timeline_now_ns(const struct timeline *t)
{
	return t->exact_ns ? t->exact_ns : stop_ns(t, t->at);
}

uint64_t timeline_tick_ns(const struct timeline *t)
{
	return t->tick_ns ? t->tick_ns : (t->end_ns - t->buckets[0].start_ns) / t->n;
}

uint64_t timeline_whole_ns(const struct timeline *t)
{
	uint64_t first, last;
	bool is_known = !t->is_read && source_span(t->engine->source, &first, &last);

	return is_known && last > t->end_ns ? last : t->end_ns;
}

const struct timeline_bucket *timeline_buckets(const struct timeline *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->buckets;
}

/* The last stop at or before a time; the first one for earlier times. */
static size_t stop_before(const struct timeline *t, uint64_t time_ns)
{
	size_t n = t->n > 1 ? BISECT(t->buckets + 1, t->n - 1, start_ns, time_ns) : 0;

	n += n + 1 == t->n && t->end_ns <= time_ns;
	return n ? n - 1 : 0;
}

static int play_to(struct timeline *t, size_t stop, struct error *err)
{
	while (t->at < stop) {
		int r = engine_pump(t->engine, WAIT_MS, err);
		if (r < 0)
			return r;
		if (r == ENGINE_TICK || (r == ENGINE_END && t->has_tail && t->at + 2 == t->n))
			t->at++;
		else if (r == ENGINE_END)
			return error_set(err, -EINVAL,
					 "Cannot go to that time: the input has changed, it "
					 "ends earlier than before");
	}
	return 0;
}

static int restore(struct timeline *t, const struct timeline_point *p, struct error *err)
{
	struct model copy;

	int r = engine_packed_copy(&copy, &p->model, &t->pack);
	if (r)
		return error_errno(err, r, "Cannot go to that time");
	r = engine_rewind(t->engine, &copy, &p->place, err);
	if (r) {
		model_deinit(&copy);
		return r;
	}
	t->at = p->stop;
	return 0;
}

/*
 * Goes to a stop, with all sums up to it. Plays on if there is no kept state between here and
 * there.
 */
static int go_to(struct timeline *t, size_t stop, struct error *err)
{
	const struct timeline_point *p = timeline_point_before(t, stop);
	bool on = t->is_whole && t->at <= stop && (!p || p->stop <= t->at);
	int r = 0;

	if (!on && !p)
		return error_set(err, -EINVAL, "Cannot go back in a stream without ticks");
	t->is_whole = t->is_range = false;
	t->exact_ns = 0;
	if (!on)
		r = restore(t, p, err);
	if (!r)
		r = play_to(t, stop, err);
	t->is_whole = !r;
	return r;
}

/*
 * Reads on after the last known stop. If the caller has gone elsewhere, this goes back there first.
 */
static int take_tick(struct timeline *t, struct error *err)
{
	bool is_there = !t->n || (t->is_whole && t->at + 1 == t->n);
	int r = is_there ? 0 : go_to(t, t->n - 1, err);

	if (!r && t->options.ahead)
		(void)engine_read_ahead(t->engine);
	if (!r)
		r = engine_pump(t->engine, WAIT_MS, err);
	if (r == ENGINE_TICK)
		return note_tick(t, err);
	if (r != ENGINE_END)
		return r < 0 ? r : 0;
	r = note_end(t, err);
	t->is_read = !r;
	return r;
}

int timeline_read(struct timeline *t, struct error *err)
{
	size_t n = t->n;
	int r = t->is_read ? 0 : take_tick(t, err);

	if (t->n > n) {
		t->at = t->n - 1;
		t->exact_ns = 0;
	}
	t->is_whole = !r;
	note_done(t);
	return r;
}

int timeline_open(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		  struct error *err)
{
	if (!source_can_seek(e->source))
		return error_set(err, -ESPIPE,
				 "Cannot go back in time: the input cannot be read twice; "
				 "record it to a file first");
	struct timeline *t = mem_calloc(1, sizeof(*t));
	if (!t)
		return error_enomem(err, "the timeline");
	t->engine = e;
	if (o)
		t->options = *o;
	set_tick(t);
	int r = engine_pack_init(&t->pack);
	if (r)
		error_enomem(err, "the timeline");
	/* An engine that was rewound is at a tick already. */
	else if (e->place.time_ns)
		r = note_tick(t, err);
	/* A recording without a tick is read to its end here. */
	while (!r && !t->n)
		r = ending_is_pending() ? -EINTR : timeline_read(t, err);
	if (r) {
		timeline_free(t);
		return r;
	}
	t->is_whole = true;
	*ret = t;
	return 0;
}

int timeline_new(struct timeline **ret, struct engine *e, const struct timeline_options *o,
		 struct error *err)
{
	struct timeline *t;
	int r = timeline_open(&t, e, o, err);

	if (r)
		return r;
	while (!r && !t->is_read)
		r = timeline_read(t, err);
	if (r)
		timeline_free(t);
	else
		*ret = t;
	return r;
}

bool timeline_is_read(const struct timeline *t)
{
	return t->is_read;
}

unsigned timeline_per_mille(const struct timeline *t)
{
	return t->is_read ? 1000 : t->per_mille;
}

int timeline_seek(struct timeline *t, uint64_t time_ns, struct error *err)
{
	return go_to(t, stop_before(t, time_ns), err);
}

static bool is_stop(const struct timeline *t, uint64_t time_ns)
{
	return stop_ns(t, stop_before(t, time_ns)) == time_ns;
}

/*
 * For a range whose ends are not both stops, or with sums of short waits: the engine cuts it out,
 * as for a report, and may read beyond its end. So the timeline cannot play on from there.
 */
static int cut_out(struct timeline *t, struct engine_range *range, struct error *err)
{
	struct engine *e = t->engine;
	size_t to = stop_before(t, range->to_ns);
	int r = go_to(t, range->from_ns ? stop_before(t, range->from_ns) : to, err);

	if (r || stop_ns(t, t->at) > range->to_ns)
		return r;
	t->is_whole = false;
	engine_range_set(e, range, stop_ns(t, t->at));
	while (r >= 0 && r != ENGINE_END && range->state != ENGINE_RANGE_DONE)
		r = engine_pump(e, WAIT_MS, err);
	e->range = NULL;
	t->at = to;
	t->exact_ns = range->to_ns;
	return r < 0 ? r : 0;
}

/* For a range whose ends are both stops. */
static int range_of_stops(struct timeline *t, size_t from, size_t to, struct error *err)
{
	/* A range that only grows, for example while it is played, goes on. */
	bool on = t->is_range && t->from == from && t->at <= to;
	int r = on ? 0 : go_to(t, from, err);

	if (r)
		return r;
	if (!on)
		model_range(t->engine->model);
	t->is_whole = false;
	r = play_to(t, to, err);
	t->is_range = !r;
	t->from = from;
	return r;
}

int timeline_range(struct timeline *t, uint64_t from_ns, uint64_t to_ns, struct error *err)
{
	struct engine_range range = {.from_ns = from_ns < to_ns ? from_ns : to_ns,
				     .to_ns = from_ns < to_ns ? to_ns : from_ns};

	if (range.to_ns > t->end_ns)
		range.to_ns = t->end_ns;
	size_t from = stop_before(t, range.from_ns), to = stop_before(t, range.to_ns);
	/* A range that begins before the first stop has all events since the beginning. */
	bool from_start = range.from_ns < stop_ns(t, 0);
	if (from_start)
		range.from_ns = 0;
	if (range.from_ns >= range.to_ns)
		return go_to(t, to, err);
	if (t->engine->model->shorts->known || !is_stop(t, range.to_ns) ||
	    (!from_start && !is_stop(t, range.from_ns)))
		return cut_out(t, &range, err);
	return from_start ? go_to(t, to, err) : range_of_stops(t, from, to, err);
}
