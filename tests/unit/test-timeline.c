// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going back in time: wherever one goes in a random stream, in whatever order, the state is the one
 * that a straight play has there. Then edges, ranges, buckets, and lack of memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/error.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/source.h"
#include "kontend/timeline.h"
#include "kontend/wait.h"
#include "random.h"

#define MS 1000000ull

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* The state of a straight play at each stop. */
struct straight {
	char **states;
	uint64_t *times;
	size_t n;
};

static void add_state(struct straight *s, const struct model *m)
{
	s->states = realloc(s->states, (s->n + 1) * sizeof(*s->states));
	s->times = realloc(s->times, (s->n + 1) * sizeof(*s->times));
	assert_non_null(s->states);
	assert_non_null(s->times);
	s->states[s->n] = random_state(m);
	s->times[s->n++] = m->now_ns;
}

/* Zeroes the sums at stop @zero_at; SIZE_MAX: never. */
static void play_straight(struct straight *ret, const struct random_plan *p,
			  const struct model_limits *limits, size_t zero_at)
{
	struct rig r;
	struct engine e;
	struct error err = {0};
	int a;

	*ret = (struct straight){0};
	random_stream(&r, p);
	const struct model_limits recent = model_limits_recent(0);
	assert_int_equal(engine_init(&e, synth_source(r.synth), limits ? limits : &recent, &err),
			 0);
	while ((a = engine_pump(&e, 0, &err)) != ENGINE_END) {
		assert_true(a >= 0);
		if (a != ENGINE_TICK)
			continue;
		add_state(ret, e.model);
		/* Time goes on between rounds: the tick's own time is what it is called by. */
		ret->times[ret->n - 1] = e.place.time_ns;
		if (ret->n - 1 == zero_at)
			model_zero(e.model);
	}
	if (p->has_tail)
		add_state(ret, e.model);
	engine_deinit(&e);
	rig_deinit(&r);
}

static void free_straight(struct straight *s)
{
	for (size_t i = 0; i < s->n; i++)
		mem_free(s->states[i]);
	free(s->states);
	free(s->times);
}

struct travel {
	struct rig rig;
	struct engine engine;
	struct timeline *t;
};

static void begin_travel(struct travel *v, const struct random_plan *p,
			 const struct model_limits *limits, const struct timeline_options *o,
			 bool is_coarse)
{
	struct error err = {0};

	random_stream(&v->rig, p);
	struct source *s = synth_source(v->rig.synth);
	const struct model_limits recent = model_limits_recent(0);
	assert_int_equal(engine_init(&v->engine, is_coarse ? random_coarse(s) : s,
				     limits ? limits : &recent, &err),
			 0);
	assert_int_equal(timeline_new(&v->t, &v->engine, o, &err), 0);
}

static void end_travel(struct travel *v)
{
	timeline_free(v->t);
	engine_deinit(&v->engine);
	rig_deinit(&v->rig);
}

static void assert_state(const struct travel *v, const char *state)
{
	char *is = random_state(v->engine.model);

	assert_string_equal(is, state);
	mem_free(is);
}

/* The last stop at or before a time, as the straight play has it. */
static size_t stop_at(const struct straight *s, uint64_t time_ns)
{
	size_t k = 0;

	while (k + 1 < s->n && s->times[k + 1] <= time_ns)
		k++;
	return k;
}

static void jump_about(const struct random_plan *p, const struct model_limits *limits,
		       const struct timeline_options *o, bool is_coarse, unsigned jumps)
{
	struct straight s;
	struct travel v;
	struct error err = {0};
	uint32_t seed = p->seed + 1;

	play_straight(&s, p, limits, SIZE_MAX);
	assert_true(s.n > 20);
	begin_travel(&v, p, limits, o, is_coarse);
	assert_state(&v, s.states[s.n - 1]);
	for (unsigned i = 0; i < jumps; i++) {
		uint64_t span = s.times[s.n - 1] + 20 * MS;
		uint64_t t = ((uint64_t)rnd(&seed) << 24 | rnd(&seed)) % span;
		/* Every other jump is to a tick's very time. */
		if (i % 2)
			t = s.times[rnd(&seed) % s.n];
		assert_int_equal(timeline_seek(v.t, t, &err), 0);
		assert_int_equal(timeline_now_ns(v.t), s.times[stop_at(&s, t)]);
		assert_state(&v, s.states[stop_at(&s, t)]);
	}
	end_travel(&v);
	free_straight(&s);
}

