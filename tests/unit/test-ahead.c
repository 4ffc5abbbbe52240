// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that reads ahead changes nothing: at every tick, for listeners of events, within a
 * range, after going back, and of files that are damaged. It frees everything wherever it is
 * stopped.
 */
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/timeline.h"
#include "random.h"
#include "recording.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

struct log {
	struct engine_watch watch;
	const struct engine *engine;
	uint64_t n, sum;
};

static uint64_t mix(uint64_t sum, uint64_t v)
{
	return (sum ^ v) * 0x9e3779b97f4a7c15u + (sum >> 31);
}

/* All that an event has, the texts and addresses that it borrows too. */
static int see_event(struct engine_watch *w, const struct event *ev, struct error *err)
{
	struct log *l = (struct log *)w;

	(void)err;
	l->n++;
	l->sum = mix(l->sum, ev->time ^ (uint64_t)ev->kind << 56 ^ (uint64_t)ev->cpu << 40);
	l->sum = mix(l->sum, (uint64_t)ev->tid << 32 ^ (uint32_t)ev->pid);
	l->sum = mix(l->sum, l->engine->model->n_events);
	if (ev->kind == EVENT_CONTENTION_BEGIN)
		for (uint32_t i = 0; i < ev->begin.n_frames; i++)
			l->sum = mix(l->sum, ev->begin.frames[i]);
	if (ev->kind == EVENT_COMM)
		for (const char *c = ev->comm.name; *c; c++)
			l->sum = mix(l->sum, (uint64_t)*c);
	return 0;
}

static void start(struct engine *e, struct source *s, bool ahead)
{
	struct error err = {0};

	assert_int_equal(engine_init(e, s, NULL, &err), 0);
	if (ahead)
		assert_int_equal(engine_read_ahead(e), 0);
}

/* To the next tick, or the end. */
static int to_tick(struct engine *e)
{
	struct error err = {0};
	int r;

	do
		r = engine_pump(e, 0, &err);
	while (!r);
	assert_true(r > 0);
	return r;
}

static void assert_same(const struct engine *a, const struct engine *b)
{
	const struct model_damage x = model_damage(a->model), y = model_damage(b->model);
	char *s = random_state(a->model), *t = random_state(b->model);

	assert_string_equal(s, t);
	assert_memory_equal(&x, &y, sizeof(x));
	assert_int_equal(a->place.time_ns, b->place.time_ns);
	assert_int_equal(a->place.last_time, b->place.last_time);
	assert_int_equal(a->place.n_late, b->place.n_late);
	assert_int_equal(a->place.n_bad, b->place.n_bad);
	assert_int_equal(a->place.n_skipped, b->place.n_skipped);
	assert_true(b->place.mark <= a->place.mark);
	mem_free(s);
	mem_free(t);
}

static struct random_plan plan_of(uint32_t seed)
{
	struct random_plan p = {.events = 6000, .locks = 40, .seed = seed};

	p.has_tail = seed % 2;
	p.rarity = seed % 3 == 0 ? 20 : seed % 3 == 1 ? 300 : 3000;
	return p;
}

static void every_tick_is_the_same(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct random_plan p = plan_of(seed);
		struct engine a, b;
		struct rig rig;
		unsigned ticks = 0;
		int r;

		random_stream(&rig, &p);
		start(&a, synth_source(rig.synth), false);
		start(&b, synth_source(rig.synth), true);
		struct log x = {.watch.event = see_event, .engine = &a},
			   y = {.watch.event = see_event, .engine = &b};
		a.watch = &x.watch;
		b.watch = &y.watch;
		do {
			r = to_tick(&a);
			assert_int_equal(to_tick(&b), r);
			if (++ticks % 8 == 0 || r == ENGINE_END)
				assert_same(&a, &b);
			assert_int_equal(x.n, y.n);
			assert_int_equal(x.sum, y.sum);
		} while (r != ENGINE_END);
		assert_true(x.n > 4000);
		engine_deinit(&a);
		engine_deinit(&b);
		rig_deinit(&rig);
	}
}

struct fixed {
	struct engine_range range;
	uint64_t from_ns, to_ns;
};

static int find_begin(struct engine_range *r, uint64_t begin_ns, struct error *err)
{
	struct fixed *f = (struct fixed *)r;

	(void)begin_ns;
	(void)err;
	r->from_ns = f->from_ns;
	r->to_ns = f->to_ns;
	return 0;
}

