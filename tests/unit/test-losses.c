// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses, as a property: from a recording of tasks that wait, records are dropped at random places,
 * as full rings drop them. Whatever is then counted as sure must be in the whole recording, with
 * the same begin and end. A plan that fails is made smaller, and printed.
 *
 * The recording is one that could be: a task waits for one sleeping lock at a time, a mutex begins
 * several times, who spins does nothing else and stays on its CPU, interrupts spin on top. There
 * are few locks, so that an end whose begin is missing finds another begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rig.h"

enum {
	CPUS = 3,
	TASKS = 8,
	LOCKS = 3,
	MOST = 2000, /* events */
	DEPTH = 2,   /* spin waits on a CPU */
	STEP = 40,   /* events between two looks at the rings */
	GAPS = 256,
	SEEDS = 400,
};

struct record_of {
	uint64_t time, lock;
	uint32_t cpu, flags;
	uint32_t outer, under; /* 1 + the lock slept and spun for meanwhile */
	int tid;
	bool begins, dropped;
	uint32_t paired; /* of a spin wait that an interrupt begins: where it ends, else 0 */
};

struct plan {
	uint32_t seed, events;
	bool by_bpf;		     /* else as perf tells it */
	uint64_t without[GAPS / 64]; /* gaps that are not made */
};

struct sure {
	uint64_t begin, end, addr;
	int tid;
};

struct waits {
	struct engine_watch watch;
	struct engine *engine;
	struct sure list[MOST];
	size_t n, doubtful;
};

struct history {
	struct record_of r[MOST];
	size_t n;
	uint64_t lost[CPUS]; /* and told so */
};

struct world {
	uint32_t seed;
	uint64_t t;
	int waits[TASKS]; /* 1 + the lock, 0: for none */
	int spins[CPUS][DEPTH], depth[CPUS], spinner[CPUS];
	size_t begun[CPUS][DEPTH];
};

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static bool is_mutex(int lock)
{
	return lock % 2;
}

static uint64_t address(int lock, bool spin)
{
	return (spin ? 0xffff888000001000ull : 0xffff888000000000ull) + (uint64_t)lock * 64;
}

static struct record_of *add(struct history *h, struct world *w, uint32_t cpu, int task)
{
	w->t += 1 + rnd(&w->seed, 2000);
	h->r[h->n] = (struct record_of){.time = w->t, .cpu = cpu, .tid = 100 + task};
	return &h->r[h->n++];
}

static void spin_begins(struct history *h, struct world *w, uint32_t cpu, int task)
{
	int lock = (int)rnd(&w->seed, LOCKS), depth = w->depth[cpu];

	/* What an interrupt asks for is nobody's that it interrupts. */
	if (depth && lock == w->spins[cpu][0])
		return;
	w->begun[cpu][depth] = h->n;
	struct record_of *r = add(h, w, cpu, task);
	r->lock = address(lock, true);
	r->flags = LCB_F_SPIN;
	r->begins = true;
	r->outer = (uint32_t)w->waits[task];
	r->under = depth ? 1 + (uint32_t)w->spins[cpu][0] : 0;
	w->spins[cpu][w->depth[cpu]++] = lock;
	w->spinner[cpu] = task;
}

static void spin_goes_on(struct history *h, struct world *w, uint32_t cpu)
{
	if (w->depth[cpu] < DEPTH && !rnd(&w->seed, 4)) {
		spin_begins(h, w, cpu, w->spinner[cpu]);
		return;
	}
	int depth = --w->depth[cpu];
	if (depth)
		h->r[w->begun[cpu][depth]].paired = (uint32_t)h->n;
	add(h, w, cpu, w->spinner[cpu])->lock = address(w->spins[cpu][depth], true);
}

static void wait_goes_on(struct history *h, struct world *w, uint32_t cpu, int task)
{
	int lock = w->waits[task] - 1;
	bool first = lock < 0, ends = !first && rnd(&w->seed, 2);

	if (first)
		lock = (int)rnd(&w->seed, LOCKS);
	else if (!ends && !is_mutex(lock))
		return;
	struct record_of *r = add(h, w, cpu, task);
	r->lock = address(lock, false);
	r->begins = !ends;
	r->flags = is_mutex(lock) ? LCB_F_MUTEX : LCB_F_WRITE;
	if (is_mutex(lock) && (first || rnd(&w->seed, 2)))
		r->flags |= LCB_F_SPIN;
	w->waits[task] = ends ? 0 : lock + 1;
}

static bool is_spinning(const struct world *w, int task)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (w->depth[cpu] && w->spinner[cpu] == task)
			return true;
	return false;
}

static void make_history(struct history *h, const struct plan *p)
{
	struct world w = {.seed = p->seed, .t = 1000000};

	*h = (struct history){0};
	while (h->n < p->events) {
		uint32_t cpu = rnd(&w.seed, CPUS);
		int task = (int)rnd(&w.seed, TASKS);

		if (w.depth[cpu])
			spin_goes_on(h, &w, cpu);
		else if (is_spinning(&w, task))
			continue;
		else if (!rnd(&w.seed, 4))
			spin_begins(h, &w, cpu, task);
		else
			wait_goes_on(h, &w, cpu, task);
	}
}

static size_t look_after(size_t i)
{
	return (i / STEP + 1) * STEP;
}

/* Does @cpu tell of anything between this look and the next one, so that a loss is told in time? */
static bool tells_soon(const struct history *h, uint32_t cpu, size_t from)
{
	for (size_t i = from; i < h->n && i < from + STEP; i++)
		if (h->r[i].cpu == cpu)
			return true;
	return false;
}