static void any_order_of_jumps_gives_the_straight_state(void **state)
{
	const struct timeline_options often = {.checkpoint_events = 1};

	(void)state;
	for (uint32_t seed = 1; seed < 6; seed++) {
		struct random_plan p = {.events = 6000, .locks = 50, .seed = seed};
		p.has_tail = seed % 2;
		jump_about(&p, NULL, seed % 3 ? &often : NULL, false, 30);
		jump_about(&p, NULL, seed % 3 ? NULL : &often, true, 15);
	}
}

/* Enough work for many kept states, and little memory for them. */
static void few_kept_states_are_enough(void **state)
{
	const struct timeline_options some = {.checkpoint_events = 500, .checkpoint_bytes = 500000};
	const struct timeline_options one = {.checkpoint_events = 500, .checkpoint_bytes = 1};
	struct random_plan p = {.events = 50000, .locks = 30, .seed = 77, .rarity = 4000};

	(void)state;
	jump_about(&p, NULL, &some, false, 30);
	jump_about(&p, NULL, &one, false, 5);
	jump_about(&p, NULL, &some, true, 10);
}

static void folding_happens_again_in_the_same_way(void **state)
{
	const struct model_limits small = {.held = 64,
					   .locks = 64,
					   .stacks = 24,
					   .tasks = 32,
					   .cells = 256,
					   .hist_groups = 2048,
					   .recent = 20000};
	const struct timeline_options often = {.checkpoint_events = 5000};
	struct random_plan p = {.events = 60000, .locks = 2000, .seed = 5, .rarity = 9000};

	(void)state;
	jump_about(&p, &small, &often, false, 30);
}

static void every_stop_is_reached_both_ways(void **state)
{
	struct random_plan p = {.events = 6000, .locks = 50, .seed = 21, .has_tail = true};
	struct straight s;
	struct travel v;
	struct error err = {0};

	(void)state;
	play_straight(&s, &p, NULL, SIZE_MAX);
	begin_travel(&v, &p, NULL, NULL, false);
	for (size_t i = s.n - 1; i-- > 0;) {
		assert_int_equal(timeline_seek(v.t, s.times[i], &err), 0);
		assert_state(&v, s.states[stop_at(&s, s.times[i])]);
	}
	assert_int_equal(timeline_seek(v.t, 0, &err), 0);
	assert_state(&v, s.states[0]);
	for (size_t i = 1; i < s.n; i++) {
		assert_int_equal(timeline_seek(v.t, s.times[i], &err), 0);
		assert_state(&v, s.states[stop_at(&s, s.times[i])]);
	}
	assert_int_equal(timeline_seek(v.t, s.times[3], &err), 0);
	assert_state(&v, s.states[stop_at(&s, s.times[3])]);
	assert_int_equal(timeline_seek(v.t, UINT64_MAX, &err), 0);
	assert_state(&v, s.states[s.n - 1]);
	end_travel(&v);
	free_straight(&s);
}

