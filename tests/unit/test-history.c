// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live session that is paused, travelled over and resumed, over random streams: passing through
 * changes nothing, every moment of the window is what it was when it was live, and after the pause
 * the session goes on as if there had been none. Then the bounds, and what is lost beyond them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/damage.h"
#include "kontend/history.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/timeline.h"
#include "random.h"

#define MS 1000000ull

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Ends the stream for now after a number of records, as a live one that has nothing more yet. */
struct gate {
	struct source source;
	struct source *inner;
	size_t open;
};

static int gate_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct gate *g = (struct gate *)s;

	if (!g->open)
		return SOURCE_IDLE;
	int r = source_next(g->inner, timeout_ms, ret, err);
	if (!r)
		g->open--;
	return r;
}

static void gate_release(struct source *s, struct record *r)
{
	source_release(((struct gate *)s)->inner, r);
}

static int gate_fd(struct source *s)
{
	(void)s;
	return 77;
}

static void gate_free(struct source *s)
{
	source_free(((struct gate *)s)->inner);
	free(s);
}

static const struct source_ops gate_ops = {
	.next = gate_next, .release = gate_release, .fd = gate_fd, .free = gate_free};

struct session {
	struct rig rig;
	struct gate *gate;
	struct source *history;
	struct engine engine;
	/* Figures at each tick while live. */
	char **states;
	uint64_t *times;
	size_t n;
};

static void begin_session(struct session *s, const struct random_plan *p,
			  const struct history_options *o, size_t open)
{
	struct error err = {0};

	*s = (struct session){0};
	random_stream(&s->rig, p);
	s->gate = calloc(1, sizeof(*s->gate));
	assert_non_null(s->gate);
	*s->gate = (struct gate){{&gate_ops}, synth_source(s->rig.synth), open};
	assert_int_equal(history_new(&s->history, &s->gate->source, o, &err), 0);
	assert_int_equal(engine_init(&s->engine, s->history, NULL, &err), 0);
}

static void end_session(struct session *s)
{
	engine_deinit(&s->engine);
	rig_deinit(&s->rig);
	for (size_t i = 0; i < s->n; i++)
		mem_free(s->states[i]);
	free(s->states);
	free(s->times);
}

static void remember(struct session *s)
{
	s->states = realloc(s->states, (s->n + 1) * sizeof(*s->states));
	s->times = realloc(s->times, (s->n + 1) * sizeof(*s->times));
	assert_non_null(s->states);
	assert_non_null(s->times);
	s->states[s->n] = random_state(s->engine.model);
	s->times[s->n++] = s->engine.place.time_ns;
}

/* Until nothing more comes, as an app does it. */
static int play(struct session *s, bool remembering)
{
	struct error err = {0};
	int r;

	while ((r = engine_pump(&s->engine, 0, &err)) != ENGINE_END && r != ENGINE_IDLE) {
		assert_true(r >= 0);
		if (r != ENGINE_TICK)
			continue;
		history_note(s->history, &s->engine);
		if (remembering)
			remember(s);
	}
	return r;
}

static void assert_state(const struct session *s, const char *state)
{
	char *is = random_state(s->engine.model);

	assert_string_equal(is, state);
	mem_free(is);
}

/* Goes about the window; every state must be what was seen live. Answers how many were compared. */
static size_t travel(struct session *s, unsigned jumps, uint32_t seed)
{
	struct error err = {0};
	struct history_stat stat;
	struct timeline *t;
	size_t n = 0;

	assert_int_equal(history_travel(s->history, &s->engine, &err), 0);
	history_stat(s->history, &stat);
	assert_int_equal(timeline_new(&t, &s->engine, NULL, &err), 0);
	assert_int_equal(timeline_seek(t, 0, &err), 0);
	assert_int_equal(timeline_now_ns(t), stat.begin_ns);
	for (unsigned i = 0; i < jumps; i++) {
		size_t k = rnd(&seed) % s->n;
		/* Of ticks at one time the last one is meant. */
		while (k + 1 < s->n && s->times[k + 1] == s->times[k])
			k++;
		assert_int_equal(timeline_seek(t, s->times[k], &err), 0);
		if (s->times[k] < stat.begin_ns) {
			assert_int_equal(timeline_now_ns(t), stat.begin_ns);
			continue;
		}
		assert_int_equal(timeline_now_ns(t), s->times[k]);
		assert_state(s, s->states[k]);
		n++;
	}
	timeline_free(t);
	return n;
}

