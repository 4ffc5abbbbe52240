// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses, as a property: from a recording of tasks that wait, records are dropped at random places,
 * as full rings drop them. Whatever is then counted as sure must be in the whole recording, with
 * the same begin and end. A plan that fails is made smaller, and printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "losses.h"
#include "rig.h"

enum { SEEDS = 400 };

struct sure {
	uint64_t begin, end, addr;
	int tid;
};

struct waits {
	struct engine_watch watch;
	struct engine *engine;
	struct sure list[LOSSES_MOST];
	size_t n, doubtful;
};

/* The frames around a slow path, from it outwards: what waits within it has them as well. */
static uint32_t put_spin(uint64_t *ret, uint64_t lock, uint32_t outer)
{
	const uint64_t base = 0xffffffff81000000ull;

	ret[0] = base + 0x110 + lock;
	ret[1] = base + 0x210 + lock;
	ret[2] = base + 0x310 + outer; /* elsewhere in a slow path, or nobody's */
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

	synth_set_misc(s, WAITREC_TELLS_GAPS | (gap ? WAITREC_AFTER_GAP : 0));
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

/* What is missing since the CPU's record before, and of that what was not left out in pairs. */
struct missing {
	uint32_t all[LOSSES_CPUS], gone[LOSSES_CPUS];
	bool said[LOSSES_CPUS];
};

static void tell_one(struct synth *s, const struct losses_record *r, const struct losses_plan *p,
		     struct missing *m)
{
	uint32_t cpu = r->cpu;

	if (p->how == BY_BPF) {
		tell_by_bpf(s, r, m->gone[cpu], &m->all[cpu]);
	} else {
		if (m->all[cpu])
			synth_lost(s, cpu, r->time, m->all[cpu]);
		m->all[cpu] = 0;
		tell_plainly(s, r);
	}
	m->gone[cpu] = 0;
	m->said[cpu] = false;
}

/* Who looks at a ring sees that it had no room, though nothing in it says so yet. */
static void tell_silence(struct synth *s, const struct losses_plan *p, uint64_t time,
			 struct missing *m)
{
	for (uint32_t cpu = 0; p->how != BY_FILE && cpu < LOSSES_CPUS; cpu++) {
		if (m->gone[cpu] && !m->said[cpu])
			synth_lost(s, cpu, time, 0);
		m->said[cpu] |= m->gone[cpu] != 0;
	}
}

/* What no record has told: of rings of our own by CPU, of perf's by the counts of its events. */
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
	if (p->how != BY_BPF)
		synth_lost_samples(s, LOSSES_CPUS, 0, sum);
}

/* All that is not dropped, as a source tells it that looks at the rings now and then. */
static void tell(struct synth *s, struct losses_history *h, const struct losses_plan *p)
{
	struct missing m = {0};
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
		if (looked)
			synth_round(s, looked);
		else
			synth_flush(s);
		looked = r->time;
	}
	uint64_t end = h->r[h->n - 1].time;
	tell_the_rest(s, h, p, end, &m);
	synth_tick(s, end);
}

static int note(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct waits *w = (struct waits *)watch;
	const struct model *m = &w->engine->model;
	const struct wait *wait = &m->waits.waits[m->last_wait];

	(void)err;
	if (ev->kind != EVENT_CONTENTION_END || !m->last_wait)
		return 0;
	if (wait->doubtful) {
		w->doubtful++;
		return 0;
	}
	w->list[w->n++] =
		(struct sure){wait->begin_ns, ev->time, wait->addr, m->tasks.tasks[wait->task].tid};
	return 0;
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

	*ret = (struct waits){.watch.event = note, .engine = &r.engine};
	rig_init(&r, LOSSES_CPUS + 1);
	synth_outputs(r.synth);
	tell(r.synth, h, p);
	r.playing = true;
	struct error err = {0};
	assert_int_equal(engine_init(&r.engine, synth_source(r.synth), NULL, &err), 0);
	r.engine.watch = &ret->watch;
	int e;
	while ((e = engine_pump(&r.engine, 0, &err)) != ENGINE_END)
		assert_true(e >= 0);
	const struct model *m = &r.engine.model;
	assert_int_equal(m->damage.late + m->damage.bad + m->damage.deep, 0);
	uint64_t lost = 0;
	for (uint32_t cpu = 0; cpu < LOSSES_CPUS; cpu++) {
		uint64_t told = cpu < m->n_cpus ? m->cpus[cpu].lost : 0;
		assert_true(told == h->lost[cpu] || (p->how != BY_BPF && told < h->lost[cpu]));
		lost += h->lost[cpu];
	}
	assert_int_equal(m->damage.lost, lost);
	rig_deinit(&r);
	qsort(ret->list, ret->n, sizeof(ret->list[0]), by_begin);
}

struct outcome {
	size_t sure, doubtful, all;
	struct sure lie; /* begin 0: there is none */
};

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

static void check(enum losses_how how)
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
	}
	printf("%zu waits: %zu sure, %zu doubtful\n", sum.all, sum.sure, sum.doubtful);
	assert_true(sum.sure > sum.all / 4 && sum.doubtful > sum.all / 20);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sure_with_full_rings_of_perf_has_happened),
		cmocka_unit_test(what_is_sure_with_full_rings_of_bpf_has_happened),
		cmocka_unit_test(what_is_sure_in_a_file_of_full_rings_has_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