/* A ring is full from somewhere on until it is looked at. Its first record then tells so. */
static void make_gap(struct history *h, uint32_t cpu, size_t from, uint32_t *seed)
{
	size_t to = look_after(from), first = from;

	while (first < to && first < h->n && h->r[first].cpu != cpu)
		first++;
	size_t at = first + 1 + rnd(seed, STEP / 2);
	if (!tells_soon(h, cpu, to))
		return;
	for (size_t i = at; i < to && i < h->n; i++) {
		if (h->r[i].cpu != cpu)
			continue;
		h->r[i].dropped = true;
		h->lost[cpu]++;
	}
}

static void make_gaps(struct history *h, const struct plan *p)
{
	uint32_t seed = p->seed ^ 0x5bd1e995;
	size_t gap = 0;

	for (size_t from = 0; from < h->n; from += STEP) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++, gap++) {
			uint32_t place = rnd(&seed, 1u << 20);
			bool without = gap >= GAPS || p->without[gap / 64] >> gap % 64 & 1;
			if (rnd(&seed, 3) == 0 && !without)
				make_gap(h, cpu, from, &place);
		}
	}
}

/* What an interrupt spins for while the program runs is not told: neither its begin nor its end. */
static void miss_pairs(struct history *h, uint32_t seed)
{
	for (size_t i = 0; i < h->n; i++) {
		struct record_of *begin = &h->r[i], *end = &h->r[begin->paired];
		if (!begin->paired || begin->dropped || end->dropped || rnd(&seed, 3))
			continue;
		begin->dropped = end->dropped = true;
		h->lost[begin->cpu] += 2;
	}
}

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

static uint32_t chain_of(const struct record_of *r, uint64_t *ret)
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

static void tell_plainly(struct synth *s, const struct record_of *r)
{
	uint64_t frames[8];

	if (r->begins)
		synth_begin(s, r->cpu, r->time, 100, r->tid, r->lock, r->flags, frames,
			    chain_of(r, frames));
	else
		synth_end(s, r->cpu, r->time, 100, r->tid, r->lock, 0);
}

static void tell_by_bpf(struct synth *s, const struct record_of *r, bool gap, uint32_t *missed)
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

/* All that is not dropped, as a source tells it that looks at the rings now and then. */
static void tell(struct synth *s, struct history *h, const struct plan *p)
{
	uint32_t missed[CPUS] = {0}, gone[CPUS] = {0};
	uint64_t looked = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct record_of *r = &h->r[i];
		if (r->dropped) {
			missed[r->cpu]++;
			gone[r->cpu] += !r->begins || !r->paired || !h->r[r->paired].dropped;
		} else {
			if (!p->by_bpf && missed[r->cpu])
				synth_lost(s, r->cpu, r->time, missed[r->cpu]);
			if (!p->by_bpf)
				missed[r->cpu] = 0;
			if (p->by_bpf)
				tell_by_bpf(s, r, gone[r->cpu], &missed[r->cpu]);
			else
				tell_plainly(s, r);
			gone[r->cpu] = 0;
		}
		if (i + 1 < look_after(i) || i + 1 == h->n)
			continue;
		if (looked)
			synth_round(s, looked);
		else
			synth_flush(s);
		looked = r->time;
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		h->lost[cpu] -= missed[cpu];
	synth_tick(s, h->r[h->n - 1].time);
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

static void play(struct history *h, const struct plan *p, struct waits *ret)
{
	struct rig r;

	*ret = (struct waits){.watch.event = note, .engine = &r.engine};
	rig_init(&r, CPUS);
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
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(cpu < m->n_cpus ? m->cpus[cpu].lost : 0, h->lost[cpu]);
	rig_deinit(&r);
	qsort(ret->list, ret->n, sizeof(ret->list[0]), by_begin);
}

struct outcome {
	size_t sure, doubtful, all;
	struct sure lie; /* begin 0: there is none */
};

static struct outcome try(const struct plan *p)
{
	static struct history h;
	static struct waits whole, lossy;

	make_history(&h, p);
	play(&h, p, &whole);
	make_gaps(&h, p);
	if (p->by_bpf)
		miss_pairs(&h, p->seed);
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
static void shrink(struct plan *p)
{
	for (uint32_t less = p->events / 2; less; less /= 2) {
		struct plan q = *p;
		while (q.events > less && (q.events -= less) && try(&q).lie.begin)
			*p = q;
	}
	for (size_t gap = 0; gap < GAPS; gap++) {
		struct plan q = *p;
		q.without[gap / 64] |= 1ull << gap % 64;
		if (try(&q).lie.begin)
			*p = q;
	}
}

static void print(const struct plan *p, const struct sure *lie)
{
	static struct history h;

	make_history(&h, p);
	make_gaps(&h, p);
	printf("seed %u, %u events: %d never waited for %llx from %llu to %llu\n", p->seed,
	       p->events, lie->tid, (unsigned long long)lie->addr, (unsigned long long)lie->begin,
	       (unsigned long long)lie->end);
	for (size_t i = 0; i < h.n; i++)
		printf("%8llu [%u] %d %s %llx %x%s\n", (unsigned long long)h.r[i].time, h.r[i].cpu,
		       h.r[i].tid, h.r[i].begins ? "begin" : "end", (unsigned long long)h.r[i].lock,
		       h.r[i].flags, h.r[i].dropped ? " dropped" : "");
}

static void check(bool by_bpf)
{
	struct outcome sum = {0};

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct plan p = {.seed = seed, .events = MOST, .by_bpf = by_bpf};
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
	check(false);
}

static void what_is_sure_with_full_rings_of_bpf_has_happened(void **state)
{
	(void)state;
	check(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sure_with_full_rings_of_perf_has_happened),
		cmocka_unit_test(what_is_sure_with_full_rings_of_bpf_has_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