static void records_pass_through_as_they_are(void **state)
{
	struct random_plan p = {.events = 20000, .locks = 50, .seed = 4, .has_tail = true};
	struct session s;
	struct rig r;
	struct history_stat stat;

	(void)state;
	begin_session(&s, &p, NULL, SIZE_MAX);
	assert_int_equal(play(&s, false), ENGINE_END);
	random_stream(&r, &p);
	rig_play(&r, NULL);
	char *straight = random_state(r.engine.model);
	assert_state(&s, straight);
	history_stat(s.history, &stat);
	assert_true(stat.raw_bytes > 1000000);
	assert_true(stat.bytes > 0 && stat.bytes < stat.raw_bytes / 2);
	assert_true(stat.begin_ns > 0);
	assert_int_equal(stat.lost_records, 0);
	mem_free(straight);
	rig_deinit(&r);
	end_session(&s);
}

/* One session travels in its pause, the other does not even know of more that came meanwhile. */
static void a_pause_leaves_no_trace(void **state)
{
	struct error err = {0};

	(void)state;
	for (uint32_t seed = 1; seed < 7; seed++) {
		struct random_plan p = {.events = 8000, .locks = 40, .seed = seed};
		size_t cut = 300 + seed * 100;
		struct session s, quiet;
		begin_session(&s, &p, NULL, cut);
		begin_session(&quiet, &p, NULL, cut);
		assert_int_equal(play(&s, true), ENGINE_IDLE);
		assert_int_equal(play(&quiet, false), ENGINE_IDLE);
		assert_int_equal(history_freeze(quiet.history, &quiet.engine, &err), 0);
		assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
		char *paused = random_state(s.engine.model);
		s.gate->open = 200;
		assert_true(travel(&s, 15, seed) > 5);
		assert_int_equal(history_collect(s.history, &err), SOURCE_IDLE);
		assert_true(travel(&s, 15, seed + 50) > 5);
		assert_int_equal(source_fd(s.history), 77);
		assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
		assert_state(&s, paused);
		/* Collected records are available at once. */
		assert_int_equal(source_fd(s.history), -1);
		assert_int_equal(history_thaw(quiet.history, &quiet.engine, &err), 0);
		assert_state(&quiet, paused);
		s.gate->open = quiet.gate->open = SIZE_MAX;
		assert_int_equal(play(&s, true), ENGINE_END);
		assert_int_equal(play(&quiet, false), ENGINE_END);
		char *last = random_state(quiet.engine.model);
		assert_state(&s, last);
		mem_free(last);
		mem_free(paused);
		end_session(&quiet);
		end_session(&s);
	}
}

/* Pauses on pauses, some of them before the one before has been caught up with. */
static void pauses_can_follow_at_once(void **state)
{
	struct random_plan p = {.events = 8000, .locks = 40, .seed = 8, .has_tail = true};
	struct error err = {0};
	struct session s;
	struct rig r;

	(void)state;
	begin_session(&s, &p, NULL, 100);
	for (unsigned i = 0; i < 12; i++) {
		if (i % 3)
			play(&s, true);
		assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
		s.gate->open = 90;
		if (i % 2)
			assert_int_equal(history_collect(s.history, &err), SOURCE_IDLE);
		char *paused = random_state(s.engine.model);
		if (i > 3)
			travel(&s, 3, i);
		assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
		assert_state(&s, paused);
		mem_free(paused);
	}
	s.gate->open = SIZE_MAX;
	assert_int_equal(play(&s, true), ENGINE_END);
	/* More ticks than the stream has, but the same waits. */
	random_stream(&r, &p);
	rig_play(&r, NULL);
	for (unsigned t = 0; t < LOCK_TYPES; t++) {
		const struct model_type *a = &r.engine.model->types[t];
		assert_int_equal(s.engine.model->types[t].contended, a->contended);
		assert_int_equal(s.engine.model->types[t].total_ns, a->total_ns);
	}
	rig_deinit(&r);
	end_session(&s);
}

