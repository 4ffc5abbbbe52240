// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rates of a range, as a property: WAIT/s is of the parts of waits that lie within it, failed ones
 * and those in flight as well, and SPIN% is of all of it. A CPU here is one task's own, so that
 * what has to come out is a sum of overlaps; and ranges in a row add up to the whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/model-cpu.h"
#include "kontend/query-overview.h"

enum { CPUS = 4, WAITS = 60, TIMES = 60, END = 1000000 };

struct span {
	uint64_t from, to;
};

struct world {
	struct rig rig;
	struct span waits[CPUS][WAITS];
};

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static bool spins(uint32_t cpu)
{
	return cpu % 2;
}

/* Some go beyond the last tick. */
static void make_cpu(struct world *w, uint32_t cpu, uint32_t *seed)
{
	static const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};
	uint32_t flags = spins(cpu) ? LCB_F_SPIN : LCB_F_WRITE;
	int tid = 100 + (int)cpu;
	uint64_t t = 1000;

	for (unsigned i = 0; i < WAITS; i++) {
		struct span *s = &w->waits[cpu][i];
		t += 1 + rnd(seed, 3000);
		s->from = t;
		s->to = t += 1 + rnd(seed, i % 9 ? 20000 : 200000);
		synth_begin(w->rig.synth, cpu, s->from, 100, tid, 0x1000 + cpu * 64, flags, chain,
			    2);
		synth_end(w->rig.synth, cpu, s->to, 100, tid, 0x1000 + cpu * 64,
			  i % 7 == 3 ? -4 : 0);
	}
}

static uint64_t overlap(const struct world *w, uint32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WAITS; i++) {
		const struct span *s = &w->waits[cpu][i];
		uint64_t a = s->from > from ? s->from : from, b = s->to < to ? s->to : to;
		sum += b > a ? b - a : 0;
	}
	return sum;
}

struct fixed {
	struct engine_range range;
	uint64_t from, to;
};

static int find_begin(struct engine_range *r, uint64_t begin_ns, struct error *err)
{
	const struct fixed *f = (struct fixed *)r;

	(void)begin_ns, (void)err;
	r->from_ns = f->from;
	r->to_ns = f->to;
	return 0;
}

static void assert_near(const struct value *v, double want)
{
	assert_true(v->known);
	if (v->d < want - 1 || v->d > want + 1) {
		printf("%f for %f\n", v->d, want);
		fail();
	}
}

/* All of it in ns; answers what was waited. */
static uint64_t check(struct world *w, uint64_t from, uint64_t to)
{
	struct fixed f = {.range.find = find_begin, .from = from, .to = to};
	struct query_spec spec = {.average = true};
	struct query_overview o;
	struct error err = {0};
	struct engine e;
	struct table t;
	struct query q;
	uint64_t sum = 0;
	int r = 0;

	assert_int_equal(engine_init(&e, synth_source(w->rig.synth), NULL, &err), 0);
	e.range = &f.range;
	while (r != ENGINE_END && f.range.state != ENGINE_RANGE_DONE)
		assert_true((r = engine_pump(&e, 0, &err)) >= 0);
	assert_int_equal(query_init(&q, &e), 0);
	query_begin(&q);
	assert_int_equal(query_cpus(&q, &spec, &t, &err), 0);
	assert_int_equal(t.n_rows, CPUS);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint64_t ns = overlap(w, cpu, from, to);
		double part = (double)ns / (double)(to - from);
		sum += ns;
		assert_near(cell_at(&t, cpu, "wait_ns_per_s"), 1e9 * part);
		assert_near(cell_at(&t, cpu, "spin_pct"), spins(cpu) ? 100 * part : 0);
	}
	assert_int_equal(query_overview(&q, &o), 0);
	assert_int_equal(o.waited_ns, sum);
	assert_true(o.waited_ns <= CPUS * (to - from));
	query_deinit(&q);
	engine_deinit(&e);
	return sum;
}

static void rates_are_of_what_lies_within(void **state)
{
	struct world w;
	uint32_t seed = 7;

	(void)state;
	rig_init(&w.rig, CPUS);
	synth_comm(w.rig.synth, 0, 500, 100, 100, "it");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		make_cpu(&w, cpu, &seed);
	synth_tick(w.rig.synth, 2 * END);
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t a = 30000 + rnd(&seed, END / 4);
		uint64_t b = a + 1 + rnd(&seed, i % 2 ? 2000 : END / 4);
		uint64_t c = b + 1 + rnd(&seed, END / 4);
		assert_int_equal(check(&w, a, b) + check(&w, b, c), check(&w, a, c));
	}
	rig_deinit(&w.rig);
}

/* The canned measurement has three seconds: a storm of spinning in the first one. */
static void a_report_is_of_the_whole_measurement(void **state)
{
	static const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};
	const struct record_fill full = {900, 1000}, empty = {10, 1000};
	struct query_spec spec = {.average = true};
	const uint64_t second = 1000000000;
	struct asked *w = *state;
	struct error err = {0};
	struct table t;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, second);
	synth_begin(w->rig.synth, 0, second + 1, 100, 100, 0x1000, LCB_F_SPIN, chain, 2);
	synth_end(w->rig.synth, 0, second + second / 2 + 1, 100, 100, 0x1000, 0);
	synth_record(w->rig.synth, RECORD_FILL, 0, &full, sizeof(full));
	synth_tick(w->rig.synth, 2 * second);
	synth_record(w->rig.synth, RECORD_FILL, 0, &empty, sizeof(empty));
	synth_tick(w->rig.synth, 3 * second);
	synth_tick(w->rig.synth, 5 * second);
	asked_play(w, NULL);
	assert_int_equal(query_cpus(&w->q, &spec, &t, &err), 0);
	assert_true(cell_at(&t, 0, "spin_pct")->d == 12.5);
	assert_true(cell_at(&t, 0, "fill_pct")->d == 90);
	spec.average = false;
	assert_int_equal(query_cpus(&w->q, &spec, &t, &err), 0);
	assert_true(cell_at(&t, 0, "spin_pct")->d == 0);
}

static void who_spins_in_an_interrupt_spins_once(void **state)
{
	static const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_begin(w->rig.synth, 0, 1000, 100, 100, 0x1000, LCB_F_SPIN, chain, 2);
	synth_begin(w->rig.synth, 0, 1100, 100, 100, 0x2000, LCB_F_SPIN, chain, 2);
	synth_end(w->rig.synth, 0, 1300, 100, 100, 0x2000, 0);
	synth_end(w->rig.synth, 0, 2000, 100, 100, 0x1000, 0);
	synth_tick(w->rig.synth, 3000);
	asked_play(w, NULL);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->types[LOCK_SPINLOCK].total_ns, 1200);
	assert_int_equal(m->cpus[0].spin_ns, 1000);
	assert_int_equal(m->cpus[0].rate_spin_ns, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_of_what_lies_within),
		cmocka_unit_test_setup_teardown(a_report_is_of_the_whole_measurement,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(who_spins_in_an_interrupt_spins_once,
						asked_setup_empty, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
