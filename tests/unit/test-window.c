// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of time against brute force: whatever parts a window is made of, its sums are those
 * of the waits and samples in it; through folding, through tasks that are given up, in copies, and
 * where there is no room for as much as was asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cell-recent.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/profile.h"
#include "kontend/recent.h"

#include <stdlib.h>
#include <string.h>

enum { CPUS = 3, TASKS = 40, FIRST_TID = 100, BUSY_LOCKS = 4, RARE_LOCKS = 700 };
#define KERNEL (1ull << 63)
#define MS 1000000ull

struct logged {
	uint64_t begin_ns, end_ns; /* end 0: it is not over */
	uint32_t cpu;
	bool failed, is_sample;
};

struct world {
	struct model m;
	uint64_t t;
	unsigned seed, kinds; /* kinds: of tasks, locks and chains at most */
	struct logged *past;
	size_t n;
	uint64_t tick_ns;    /* about */
	size_t waits[TASKS]; /* of a task, + 1 */
	uint64_t locks[TASKS];
};

struct sums {
	uint64_t n, total_ns, max_ns, failed, waited_ns, samples, hist[HIST_BUCKETS];
};

static unsigned pick(struct world *w, unsigned n)
{
	return (unsigned)rand_r(&w->seed) % n;
}

static unsigned pick_kind(struct world *w, unsigned n)
{
	return pick(w, n < w->kinds ? n : w->kinds);
}

static void apply(struct world *w, struct event ev)
{
	ev.time = w->t;
	assert_int_equal(model_apply(&w->m, &ev), 0);
}

static struct logged *remember(struct world *w, struct logged p)
{
	if (!(w->n & (w->n - 1))) /* twice as many */
		w->past = realloc(w->past, (w->n ? 2 * w->n : 1) * sizeof(*w->past));
	assert_non_null(w->past);
	w->past[w->n] = p;
	return &w->past[w->n++];
}

static void begin(struct world *w, unsigned task)
{
	const uint64_t chain[] = {KERNEL | 0x1000, KERNEL | (0x2000 + 16 * pick_kind(w, 8))};
	int tid = FIRST_TID + (int)task;
	struct event ev = {
		.kind = EVENT_CONTENTION_BEGIN, .pid = tid, .tid = tid, .cpu = pick(w, CPUS)};

	w->locks[task] =
		0xffff888000000000ull + 64 * pick_kind(w, pick(w, 3) ? BUSY_LOCKS : RARE_LOCKS);
	ev.begin.lock = w->locks[task];
	ev.begin.frames = chain;
	ev.begin.n_frames = 2;
	ev.begin.flags = 1 << 3;
	apply(w, ev);
	remember(w, (struct logged){.begin_ns = w->t, .cpu = ev.cpu});
	w->waits[task] = w->n;
}

static void end(struct world *w, unsigned task)
{
	int tid = FIRST_TID + (int)task;
	struct logged *p = &w->past[w->waits[task] - 1];
	struct event ev = {
		.kind = EVENT_CONTENTION_END, .pid = tid, .tid = tid, .cpu = pick(w, CPUS)};

	ev.end.lock = w->locks[task];
	ev.end.ret = pick(w, 10) ? 0 : -4;
	p->failed = ev.end.ret;
	p->end_ns = w->t;
	w->waits[task] = 0;
	apply(w, ev);
}

static void sample(struct world *w)
{
	const uint64_t frames[] = {KERNEL | (0x5000 + 16 * pick_kind(w, 50))};
	int tid = FIRST_TID + (int)pick_kind(w, TASKS);
	struct event ev = {.kind = EVENT_SAMPLE, .pid = tid, .tid = tid, .cpu = pick(w, CPUS)};

	ev.sample.ip = frames[0];
	ev.sample.frames = frames;
	ev.sample.n_frames = 1;
	ev.sample.period = 1 + ((uint64_t)pick(w, 4) << 40);
	apply(w, ev);
	remember(w, (struct logged){
			    .begin_ns = w->t, .end_ns = w->t, .cpu = ev.cpu, .is_sample = true});
}

/* Its task is another one from now on, and the ended one may be given up. */
static void replace_task(struct world *w, unsigned task)
{
	int tid = FIRST_TID + (int)task;

	if (w->waits[task])
		end(w, task);
	apply(w, (struct event){.kind = EVENT_EXIT, .pid = tid, .tid = tid});
}

static uint64_t overlap(const struct logged *p, uint64_t from, uint64_t to)
{
	uint64_t end = p->end_ns && p->end_ns < to ? p->end_ns : to;
	uint64_t begin = p->begin_ns > from ? p->begin_ns : from;

	return end > begin ? end - begin : 0;
}