static void a_range_has_what_came_in_it(void **state)
{
	struct random_plan p = {.events = 6000, .locks = 50, .seed = 31};
	struct straight s, whole;
	struct travel v;
	struct error err = {0};

	(void)state;
	play_straight(&whole, &p, NULL, SIZE_MAX);
	begin_travel(&v, &p, NULL, NULL, false);
	for (size_t k = 0; k + 4 < whole.n; k += 7) {
		/* Of ticks at one time the last one is meant. */
		size_t from = stop_at(&whole, whole.times[k]);
		size_t to = from + 1 + (from * 5) % (whole.n - from - 1);
		play_straight(&s, &p, NULL, from);
		assert_int_equal(timeline_range(v.t, s.times[from], s.times[to], &err), 0);
		assert_state(&v, s.states[stop_at(&s, s.times[to])]);
		/* The marks may have been set the other way round. */
		assert_int_equal(timeline_range(v.t, s.times[to], s.times[from], &err), 0);
		assert_state(&v, s.states[stop_at(&s, s.times[to])]);
		/* A range that grows continues, one that shrinks begins again. */
		for (int way = 0; way < 2; way++) {
			size_t at = from + 1 + (to - from - 1) / 2;
			assert_int_equal(timeline_range(v.t, s.times[from], s.times[at], &err), 0);
			assert_state(&v, s.states[stop_at(&s, s.times[at])]);
			assert_int_equal(timeline_range(v.t, s.times[from], s.times[to], &err), 0);
			assert_state(&v, s.states[stop_at(&s, s.times[to])]);
		}
		/* Going on from there is not within the range any more. */
		assert_int_equal(timeline_seek(v.t, s.times[to], &err), 0);
		assert_state(&v, whole.states[stop_at(&s, s.times[to])]);
		free_straight(&s);
	}
	size_t last = whole.n - 1;
	assert_int_equal(timeline_range(v.t, 0, whole.times[last], &err), 0);
	assert_state(&v, whole.states[last]);
	assert_int_equal(timeline_range(v.t, whole.times[5], whole.times[9], &err), 0);
	assert_int_equal(timeline_range(v.t, whole.times[9], whole.times[9], &err), 0);
	assert_state(&v, whole.states[stop_at(&whole, whole.times[9])]);
	end_travel(&v);
	free_straight(&whole);
}

/* Both ends may lie within one bucket, and anywhere but in the first one. */
static void a_range_ends_where_it_is_to(void **state)
{
	struct rig r;
	struct engine e;
	struct timeline *t;
	struct error err = {0};

	(void)state;
	rig_init(&r, 1);
	synth_round(r.synth, 10 * MS);
	for (uint64_t i = 1; i <= 5; i++) {
		synth_begin(r.synth, 0, i * 100 * MS - 9 * MS, 1, 1, 0x10, LCB_F_MUTEX, NULL, 0);
		synth_end(r.synth, 0, i * 100 * MS - 8 * MS, 1, 1, 0x10, 0);
		synth_tick(r.synth, i * 100 * MS);
	}
	assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
	assert_int_equal(timeline_new(&t, &e, NULL, &err), 0);
	assert_int_equal(timeline_range(t, 310 * MS, 320 * MS, &err), 0);
	assert_int_equal(timeline_now_ns(t), 320 * MS);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 0);
	assert_int_equal(e.model->zero_ns, 310 * MS);
	assert_int_equal(timeline_range(t, 310 * MS, 500 * MS, &err), 0);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 2);
	assert_int_equal(timeline_range(t, 310 * MS, 491500 * MS / 1000, &err), 0);
	assert_int_equal(timeline_now_ns(t), 491500 * MS / 1000);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 1);
	assert_int_equal(timeline_range(t, 10 * MS, 310 * MS, &err), 0);
	assert_int_equal(timeline_now_ns(t), 310 * MS);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 3);
	/* The part before the first stop cannot be left out; a range ends with the stream. */
	assert_int_equal(timeline_range(t, 95 * MS, 310 * MS, &err), 0);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 3);
	assert_int_equal(timeline_range(t, 450 * MS, UINT64_MAX, &err), 0);
	assert_int_equal(timeline_now_ns(t), 500 * MS);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 1);
	assert_int_equal(timeline_seek(t, 310 * MS, &err), 0);
	assert_int_equal(timeline_now_ns(t), 300 * MS);
	assert_int_equal(e.model->types[LOCK_MUTEX].contended, 3);
	timeline_free(t);
	engine_deinit(&e);
	rig_deinit(&r);
}

