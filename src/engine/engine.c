// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pipe in one object: takes records from the source and passes each to the part that handles
 * it. Records of perf rings wait in `order` until a round or a tick says that no earlier record can
 * come. Then they are decoded, merged and applied. All other records act at once, in the order of
 * the stream. The same code serves a live session, a recording and the stream of a test.
 *
 * Going back: at a tick exactly the events up to its time are applied, while the merge may hold
 * records with later events. So the source goes back to the earliest record that is still held, or
 * before it. Until the tick comes again, records of rings go into the merge, and all others are
 * skipped. Then the merge is drained up to the tick without applying anything, and the state is as
 * it was.
 */
#include "engine-int.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Limits of records and bytes for one call, so that the caller gets its turn. */
enum { PUMP_RECORDS = 256, PUMP_BYTES = 4 << 20, PUMP_EVENTS = 16384 };

static void free_parts(struct engine *e)
{
	eventlist_deinit(&e->events);
	decode_deinit(&e->decode);
	engine_unwind_free(e->unwind);
	engine_tracing_free(e->tracing);
	if (e->model)
		model_deinit(e->model);
	mem_free(e->model);
	sym_deinit(&e->sym);
}

const struct ksym *engine_ksym(const struct engine *e, uint64_t frame)
{
	const struct ksyms *k = &e->model->profile->ksyms;
	const struct ksym *s = ksyms_get(k, frame);
	const struct sym_entry *near = s ? sym_find(&e->sym, ksyms_address(k, frame)) : NULL;

	if (!near || map_kernel_frame(near->addr) <= s->start)
		return s;
	/* Code of that kind which kallsyms has may be of another time. */
	const char *module = e->sym.text + near->module;
	bool is_made = !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
	return near->module && is_made ? s : NULL;
}

int engine_init(struct engine *e, struct source *source, const struct model_limits *limits,
		struct error *err)
{
	*e = (struct engine){.held.next_ns = UINT64_MAX};
	int r = decode_init(&e->decode, err);

	if (r)
		return r;
	sym_init(&e->sym);
	e->model = mem_calloc(1, sizeof(*e->model));
	e->tracing = engine_tracing_new(&e->sym);
	if (!e->model || model_init(e->model, limits) || !e->tracing) {
		free_parts(e);
		return error_enomem(err, "the model");
	}
	r = engine_unwind_new(&e->unwind, e);
	if (r) {
		free_parts(e);
		return error_enomem(err, "the unwinder");
	}
	e->model->tracing = engine_tracing_model(e->tracing);
	e->model->profile->unwinder = engine_unwind_profile(e->unwind);
	order_init(&e->order, &e->decode, source);
	e->source = source;
	return 0;
}

void engine_choose_events(struct engine *e, const char *pattern, bool any)
{
	e->events_asked = pattern;
	e->decode.asked = any ? "all" : pattern;
}

/* The records that the thread has ready are applied: the engine continues without the thread. */
static void end_ahead(struct engine *e)
{
	ahead_free(e->ahead);
	e->ahead = NULL;
}

void engine_release(struct engine *e, struct record *r)
{
	if (e->ahead)
		ahead_release(e->ahead, r);
	else
		source_release(e->source, r);
}

void engine_deinit(struct engine *e)
{
	end_ahead(e);
	order_deinit(&e->order);
	engine_snapshots_deinit(e);
	free_parts(e);
	source_free(e->source);
	notes_deinit(&e->notes);
	*e = (struct engine){0};
}

/* For a complete range, no snapshot after its end is applied. */
static void snapshots_until(struct engine *e, uint64_t time_ns)
{
	if (engine_range_is_done(e) && time_ns > e->range->to_ns)
		time_ns = e->range->to_ns;
	engine_snapshots_until(e, time_ns, true);
}

static int apply_event(struct engine *e, const struct event *ev, struct error *err)
{
	/* A range counts from the beginning, which such an event does not decide. */
	bool passes = e->model->start_ns || !event_may_be_of_before(ev);
	int r = passes && engine_is_cut(e) ? engine_range_pass(e, ev->time, err) : 0;

	if (e->merged.last_time > e->held.next_ns)
		snapshots_until(e, e->merged.last_time - 1);
	if (r || engine_range_is_done(e))
		return r;
	if (model_apply(e->model, ev))
		e->model->damage->dropped++;
	if (e->range && ev->time < e->range->from_ns)
		return 0;
	for (struct engine_watch *w = e->watch; w && !r; w = w->next)
		r = w->event(w, ev, err);
	return r;
}

