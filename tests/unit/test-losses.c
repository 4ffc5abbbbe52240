// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses, as a property: from a recording of tasks that wait, records are dropped at random places,
 * as full rings drop them. Whatever is then counted as sure must be in the whole recording, with
 * the same begin and end. A plan that fails is made smaller, and printed. And figures are lower
 * bounds: never more than the truth; a bucket has less only where it is marked so, and sums since
 * some tick are not less by more than their reported error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kontend/damage.h"
#include "kontend/loss.h"
#include "kontend/model-cpu.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "losses.h"
#include "rig.h"

enum { SEEDS = 400, LOOKS_A_TICK = 5, TICKS = LOSSES_MOST / LOSSES_STEP };

struct sure {
	uint64_t begin, end, addr;
	int tid;
};

/* Figures at a tick, and how much may be missing. */
struct said {
	uint64_t from, to, n;
	struct loss loss;
};

struct waits {
	struct engine_watch watch;
	struct engine *engine;
	struct sure list[LOSSES_MOST];
	size_t n, doubtful;
	struct said bucket[TICKS], sums[TICKS];
	size_t n_ticks;
};

/* The frames around a slow path, from it outwards: what waits within it has them as well. */
static uint32_t put_spin(uint64_t *ret, uint64_t lock, uint32_t outer)
{
	const uint64_t base = 0xffffffff81000000ull;

	ret[0] = base + 0x110 + lock;
	ret[1] = base + 0x210 + lock;
	ret[2] = base + 0x310 + outer; /* elsewhere in a slow path, or in no function */
	if (!outer)
		return 3;
	ret[3] = base + 0x510 + outer;
	ret[4] = base + 0x610 + outer;
	return 5;
}

static uint32_t chain_of(const struct losses_record *r, uint64_t *ret)
{
	const uint64_t base = 0xffffffff81000000ull;
	uint64_t lock = (r->lock & 0xff) / 64;
	uint32_t n = 0;

	if (r->flags == LCB_F_SPIN) {
		ret[n++] = base + 0x10;
		if (r->under) {
			ret[n++] = base + 0x710 + lock; /* the interrupt */
			ret[n++] = base + 0x18;
			lock = r->under - 1;
		}
		return n + put_spin(ret + n, lock, r->outer);
	}
	ret[n++] = base + 0x410 + lock + (r->flags & LCB_F_SPIN);
	ret[n++] = base + 0x511 + lock;
	ret[n++] = base + 0x611 + lock;
	return n;
}

static void tell_plainly(struct synth *s, const struct losses_record *r)
{
	uint64_t frames[8];

	if (r->begins)
		synth_begin(s, r->cpu, r->time, 100, r->tid, r->lock, r->flags, frames,
			    chain_of(r, frames));
	else
		synth_end(s, r->cpu, r->time, 100, r->tid, r->lock, 0);
}

static void tell_by_bpf(struct synth *s, const struct losses_record *r, bool gap, uint32_t *missed)
{
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC, .lock = r->lock};
	struct waitrec_end e = {.magic = WAITREC_END_MAGIC, .lock = r->lock, .tid = r->tid};

	synth_set_misc(s, WAITREC_REPORTS_GAPS | (gap ? WAITREC_AFTER_GAP : 0));
	if (!r->begins) {
		synth_wait_end(s, r->cpu, r->time, 100, r->tid, &e);
		return;
	}
	b.flags = r->flags;
	b.tid = r->tid;
	b.missed = *missed;
	uint64_t frames[8];
	b.n_frames = chain_of(r, frames);
	for (uint32_t i = 0; i < b.n_frames; i++)
		b.frames[i] = frames[i];
	*missed = 0;
	synth_wait_begin(s, r->cpu, r->time, 100, r->tid, &b);
}

/* Records missing since the CPU's record before, and how many of them were not dropped in pairs. */
struct missing {
	uint32_t all[LOSSES_CPUS], gone[LOSSES_CPUS];
	bool said[LOSSES_CPUS];
};

/* For events that are missing it is unknown how often they would have happened. */
static bool is_counted(const struct losses_plan *p)
{
	return p->how != BY_REOPENING && p->how != BY_ROUNDS;
}