static void sum_past(const struct world *w, uint64_t from, uint64_t to, struct sums ret[CPUS])
{
	memset(ret, 0, CPUS * sizeof(*ret));
	for (size_t i = 0; i < w->n; i++) {
		const struct logged *p = &w->past[i];
		struct sums *s = &ret[p->cpu];
		bool is_in = p->end_ns > from && p->end_ns <= to;
		uint64_t ns = p->end_ns - p->begin_ns;
		if (p->is_sample) {
			s->samples += is_in;
			continue;
		}
		s->waited_ns += overlap(p, from, to);
		if (!is_in)
			continue;
		s->failed += p->failed;
		if (p->failed)
			continue;
		s->n++;
		s->total_ns += ns;
		s->hist[hist_bucket(ns)]++;
		s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	}
}

static void add_cell(const struct cell_table *t, const struct cell *c, struct sums *s)
{
	const struct cell_sums of = cell_sums(t, c);
	struct hist h = {0};

	cell_hist(t, c, &h);
	assert_int_equal(h.n, of.n);
	assert_int_equal(of.rate_n, of.n);
	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		s->hist[b] += h.count[b];
	s->n += of.n;
	s->total_ns += c->total_ns;
	s->failed += of.failed;
	s->waited_ns += c->rate_wait_ns;
	s->max_ns = of.max_ns > s->max_ns ? of.max_ns : s->max_ns;
}

static void check_waits(const struct world *w, const struct model *m, uint64_t window_ns,
			struct cell_table *t)
{
	const struct recent_window when = recent_find(&m->cells->recent, window_ns);
	struct sums is[CPUS] = {0}, was[CPUS];

	assert_int_equal(cell_recent(m->cells, &when, NULL, t), 0);
	for (size_t i = 0; i < t->n; i++)
		add_cell(t, &t->cells[i], &is[t->cells[i].cpu]);
	sum_past(w, when.begin_ns, when.end_ns, was);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		was[cpu].samples = 0;
	assert_memory_equal(is, was, sizeof(is));
	if (!when.is_short && when.begin_ns > m->start_ns && when.begin_ns > m->zero_ns)
		assert_in_range(when.end_ns - when.begin_ns + w->tick_ns, window_ns,
				window_ns + 2 * w->tick_ns);
}

static void check_samples(const struct world *w, const struct model *m, uint64_t window_ns)
{
	const struct recent_window when = recent_find(&m->profile->recent, window_ns);
	struct profile_cell *room = calloc(m->profile->n + 1, sizeof(*room));
	struct profile p;
	uint64_t is[CPUS] = {0}, n = 0;
	struct sums was[CPUS];

	assert_non_null(room);
	assert_int_equal(profile_recent(m->profile, &when, NULL, room, &p), 0);
	for (size_t i = 0; i < p.n; i++) {
		is[p.cells[i].cpu] += p.cells[i].n;
		n += p.cells[i].n;
		assert_int_equal(p.cells[i].period & 0xff, p.cells[i].n & 0xff);
	}
	assert_int_equal(p.samples, n);
	sum_past(w, when.begin_ns, when.end_ns, was);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(is[cpu], was[cpu].samples);
	free(room);
}

static void check(const struct world *w, const struct model *m)
{
	struct cell_table t;

	assert_int_equal(cell_table_init(&t, m->cells->max, m->cells->hists.max_groups), 0);
	for (uint64_t ms = 100; ms < 20000; ms *= 3) {
		check_waits(w, m, ms * MS, &t);
		check_samples(w, m, ms * MS);
	}
	cell_table_deinit(&t);
}

static void random_step(struct world *w)
{
	unsigned task = pick_kind(w, TASKS);

	w->t += 1 + pick(w, pick(w, 20) ? 1000000 : 3000000);
	if (!pick(w, 5))
		sample(w);
	else if (!pick(w, 50))
		replace_task(w, task);
	else if (w->waits[task])
		end(w, task);
	else
		begin(w, task);
}

static void play(uint32_t cells, uint32_t recent, unsigned kinds, unsigned per_tick, unsigned seed)
{
	const struct model_limits limits = {.locks = 4096,
					    .stacks = 4096,
					    .tasks = 64,
					    .cells = cells,
					    .hist_groups = 65536,
					    .recent = recent};
	struct world w = {
		.t = 1000 * MS, .seed = seed, .kinds = kinds, .tick_ns = per_tick * 3 * MS / 4};

	assert_int_equal(model_init(&w.m, &limits), 0);
	model_start(&w.m, w.t);
	for (unsigned i = 1; i <= 60 * per_tick; i++) {
		random_step(&w);
		if (i % per_tick)
			continue;
		w.t++;
		model_tick(&w.m, w.t);
		if (kinds < TASKS) /* a whole tick has room, as blocks */
			assert_true(recent_find(&w.m.cells->recent, 1).end_ns == w.t);
		if (i % (11 * per_tick) == 0) { /* the copy goes on */
			struct model copy;
			assert_int_equal(model_copy(&copy, &w.m), 0);
			model_deinit(&w.m);
			w.m = copy;
		}
		check(&w, &w.m);
	}
	assert_int_equal(w.m.damage->unmatched_end, 0);
	if (cells < 1000 && kinds == TASKS)
		assert_true(w.m.damage->folded > 0);
	model_deinit(&w.m);
	free(w.past);
}