static void report_passed(struct engine *e, uint64_t time_ns)
{
	if (e->range && time_ns < e->range->from_ns)
		return;
	for (struct engine_watch *w = e->watch; w; w = w->next)
		if (w->passed)
			w->passed(w, time_ns);
}

/* To be called when all events up to @until are applied. */
static void drained(struct engine *e, uint64_t until)
{
	snapshots_until(e, until);
	e->model->damage->late = e->merged.n_late;
	e->model->damage->bad = engine_bad(e);
}

/* Applies all events that may leave the merge. */
static int drain_merge(struct engine *e, uint64_t until, struct error *err)
{
	const struct event *ev;
	int r = 0;

	order_flush(&e->order, until);
	while (!r && !order_pop(&e->order, &ev)) {
		e->merged.last_time = e->order.last_time;
		e->merged.n_late = e->order.n_late;
		e->merged.n_bad = e->decode.n_bad;
		r = apply_event(e, ev, err);
	}
	return r;
}

/* Called before the tick is given back, so that it comes again after a seek. */
static void note_place(struct engine *e, uint64_t time_ns)
{
	if (!source_can_seek(e->source))
		return;
	e->place = (struct engine_place){.time_ns = time_ns,
					 .mark = e->ahead ? e->merged.mark : source_mark(e->source),
					 .last_time = e->merged.last_time,
					 .n_late = e->merged.n_late,
					 .n_bad = e->merged.n_bad,
					 .n_skipped = e->merged.n_skipped};
	memcpy(e->place.samples, e->merged.samples, sizeof(e->place.samples));
}

static int wrong_size(const struct record *r, struct error *err)
{
	return error_set(
		err, -EINVAL,
		"The stream has a record of kind %d with %zu bytes, which is the wrong size",
		(int)r->kind, r->len);
}

static int take_round(struct engine *e, uint64_t time, struct error *err)
{
	/* This comes first: a part that ends before @time must be closed before later sums come. */
	int r = engine_is_cut(e) ? engine_range_pass(e, time, err) : 0;

	drained(e, time);
	if (engine_range_is_done(e))
		return r;
	model_settle(e->model, time);
	report_passed(e, time);
	return r;
}

static int take_tick(struct engine *e, uint64_t time, struct error *err)
{
	/* This comes first: a part that ends before @time must be closed before later sums come. */
	int r = engine_is_cut(e) ? engine_range_pass(e, time, err) : 0;

	drained(e, time);
	if (!engine_range_is_done(e)) {
		if (!engine_range_ends(e, time))
			model_tick(e->model, time);
		report_passed(e, time);
	}
	note_place(e, time);
	if (e->range)
		engine_range_tick(e, time);
	if (e->lock_requests)
		engine_ask(e);
	return r ? r : ENGINE_TICK;
}

/* A record whose body is one fixed struct or a u64. It is copied, since it may not be aligned. */
static int take_fixed(struct engine *e, const struct record *r, struct error *err)
{
	union {
		uint64_t time;
		struct record_host host;
		struct record_drop drop;
		struct record_fill fill;
		struct record_cpu cpu;
	} u;
	static const size_t sizes[] = {
		[RECORD_HOST] = sizeof(u.host), [RECORD_ROUND] = sizeof(u.time),
		[RECORD_TICK] = sizeof(u.time), [RECORD_DROP] = sizeof(u.drop),
		[RECORD_FILL] = sizeof(u.fill), [RECORD_CPU] = sizeof(u.cpu),
		[RECORD_START] = sizeof(u.time)};

	if ((size_t)r->kind >= sizeof(sizes) / sizeof(*sizes) || r->len != sizes[r->kind])
		return wrong_size(r, err);
	memcpy(&u, r->data, r->len);
	switch (r->kind) {
	case RECORD_HOST:
		model_host(e->model, &u.host);
		return 0;
	case RECORD_START:
		model_start(e->model, u.time);
		return 0;
	case RECORD_ROUND:
		return take_round(e, u.time, err);
	case RECORD_TICK:
		return take_tick(e, u.time, err);
	case RECORD_DROP:
		model_drop(e->model, &u.drop);
		return 0;
	case RECORD_FILL:
		model_fill(e->model, r->ring, &u.fill);
		return 0;
	default:
		model_cpu_state(e->model, &u.cpu);
		return 0;
	}
}