static void zeroed_sums_stay_zeroed(void **state)
{
	struct random_plan p = {.events = 8000, .locks = 40, .seed = 9};
	struct error err = {0};
	struct session s;

	(void)state;
	begin_session(&s, &p, NULL, 400);
	play(&s, true);
	model_zero(s.engine.model);
	assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
	char *paused = random_state(s.engine.model);
	travel(&s, 5, 1);
	assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
	assert_state(&s, paused);
	mem_free(paused);
	end_session(&s);
}

/* Little room: the window moves along, and is right wherever it begins. */
static void the_window_keeps_to_its_bound(void **state)
{
	struct random_plan p = {.events = 150000, .locks = 30, .seed = 10, .rarity = 3000};
	struct history_options o = {.bytes = 1 << 20, .model_bytes = 2 << 20};
	struct error err = {0};
	struct history_stat stat;
	struct session s;

	(void)state;
	begin_session(&s, &p, &o, 0);
	uint64_t begin = 0;
	unsigned moved = 0;
	for (unsigned i = 0; i < 100; i++) {
		s.gate->open = 50;
		play(&s, i > 20);
		history_stat(s.history, &stat);
		assert_true(stat.bytes <= o.bytes + 65536);
		assert_true(stat.model_bytes <= o.model_bytes ||
			    stat.model_bytes <= 2 * model_bytes(s.engine.model));
		assert_true(stat.begin_ns >= begin);
		moved += stat.begin_ns > begin;
		begin = stat.begin_ns;
	}
	assert_true(moved >= 3);
	assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
	assert_true(travel(&s, 10, 1) > 2);
	assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
	end_session(&s);
}

static void old_records_go_with_time_too(void **state)
{
	struct history_options o = {.span_ns = 1000 * MS};
	struct random_plan p = {.events = 30000, .locks = 30, .seed = 11};
	struct history_stat stat;
	struct session s;

	(void)state;
	begin_session(&s, &p, &o, SIZE_MAX);
	play(&s, false);
	history_stat(s.history, &stat);
	uint64_t span = s.engine.place.time_ns - stat.begin_ns;
	/* Ticks are up to 300 ms apart, and bases an eighth of the span. */
	assert_true(span >= 900 * MS && span < 1900 * MS);
	end_session(&s);
}

/* A pause in which more comes than is kept: counted to the last record. */
static void what_a_pause_loses_is_counted(void **state)
{
	struct history_options o = {.bytes = 400000};
	struct error err = {0};
	struct session s;
	struct rig r;
	uint64_t t = 10 * MS;
	int a;

	(void)state;
	rig_init(&r, 1);
	for (unsigned i = 0; i < 60000; i++) {
		t += 1000 + i * 7919 % 1000;
		synth_begin(r.synth, 0, t, 1, 1 + (int)(i * 31 % 5000), 0x1000 + i * 8, LCB_F_MUTEX,
			    NULL, 0);
		if (i % 100 == 99)
			synth_tick(r.synth, t);
	}
	s = (struct session){.rig = r};
	s.gate = calloc(1, sizeof(*s.gate));
	assert_non_null(s.gate);
	*s.gate = (struct gate){{&gate_ops}, synth_source(r.synth), 200};
	assert_int_equal(history_new(&s.history, &s.gate->source, &o, &err), 0);
	assert_int_equal(engine_init(&s.engine, s.history, NULL, &err), 0);
	play(&s, false);
	assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
	s.gate->open = 1500;
	while (!(a = history_collect(s.history, &err)))
		;
	assert_int_equal(a, SOURCE_IDLE);
	struct history_stat stat;
	history_stat(s.history, &stat);
	assert_true(stat.lost_records > 1000);
	assert_true(stat.bytes < 2 * o.bytes + 65536);
	assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
	s.gate->open = SIZE_MAX;
	assert_int_equal(play(&s, false), ENGINE_END);
	const struct model *m = s.engine.model;
	assert_int_equal(m->damage->dropped, stat.lost_records);
	assert_int_equal(m->n_events + m->damage->dropped, 60000);
	end_session(&s);
}