static void ranges_are_the_same(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct random_plan p = plan_of(seed);
		struct fixed f[2];
		struct engine e[2];
		struct rig rig;

		random_stream(&rig, &p);
		for (int i = 0; i < 2; i++) {
			f[i] = (struct fixed){.range.find = find_begin,
					      .from_ns = (10 + seed) * MS,
					      .to_ns = (11 + 2 * seed) * MS};
			start(&e[i], synth_source(rig.synth), i);
			e[i].range = &f[i].range;
			while (to_tick(&e[i]) != ENGINE_END)
				;
		}
		assert_int_equal(f[0].range.state, f[1].range.state);
		assert_same(&e[0], &e[1]);
		engine_deinit(&e[0]);
		engine_deinit(&e[1]);
		rig_deinit(&rig);
	}
}

static void going_back_is_the_same(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 3; seed++) {
		struct random_plan p = plan_of(seed);
		struct timeline_options o = {.checkpoint_events = 500};
		struct timeline *t[2];
		struct error err = {0};
		struct engine e[2];
		struct rig rig;
		size_t n;

		random_stream(&rig, &p);
		for (int i = 0; i < 2; i++) {
			o.ahead = i;
			start(&e[i], random_coarse(synth_source(rig.synth)), false);
			assert_int_equal(timeline_new(&t[i], &e[i], &o, &err), 0);
		}
		const struct timeline_bucket *b = timeline_buckets(t[0], &n);
		for (size_t k = 0; k < 10; k++) {
			uint64_t at = b[k * 7919 % n].start_ns;

			for (int i = 0; i < 2; i++)
				assert_int_equal(timeline_seek(t[i], at, &err), 0);
			char *x = random_state(e[0].model), *y = random_state(e[1].model);
			assert_string_equal(x, y);
			mem_free(x);
			mem_free(y);
		}
		for (int i = 0; i < 2; i++) {
			timeline_free(t[i]);
			engine_deinit(&e[i]);
		}
		rig_deinit(&rig);
	}
}

/* Result of reading a file, in a few words: free() it. */
static char *result_of(const uint8_t *data, size_t len, bool ahead)
{
	struct reader_options o = {
		.path = "canned", .bytes = data, .n_bytes = len, .no_symbols = true};
	struct error err = {0};
	struct source *s;
	struct engine e;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r = reader_new(&s, &o, &err);

	if (!r) {
		start(&e, s, ahead);
		do
			r = engine_pump(&e, 0, &err);
		while (r >= 0 && r != ENGINE_END);
		char *dump = rig_dump(e.model);
		const struct model_damage d = model_damage(e.model);
		fprintf(f, "%s\n%s\n%zu late %zu bad\n", dump,
			e.notes.n ? e.notes.items[0].text : "", (size_t)d.late, (size_t)d.bad);
		mem_free(dump);
		engine_deinit(&e);
	}
	fprintf(f, "%d %s\n", r, err.text);
	fclose(f);
	return text;
}

static void damaged_files_are_the_same(void **state)
{
	uint32_t seed = 3;

	(void)state;
	for (int flags = 0; flags <= RECORDING_ZSTD; flags += RECORDING_ZSTD) {
		struct synth *s = synth_new(2);
		synth_prologue(s, synth_kallsyms);
		recording_waits(s, 20, 200);
		struct recording r = recording_perf(s, flags);

		for (unsigned i = 0; i < 60; i++) {
			seed = seed * 1664525 + 1013904223;
			size_t at = (seed >> 4) % r.len;
			uint8_t was = r.data[at];

			r.data[at] ^= i ? (uint8_t)(1 << seed % 8) : 0;
			char *a = result_of(r.data, r.len, false),
			     *b = result_of(r.data, r.len, true);
			assert_string_equal(a, b);
			free(a);
			free(b);
			r.data[at] = was;
		}
		recording_free(&r);
		synth_free(s);
	}
}

/* Stopped wherever it is, the thread ends and everything comes back. */
static void it_may_be_left_at_any_time(void **state)
{
	(void)state;
	for (unsigned pumps = 0; pumps < 20; pumps++) {
		struct random_plan p = plan_of(pumps + 1);
		struct error err = {0};
		struct engine e;
		struct rig rig;

		random_stream(&rig, &p);
		long before = mem_live();
		start(&e, synth_source(rig.synth), true);
		for (unsigned i = 0; i < pumps; i++)
			assert_true(engine_pump(&e, 0, &err) >= 0);
		engine_deinit(&e);
		assert_int_equal(mem_live(), before);
		rig_deinit(&rig);
	}
}

static void what_cannot_seek_is_read_by_one(void **state)
{
	static const struct source_ops ops = {0};
	struct source s = {.ops = &ops};
	struct engine e = {.source = &s};

	(void)state;
	assert_true(engine_read_ahead(&e) < 0);
	assert_null(e.ahead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tick_is_the_same),
		cmocka_unit_test(ranges_are_the_same),
		cmocka_unit_test(going_back_is_the_same),
		cmocka_unit_test(damaged_files_are_the_same),
		cmocka_unit_test(it_may_be_left_at_any_time),
		cmocka_unit_test(what_cannot_seek_is_read_by_one),
	};

	return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