static void sums_are_those_of_the_window(void **state)
{
	(void)state;
	play(65536, 1 << 16, TASKS, 100, 1);
	play(65536, 1 << 16, TASKS, 100, 2);
}

static void they_survive_folding(void **state)
{
	(void)state;
	play(300, 1 << 16, TASKS, 100, 3);
	play(300, 1 << 16, TASKS, 100, 4);
}

static void they_are_shorter_without_room(void **state)
{
	(void)state;
	play(300, 2000, TASKS, 100, 5);
	play(300, 150, TASKS, 100, 6); /* some ticks have no room at all */
}

/* Many waits and samples of few cells are blocks, also in the middle of a tick. */
static void they_may_be_blocks(void **state)
{
	(void)state;
	play(300, 1 << 16, 2, 6000, 7);
	play(300, 3000, 2, 12000, 8);
}

/* A lack of room is reported for that window, and for no other. */
static void it_is_said(void **state)
{
	struct recent r = {.max = 100};
	struct recent_window w;

	(void)state;
	for (uint64_t tick = 0; tick < 9; tick++) {
		for (unsigned i = 0; i < 20; i++)
			recent_add(&r, RECENT_WAIT, 1, 5);
		recent_tick(&r, tick * 1000 * MS, (tick + 1) * 1000 * MS);
	}
	w = recent_find(&r, 1000 * MS);
	assert_false(w.is_short);
	assert_int_equal(w.end_ns - w.begin_ns, 1000 * MS);
	w = recent_find(&r, 10000 * MS);
	assert_true(w.is_short);
	assert_in_range(w.end_ns - w.begin_ns, 3000 * MS, 5000 * MS);
	recent_clear(&r);
	w = recent_find(&r, 10000 * MS);
	assert_false(w.is_short);
	assert_int_equal(w.end_ns, w.begin_ns);
	recent_deinit(&r);
}

/* A storm of holds: each has a part beside its time, often below zero, in few words of room. */
static void parts_are_added_up(void **state)
{
	struct recent r = {.max = 8192};
	uint64_t expected[3] = {0}, sums[3] = {0}, high = 0;

	(void)state;
	for (uint64_t i = 0; i < 60000; i++) {
		uint64_t part = i % 4 ? 0 - i : i * 1000000;
		recent_add(&r, RECENT_WAIT, i % 3, 5);
		recent_add(&r, RECENT_PART, i % 3, part);
		expected[i % 3] += part;
	}
	assert_false(r.spilt);
	recent_tick(&r, 0, 1000 * MS);
	for (size_t i = recent_find(&r, 1000 * MS).first; i < r.open; i++) {
		uint64_t w = r.words[i];
		high = recent_kind(w) == RECENT_HIGH ? recent_value(w) << RECENT_VALUE_BITS : high;
		if (recent_kind(w) == RECENT_BLOCK)
			i += recent_value(w);
		if (recent_kind(w) == RECENT_PART)
			sums[recent_index(w)] += high | recent_value(w);
		high = recent_kind(w) == RECENT_HIGH ? high : 0;
	}
	for (int c = 0; c < 3; c++)
		assert_true(sums[c] == expected[c]);
	recent_deinit(&r);
}

/* An hour of ticks does not fill what a minute has room for. */
static void it_forgets(void **state)
{
	struct recent r = {.max = 1 << 20};

	(void)state;
	for (uint64_t tick = 0; tick < 3600; tick++) {
		for (unsigned i = 0; i < 50; i++)
			recent_add(&r, RECENT_WAIT, 1, 5);
		recent_tick(&r, tick * 1000 * MS, (tick + 1) * 1000 * MS);
	}
	assert_true(recent_bytes(&r) < 100000);
	assert_int_equal(recent_find(&r, 60000 * MS).begin_ns, 3540 * 1000 * MS);
	recent_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_window),
		cmocka_unit_test(they_survive_folding),
		cmocka_unit_test(they_are_shorter_without_room),
		cmocka_unit_test(they_may_be_blocks),
		cmocka_unit_test(it_is_said),
		cmocka_unit_test(parts_are_added_up),
		cmocka_unit_test(it_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