static void tell_one(struct synth *s, const struct losses_record *r, const struct losses_plan *p,
		     struct missing *m)
{
	uint32_t cpu = r->cpu;

	if (p->how == BY_BPF) {
		tell_by_bpf(s, r, m->gone[cpu], &m->all[cpu]);
	} else {
		if (m->all[cpu] && is_counted(p))
			synth_lost(s, cpu, r->time, m->all[cpu]);
		m->all[cpu] = 0;
		tell_plainly(s, r);
	}
	m->gone[cpu] = 0;
	m->said[cpu] = false;
}

static void report_gap(struct synth *s, const struct losses_plan *p, uint32_t cpu, uint64_t time)
{
	struct record_cpu back = {cpu,
				  p->how == BY_ROUNDS ? RECORD_CPU_ONLINE : RECORD_CPU_REPORTED};

	if (p->how != BY_ROUNDS)
		synth_lost(s, cpu, time, 0);
	if (!is_counted(p))
		synth_record(s, RECORD_CPU, cpu, &back, sizeof(back));
}

/* A look at a ring shows that it had no room, though no record in it reports that yet. */
static void tell_silence(struct synth *s, const struct losses_plan *p, uint64_t time,
			 struct missing *m)
{
	for (uint32_t cpu = 0; p->how != BY_FILE && cpu < LOSSES_CPUS; cpu++) {
		if (m->gone[cpu] && !m->said[cpu])
			report_gap(s, p, cpu, time);
		m->said[cpu] |= m->gone[cpu] != 0;
	}
}

/* Losses without a record: of rings of our own by CPU, of perf's by the counts of its events. */
static void tell_the_rest(struct synth *s, const struct losses_history *h,
			  const struct losses_plan *p, uint64_t time, struct missing *m)
{
	uint64_t sum = 0;

	tell_silence(s, p, time, m);
	for (uint32_t cpu = 0; cpu < LOSSES_CPUS; cpu++) {
		sum += h->lost[cpu];
		if (p->how == BY_BPF && m->all[cpu])
			synth_lost(s, cpu, 1, m->all[cpu]);
	}
	if (p->how == BY_PERF || p->how == BY_FILE)
		synth_lost_samples(s, LOSSES_CPUS, 0, sum);
}

/* All records not dropped, from a source that polls the rings now and then. */
static void report_losses(struct synth *s, struct losses_history *h, const struct losses_plan *p)
{
	struct missing m = {0};
	size_t looks = 0;
	uint64_t looked = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct losses_record *r = &h->r[i];
		if (r->dropped) {
			m.all[r->cpu]++;
			m.gone[r->cpu] += !r->begins || !r->paired || !h->r[r->paired].dropped;
		} else {
			tell_one(s, r, p, &m);
		}
		if (i + 1 < losses_look_after(i) || i + 1 == h->n)
			continue;
		tell_silence(s, p, r->time, &m);
		if (looked && ++looks % LOOKS_A_TICK == 0)
			synth_tick(s, looked);
		else if (looked)
			synth_round(s, looked);
		else
			synth_flush(s);
		looked = r->time;
	}
	uint64_t end = h->r[h->n - 1].time;
	tell_the_rest(s, h, p, end, &m);
	synth_tick(s, end);
}

static int note_event(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct waits *w = (struct waits *)watch;
	const struct model *m = w->engine->model;
	const struct wait *wait = &m->waits->waits[m->last_wait];

	(void)err;
	if (ev->kind != EVENT_CONTENTION_END || !m->last_wait)
		return 0;
	if (wait->doubtful) {
		w->doubtful++;
		return 0;
	}
	w->list[w->n++] = (struct sure){wait->begin_ns, ev->time, wait->addr,
					m->tasks->tasks[wait->task].tid};
	return 0;
}

static struct said sums_of(const struct model *m)
{
	struct said s = {.from = m->zero_ns, .to = m->now_ns, .loss = loss_of_sums(m)};

	for (int i = 0; i < LOCK_TYPES; i++)
		s.n += m->types[i].contended;
	return s;
}