static void without_a_tick_there_is_nothing_to_go_to(void **state)
{
	struct random_plan p = {.events = 2000, .locks = 40, .seed = 12};
	struct error err = {0};
	struct session s;

	(void)state;
	begin_session(&s, &p, NULL, 4);
	play(&s, false);
	assert_int_equal(history_travel(s.history, &s.engine, &err), HISTORY_EMPTY);
	assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
	assert_int_equal(history_travel(s.history, &s.engine, &err), HISTORY_EMPTY);
	assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
	s.gate->open = SIZE_MAX;
	assert_int_equal(play(&s, false), ENGINE_END);
	/* The measured command has ended: its last minutes can still be looked at. */
	assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
	assert_int_equal(history_travel(s.history, &s.engine, &err), 0);
	assert_int_equal(history_collect(s.history, &err), SOURCE_END);
	assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
	assert_int_equal(play(&s, false), ENGINE_END);
	end_session(&s);
}

/* They come before there is anything to go back to, and are large. */
static void symbols_are_not_kept(void **state)
{
	struct random_plan p = {.events = 1000, .locks = 10, .seed = 15};
	struct history_stat stat;
	struct session s;

	(void)state;
	begin_session(&s, &p, NULL, 2);
	assert_int_equal(synth_at(s.rig.synth, 1)->kind, RECORD_KALLSYMS);
	play(&s, false);
	history_stat(s.history, &stat);
	assert_int_equal(stat.raw_bytes, 0);
	assert_int_equal(s.engine.sym.state, SYM_OK);
	end_session(&s);
}

/* Lack of memory: the session continues, and travels or reports that it cannot. */
static void lack_of_memory_is_no_end(void **state)
{
	struct random_plan p = {.events = 3000, .locks = 40, .seed = 14};
	unsigned failed = 0, travelled = 0;

	(void)state;
	for (long k = 0; k < 1500; k += 1 + k / 12) {
		struct error err = {0};
		struct timeline *t = NULL;
		struct session s;
		long live = mem_live();
		begin_session(&s, &p, NULL, 150);
		play(&s, false);
		mem_fail_after(k);
		s.gate->open = 100;
		int r = 0;
		while (r >= 0 && r != ENGINE_IDLE) {
			r = engine_pump(&s.engine, 0, &err);
			if (r == ENGINE_TICK)
				history_note(s.history, &s.engine);
		}
		if (r >= 0)
			r = history_freeze(s.history, &s.engine, &err);
		s.gate->open = 100;
		if (r >= 0)
			r = history_collect(s.history, &err);
		if (r >= 0)
			r = history_travel(s.history, &s.engine, &err);
		if (!r)
			r = timeline_new(&t, &s.engine, NULL, &err);
		travelled += !r;
		timeline_free(t);
		mem_fail_after(-1);
		assert_true(r >= 0 || r == -ENOMEM);
		assert_true(r >= 0 || err.text[0]);
		failed += r < 0;
		err = (struct error){0};
		/* With memory again everything goes. */
		s.gate->open = SIZE_MAX;
		assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
		assert_int_equal(play(&s, false), ENGINE_END);
		assert_int_equal(history_freeze(s.history, &s.engine, &err), 0);
		char *paused = random_state(s.engine.model);
		/* Only the moment of the pause is known to come back: others may be better than
		 * they were live, where the model lacked memory. */
		assert_int_equal(history_travel(s.history, &s.engine, &err), 0);
		assert_int_equal(timeline_new(&t, &s.engine, NULL, &err), 0);
		assert_int_equal(timeline_seek(t, 0, &err), 0);
		timeline_free(t);
		assert_int_equal(history_thaw(s.history, &s.engine, &err), 0);
		assert_state(&s, paused);
		mem_free(paused);
		end_session(&s);
		assert_int_equal(mem_live(), live);
	}
	assert_true(failed > 10 && travelled > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_pass_through_as_they_are),
		cmocka_unit_test(a_pause_leaves_no_trace),
		cmocka_unit_test(pauses_can_follow_at_once),
		cmocka_unit_test(zeroed_sums_stay_zeroed),
		cmocka_unit_test(the_window_keeps_to_its_bound),
		cmocka_unit_test(old_records_go_with_time_too),
		cmocka_unit_test(what_a_pause_loses_is_counted),
		cmocka_unit_test(without_a_tick_there_is_nothing_to_go_to),
		cmocka_unit_test(symbols_are_not_kept),
		cmocka_unit_test(lack_of_memory_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