static int into_merge(struct engine *e, const struct record *r, bool *ret_kept, struct error *err)
{
	int code = merge_take(&e->decode, &e->order, r, err);

	*ret_kept = code > 0;
	return code < 0 ? code : 0;
}

static int hold_snapshot(struct engine *e, const struct record *r, bool *ret_kept,
			 struct error *err)
{
	if (engine_range_is_done(e)) {
		engine_range_rest(e, r);
		return 0;
	}
	if (engine_hold_snapshot(e, r))
		return error_enomem(err, "a snapshot of %zu bytes", r->len);
	*ret_kept = true;
	return 0;
}

/* On the way back: only the tick at the end of it acts. */
static int pass_over(struct engine *e, const struct record *r, bool *ret_kept, struct error *err)
{
	const struct event *ev;
	uint64_t time;

	if (r->kind == RECORD_PERF)
		return into_merge(e, r, ret_kept, err);
	if (r->kind == RECORD_SNAPSHOT)
		return hold_snapshot(e, r, ret_kept, err);
	if (r->kind != RECORD_TICK || r->len != sizeof(time))
		return 0;
	memcpy(&time, r->data, sizeof(time));
	if (time < e->place.time_ns)
		return 0;
	if (time > e->place.time_ns)
		return error_set(err, -EINVAL,
				 "Cannot go back in time: the source has no tick at %" PRIu64
				 " ns any "
				 "more, the next one is at %" PRIu64,
				 e->place.time_ns, time);
	order_flush(&e->order, time);
	while (!order_pop(&e->order, &ev))
		;
	engine_snapshots_until(e, time, false);
	e->order.last_time = e->place.last_time;
	e->order.n_late = e->place.n_late;
	e->decode.n_bad = e->place.n_bad;
	e->decode.n_skipped = e->place.n_skipped;
	memcpy(e->decode.samples, e->place.samples, sizeof(e->place.samples));
	e->rewinding = false;
	return ENGINE_TICK;
}

/* An event of perf, or the format of a tracepoint. */
static int list_event(struct engine *e, const struct record *r, struct error *err)
{
	e->model->no_ends = e->merged.no_ends;
	e->model->no_locks = e->merged.no_locks;
	int code = r->kind == RECORD_ATTR ? eventlist_add(&e->events, r->data, r->len)
					  : eventlist_take_format(&e->events, r->data, r->len);
	return code < 0 ? error_enomem(err, "the list of events") : 0;
}

/* Handles a record without events, after the merge has seen it. 0, ENGINE_TICK or an error. */
static int act_on(struct engine *e, const struct record *r, bool *ret_kept, struct error *err)
{
	switch (r->kind) {
	case RECORD_ATTR:
	case RECORD_FORMAT:
		return list_event(e, r, err);
	case RECORD_KALLSYMS:
		e->model->generation++;
		return (r->lasts ? sym_load_persistent : sym_load)(&e->sym, r->data, r->len, err);
	case RECORD_SNAPSHOT:
		if (decode_take_names(&e->events, r->data, r->len) < 0)
			return error_set(err, -ENOMEM, "No memory for names of events");
		return hold_snapshot(e, r, ret_kept, err);
	case RECORD_NOTE:
		return notes_take(&e->notes, r) ? error_enomem(err, "a note") : 0;
	default:
		return take_fixed(e, r, err);
	}
}

/* Handles any record. *ret_kept: the merge or the list of snapshots has it now. */
static int take_record(struct engine *e, const struct record *r, bool *ret_kept, struct error *err)
{
	uint64_t until;
	int code;

	*ret_kept = false;
	if (e->rewinding)
		return pass_over(e, r, ret_kept, err);
	if (engine_range_is_done(e))
		return r->kind == RECORD_SNAPSHOT ? hold_snapshot(e, r, ret_kept, err) : 0;
	code = into_merge(e, r, ret_kept, err);
	if (code || *ret_kept)
		return code;
	if (merge_until(r, &until))
		code = drain_merge(e, until, err);
	merge_look(&e->decode, &e->order, &e->merged);
	return code ? code : act_on(e, r, ret_kept, err);
}