/* The sums begin again at one of the ticks, or never. */
static void note_tick(struct model *m, const struct losses_plan *p, struct waits *w)
{
	w->sums[w->n_ticks] = sums_of(m);
	w->bucket[w->n_ticks++] = (struct said){.from = m->now_ns - m->rate_ns,
						.to = m->now_ns,
						.n = m->rate_n,
						.loss = m->loss->closed};
	if (w->n_ticks == p->seed % 16)
		model_zero(m);
}

static int by_begin(const void *a, const void *b)
{
	const struct sure *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return 0;
}

static void play(struct losses_history *h, const struct losses_plan *p, struct waits *ret)
{
	struct rig r;

	*ret = (struct waits){.watch.event = note_event, .engine = &r.engine};
	rig_init(&r, LOSSES_CPUS + 1);
	synth_outputs(r.synth);
	report_losses(r.synth, h, p);
	r.playing = true;
	struct error err = {0};
	assert_int_equal(engine_init(&r.engine, synth_source(r.synth), NULL, &err), 0);
	r.engine.watch = &ret->watch;
	int e;
	while ((e = engine_pump(&r.engine, 0, &err)) != ENGINE_END) {
		assert_true(e >= 0);
		if (e == ENGINE_TICK)
			note_tick(r.engine.model, p, ret);
	}
	const struct model *m = r.engine.model;
	assert_int_equal(m->damage->late + m->damage->bad + m->damage->deep, 0);
	uint64_t lost = 0;
	for (uint32_t cpu = 0; cpu < LOSSES_CPUS; cpu++) {
		uint64_t reported = cpu < m->n_cpus ? m->cpus[cpu].lost : 0;
		assert_true(reported == h->lost[cpu] ||
			    (p->how != BY_BPF && reported < h->lost[cpu]));
		lost += h->lost[cpu];
	}
	assert_int_equal(m->damage->lost, is_counted(p) ? lost : 0);
	rig_deinit(&r);
	qsort(ret->list, ret->n, sizeof(ret->list[0]), by_begin);
}

struct outcome {
	size_t sure, doubtful, all, missing, missing_most, partial, ticks;
	struct sure lie; /* begin 0: there is none */
};

/* How many waits ended later than @from and not later than @to. */
static uint64_t ended(const struct waits *w, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->list[i].end > from && w->list[i].end <= to;
	return n;
}

static void check_buckets(const struct waits *whole, const struct waits *lossy, struct outcome *o)
{
	assert_int_equal(lossy->n_ticks, whole->n_ticks);
	for (size_t i = 0; i < lossy->n_ticks; i++) {
		const struct said *b = &lossy->bucket[i];
		uint64_t truth = ended(whole, b->from, b->to);
		assert_int_equal(whole->bucket[i].n, truth);
		assert_false(loss_any(&whole->bucket[i].loss));
		assert_true(b->n <= truth);
		assert_true(b->n == truth || loss_any(&b->loss));
		o->partial += loss_any(&b->loss);
		o->ticks++;
	}
}

/* In between it may not be known yet how many were lost; in the end it is. */
static void check_sums(const struct waits *whole, const struct waits *lossy,
		       const struct losses_plan *p, struct outcome *o)
{
	for (size_t i = 0; i < lossy->n_ticks; i++) {
		const struct said *s = &lossy->sums[i];
		uint64_t truth = ended(whole, s->from, s->to), missing;
		bool counted = loss_waits(&s->loss, &missing);
		assert_int_equal(whole->sums[i].n, truth);
		assert_false(loss_any(&whole->sums[i].loss));
		assert_true(s->n <= truth);
		assert_true(s->n == truth || loss_any(&s->loss));
		assert_true(!counted || truth <= s->n + missing);
		assert_true(counted || i + 1 < lossy->n_ticks || !is_counted(p));
		o->missing = truth - s->n;
		o->missing_most = missing;
	}
}

static struct outcome try(const struct losses_plan *p)
{
	static struct losses_history h;
	static struct waits whole, lossy;