static void buckets_say_what_was_waited_when(void **state)
{
	struct rig r;
	struct engine e;
	struct timeline *t;
	struct error err = {0};
	size_t n;

	(void)state;
	rig_init(&r, 2);
	synth_round(r.synth, 100 * MS);
	synth_begin(r.synth, 0, 150 * MS, 1, 1, 0x10, LCB_F_MUTEX, NULL, 0);
	synth_tick(r.synth, 200 * MS);
	synth_end(r.synth, 0, 230 * MS, 1, 1, 0x10, 0);
	synth_tick(r.synth, 300 * MS);
	synth_begin(r.synth, 1, 310 * MS, 1, 2, 0x10, LCB_F_MUTEX, NULL, 0);
	synth_end(r.synth, 1, 315 * MS, 1, 2, 0x10, 0);
	assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
	assert_int_equal(timeline_new(&t, &e, NULL, &err), 0);
	const struct timeline_bucket *b = timeline_buckets(t, &n);
	assert_int_equal(n, 3);
	const struct timeline_bucket want[] = {
		{100 * MS, 50 * MS, 0}, {200 * MS, 30 * MS, 1}, {300 * MS, 5 * MS, 1}};
	assert_memory_equal(b, want, sizeof(want));
	assert_int_equal(timeline_begin_ns(t), 100 * MS);
	assert_int_equal(timeline_end_ns(t), 315 * MS);
	assert_int_equal(timeline_now_ns(t), 315 * MS);
	assert_true(timeline_tick_ns(t) > 50 * MS && timeline_tick_ns(t) < 110 * MS);
	uint64_t generation = e.model->generation;
	assert_int_equal(timeline_seek(t, 0, &err), 0);
	assert_int_equal(timeline_now_ns(t), 200 * MS);
	assert_true(e.model->generation > generation);
	timeline_free(t);
	engine_deinit(&e);
	rig_deinit(&r);
}

static void streams_of_almost_nothing(void **state)
{
	struct error err = {0};
	size_t n;

	(void)state;
	for (unsigned events = 0; events < 2; events++) {
		struct rig r;
		struct engine e;
		struct timeline *t;
		rig_init(&r, 1);
		if (events)
			synth_begin(r.synth, 0, 5 * MS, 1, 1, 0x10, LCB_F_MUTEX, NULL, 0);
		assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
		assert_int_equal(timeline_new(&t, &e, NULL, &err), 0);
		timeline_buckets(t, &n);
		assert_int_equal(n, 1);
		assert_int_equal(timeline_seek(t, 7, &err), 0);
		assert_int_equal(timeline_seek(t, UINT64_MAX, &err), 0);
		assert_int_equal(timeline_seek(t, 0, &err), 0);
		assert_int_equal(timeline_range(t, 1, 9 * MS, &err), 0);
		assert_int_equal(e.model->waits->in_flight, events);
		timeline_free(t);
		engine_deinit(&e);
		rig_deinit(&r);
	}
}

/* During reading the user jumps in the part that was read; later parts are unaffected. */
static void read_and_jump(const struct random_plan *p, const struct timeline_options *o,
			  const struct straight *s)
{
	struct travel v;
	struct error err = {0};
	uint32_t seed = p->seed;
	size_t n;

	const struct model_limits recent = model_limits_recent(0);
	random_stream(&v.rig, p);
	assert_int_equal(engine_init(&v.engine, synth_source(v.rig.synth), &recent, &err), 0);
	assert_int_equal(timeline_open(&v.t, &v.engine, o, &err), 0);
	while (!timeline_is_read(v.t)) {
		timeline_buckets(v.t, &n);
		if (n > 1 && rnd(&seed) % 4 == 0) {
			uint64_t t = s->times[rnd(&seed) % (n - 1)];
			assert_int_equal(timeline_seek(v.t, t, &err), 0);
			if (stop_at(s, t) < n - 1)
				assert_state(&v, s->states[stop_at(s, t)]);
			assert_int_equal(timeline_range(v.t, s->times[0], t, &err), 0);
		}
		assert_int_equal(timeline_read(v.t, &err), 0);
		assert_true(timeline_now_ns(v.t) == timeline_end_ns(v.t));
		assert_true(timeline_per_mille(v.t) <= 1000);
	}
	timeline_buckets(v.t, &n);
	assert_int_equal(n, s->n);
	assert_state(&v, s->states[s->n - 1]);
	assert_int_equal(timeline_read(v.t, &err), 0);
	assert_int_equal(timeline_whole_ns(v.t), timeline_end_ns(v.t));
	for (size_t i = 0; i < s->n; i += 5) {
		assert_int_equal(timeline_seek(v.t, s->times[i], &err), 0);
		assert_state(&v, s->states[stop_at(s, s->times[i])]);
	}
	end_travel(&v);
}