/* @passed: on the way back, or after a range: nothing more is applied or counted. */
static int at_end(struct engine *e, bool passed, struct error *err)
{
	if (passed) {
		engine_range_end(e);
		return ENGINE_END;
	}
	int r = drain_merge(e, UINT64_MAX, err);
	merge_look(&e->decode, &e->order, &e->merged);
	drained(e, UINT64_MAX);
	if (!engine_range_is_done(e))
		model_end(e->model);
	engine_range_end(e);
	report_passed(e, e->model->now_ns);
	if (!r && engine_note_formats(e))
		r = error_enomem(err, "a note");
	return r ? r : ENGINE_END;
}

static int apply_run(struct engine *e, const struct ahead_item *run, struct error *err)
{
	int r = 0;

	e->merged = run->merged;
	for (size_t i = 0; i < run->n && !r; i++) {
		model_expect(e->model, run->events, i, run->n);
		e->merged.last_time = run->last_times[i];
		r = apply_event(e, &run->events[i], err);
	}
	return r;
}

/* Applies events up to a record, and the record. 0, ENGINE_TICK, ENGINE_END or an error. */
static int take_ahead(struct engine *e, size_t *events, size_t *bytes, struct error *err)
{
	bool was_done = engine_range_is_done(e), kept = false;
	struct ahead_item it;
	int r = 0;

	for (ahead_next(e->ahead, &it, err); it.n; ahead_next(e->ahead, &it, err)) {
		*events += it.n;
		if (!was_done)
			r = apply_run(e, &it, err);
		if (r)
			return r;
	}
	if (it.end)
		end_ahead(e);
	if (it.end)
		return it.end == SOURCE_END ? at_end(e, was_done, err) : it.end;
	if (was_done)
		return it.record->kind == RECORD_SNAPSHOT ? hold_snapshot(e, it.record, &kept, err)
							  : 0;
	e->merged = it.merged;
	*bytes += it.record->len;
	r = act_on(e, it.record, &kept, err);
	if (kept)
		ahead_keep(e->ahead);
	return r;
}

static int pump_ahead(struct engine *e, struct error *err)
{
	size_t events = 0, bytes = 0;
	int r = 0;

	e->changes++;
	for (unsigned n = 0; !r && n < PUMP_RECORDS && events < PUMP_EVENTS && bytes < PUMP_BYTES;
	     n++)
		r = take_ahead(e, &events, &bytes, err);
	return r;
}

int engine_read_ahead(struct engine *e)
{
	if (e->ahead || !source_can_seek(e->source))
		return -EINVAL;
	e->ahead = ahead_new(e->source, &e->decode, &e->order);
	return e->ahead ? 0 : -ENOMEM;
}

int engine_pump(struct engine *e, int timeout_ms, struct error *err)
{
	size_t bytes = 0;

	if (e->ahead)
		return pump_ahead(e, err);
	for (unsigned n = 0; n < PUMP_RECORDS && bytes < PUMP_BYTES; n++) {
		struct record rec;
		bool kept;
		int r = source_next(e->source, n ? 0 : timeout_ms, &rec, err);

		if (r == SOURCE_IDLE)
			return n ? 0 : ENGINE_IDLE;
		e->changes++;
		if (r == SOURCE_END)
			return at_end(e, e->rewinding || engine_range_is_done(e), err);
		if (r < 0)
			return r;
		bytes += rec.len;
		r = take_record(e, &rec, &kept, err);
		if (!kept)
			source_release(e->source, &rec);
		if (r)
			return r;
	}
	return 0;
}

int engine_rewind(struct engine *e, struct model *model, const struct engine_place *place,
		  struct error *err)
{
	uint64_t generation = e->model->generation;
	int r;

	end_ahead(e);
	order_deinit(&e->order);
	engine_snapshots_deinit(e);
	order_init(&e->order, &e->decode, e->source);
	e->place = *place;
	r = source_seek(e->source, place->mark, err);
	if (r)
		return r;
	e->rewinding = true;
	while (!(r = engine_pump(e, 0, err)))
		;
	e->rewinding = false;
	if (r < 0)
		return r;
	if (r != ENGINE_TICK)
		return error_set(err, -EINVAL,
				 "Cannot go back in time: the source did not come back to the tick "
				 "at %" PRIu64 " ns",
				 place->time_ns);
	model_deinit(e->model);
	*e->model = *model;
	e->model->generation = generation + 1;
	return 0;
}