	losses_make(&h, p);
	play(&h, p, &whole);
	losses_gaps(&h, p);
	if (p->how == BY_BPF)
		losses_pairs(&h, p->seed);
	play(&h, p, &lossy);
	struct outcome o = {.sure = lossy.n, .doubtful = lossy.doubtful, .all = whole.n};
	assert_int_equal(whole.doubtful, 0);
	check_buckets(&whole, &lossy, &o);
	check_sums(&whole, &lossy, p, &o);
	for (size_t i = 0; i < lossy.n && !o.lie.begin; i++) {
		const struct sure *s = &lossy.list[i];
		const struct sure *w = bsearch(s, whole.list, whole.n, sizeof(*s), by_begin);
		if (!w || w->end != s->end || w->addr != s->addr || w->tid != s->tid)
			o.lie = *s;
	}
	return o;
}

/* The same fault with fewer events and gaps. */
static void shrink(struct losses_plan *p)
{
	for (uint32_t less = p->events / 2; less; less /= 2) {
		struct losses_plan q = *p;
		while (q.events > less && (q.events -= less) && try(&q).lie.begin)
			*p = q;
	}
	for (size_t gap = 0; gap < LOSSES_GAPS; gap++) {
		struct losses_plan q = *p;
		q.without[gap / 64] |= 1ull << gap % 64;
		if (try(&q).lie.begin)
			*p = q;
	}
}

static void print(const struct losses_plan *p, const struct sure *lie)
{
	static struct losses_history h;

	losses_make(&h, p);
	losses_gaps(&h, p);
	printf("seed %u, %u events: %d never waited for %llx from %llu to %llu\n", p->seed,
	       p->events, lie->tid, (unsigned long long)lie->addr, (unsigned long long)lie->begin,
	       (unsigned long long)lie->end);
	for (size_t i = 0; i < h.n; i++)
		printf("%8llu [%u] %d %s %llx %x%s\n", (unsigned long long)h.r[i].time, h.r[i].cpu,
		       h.r[i].tid, h.r[i].begins ? "begin" : "end", (unsigned long long)h.r[i].lock,
		       h.r[i].flags, h.r[i].dropped ? " dropped" : "");
}

static struct outcome check(enum losses_how how)
{
	struct outcome sum = {0};

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct losses_plan p = {.seed = seed, .events = LOSSES_MOST, .how = how};
		struct outcome o = try(&p);
		if (o.lie.begin) {
			shrink(&p);
			o = try(&p);
			print(&p, &o.lie);
			fail();
		}
		sum.sure += o.sure;
		sum.doubtful += o.doubtful;
		sum.all += o.all;
		sum.missing += o.missing;
		sum.missing_most += o.missing_most;
		sum.partial += o.partial;
		sum.ticks += o.ticks;
	}
	printf("%zu waits: %zu sure, %zu doubtful\n", sum.all, sum.sure, sum.doubtful);
	printf("%zu missing of at most %zu; %zu of %zu buckets at least\n", sum.missing,
	       sum.missing_most, sum.partial, sum.ticks);
	assert_true(sum.sure > sum.all / (how == BY_ROUNDS ? 20 : 4));
	assert_true(sum.doubtful > sum.all / 20);
	return sum;
}

static void what_is_sure_with_full_rings_of_perf_has_happened(void **state)
{
	(void)state;
	check(BY_PERF);
}

static void what_is_sure_with_full_rings_of_bpf_has_happened(void **state)
{
	(void)state;
	check(BY_BPF);
}

static void what_is_sure_in_a_file_of_full_rings_has_happened(void **state)
{
	(void)state;
	check(BY_FILE);
}

/* No record has the time when a CPU came back, but its events show when they were there again. */
static void what_is_sure_when_cpus_come_back_has_happened(void **state)
{
	(void)state;
	struct outcome reported = check(BY_REOPENING), rounds = check(BY_ROUNDS);

	assert_true(reported.doubtful * 2 < rounds.doubtful && reported.sure > rounds.sure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sure_with_full_rings_of_perf_has_happened),
		cmocka_unit_test(what_is_sure_with_full_rings_of_bpf_has_happened),
		cmocka_unit_test(what_is_sure_in_a_file_of_full_rings_has_happened),
		cmocka_unit_test(what_is_sure_when_cpus_come_back_has_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