static void what_was_read_can_be_gone_to_at_once(void **state)
{
	const struct timeline_options often = {.checkpoint_events = 300, .ahead = true};
	struct straight s;

	(void)state;
	for (uint32_t seed = 1; seed < 5; seed++) {
		struct random_plan p = {.events = 6000, .locks = 50, .seed = seed};
		p.has_tail = seed % 2;
		play_straight(&s, &p, NULL, SIZE_MAX);
		read_and_jump(&p, seed % 3 ? &often : NULL, &s);
		free_straight(&s);
	}
}

static int ends(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	(void)s, (void)timeout_ms, (void)ret, (void)err;
	return SOURCE_END;
}

static void no_op(struct source *s)
{
	(void)s;
}

static void a_pipe_has_no_past(void **state)
{
	static const struct source_ops ops = {.next = ends, .free = no_op};
	struct source pipe = {&ops};
	struct engine e;
	struct timeline *t;
	struct error err = {0};

	(void)state;
	assert_int_equal(engine_init(&e, &pipe, NULL, &err), 0);
	assert_int_equal(timeline_new(&t, &e, NULL, &err), -ESPIPE);
	engine_deinit(&e);
}

/* Without memory at any place: an error, and once there is some again, the right state. */
static void lack_of_memory_is_no_end(void **state)
{
	const struct timeline_options often = {.checkpoint_events = 300};
	struct random_plan p = {.events = 3000, .locks = 50, .seed = 13, .has_tail = true};
	struct straight s;
	struct travel v;
	unsigned failed = 0;

	(void)state;
	play_straight(&s, &p, NULL, SIZE_MAX);
	begin_travel(&v, &p, NULL, &often, false);
	for (long k = 0; k < 400; k += 1 + k / 20) {
		struct error err = {0};
		size_t to = (size_t)k * 7 % s.n;
		assert_int_equal(timeline_seek(v.t, s.times[s.n - 1 - to], &err), 0);
		mem_fail_after(k);
		int r = timeline_seek(v.t, s.times[to], &err);
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		assert_true(!r || err.text[0]);
		failed += r == -ENOMEM;
		err = (struct error){0};
		/* Records that the model could not take are counted, and gone with a way back. */
		assert_int_equal(timeline_range(v.t, s.times[2], s.times[9], &err), 0);
		assert_int_equal(timeline_seek(v.t, s.times[to], &err), 0);
		assert_state(&v, s.states[stop_at(&s, s.times[to])]);
	}
	assert_true(failed > 10);
	end_travel(&v);
	free_straight(&s);
}

static void a_first_pass_without_memory_leaves_nothing(void **state)
{
	struct random_plan p = {.events = 800, .locks = 20, .seed = 13};
	const struct timeline_options often = {.checkpoint_events = 100};
	unsigned failed = 0;

	(void)state;
	for (long k = 0; k < 600; k += 1 + k / 10) {
		struct rig r;
		struct engine e;
		struct timeline *t = NULL;
		struct error err = {0};
		long live = mem_live();
		random_stream(&r, &p);
		assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
		mem_fail_after(k);
		int a = timeline_new(&t, &e, &often, &err);
		mem_fail_after(-1);
		assert_true(a == 0 || a == -ENOMEM);
		failed += a == -ENOMEM;
		if (!a)
			timeline_free(t);
		engine_deinit(&e);
		rig_deinit(&r);
		assert_int_equal(mem_live(), live);
	}
	assert_true(failed > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_of_jumps_gives_the_straight_state),
		cmocka_unit_test(few_kept_states_are_enough),
		cmocka_unit_test(folding_happens_again_in_the_same_way),
		cmocka_unit_test(every_stop_is_reached_both_ways),
		cmocka_unit_test(a_range_has_what_came_in_it),
		cmocka_unit_test(a_range_ends_where_it_is_to),
		cmocka_unit_test(buckets_say_what_was_waited_when),
		cmocka_unit_test(streams_of_almost_nothing),
		cmocka_unit_test(what_was_read_can_be_gone_to_at_once),
		cmocka_unit_test(a_pipe_has_no_past),
		cmocka_unit_test(lack_of_memory_is_no_end),
		cmocka_unit_test(a_first_pass_without_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
