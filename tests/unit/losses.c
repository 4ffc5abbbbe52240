// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording of test-losses.c, and its missing records. It is a possible one: a task waits for
 * one sleeping lock at a time, a mutex begins several times, a task that spins does nothing else
 * and stays on its CPU, interrupts spin on top. There are few locks, so that an end whose begin is
 * missing finds another begin. CPUs fall silent for a while, and for good at the end, also where a
 * loss is the last that happened there.
 */
#include "losses.h"
#include "kontend/locktype.h"

enum {
	TASKS = 8,
	LOCKS = 3,
	DEPTH = 2,  /* spin waits on a CPU */
	QUIET = 90, /* events that some CPUs have no part in */
};

struct world {
	uint32_t seed, awake; /* CPUs, by bit */
	uint64_t t;
	int waits[TASKS]; /* 1 + the lock, 0: for none */
	int spins[LOSSES_CPUS][DEPTH], depth[LOSSES_CPUS], spinner[LOSSES_CPUS];
	size_t begun[LOSSES_CPUS][DEPTH];
};

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

bool losses_is_mutex(int lock)
{
	return lock % 2;
}

static uint64_t address(int lock, bool spin)
{
	return (spin ? 0xffff888000001000ull : 0xffff888000000000ull) + (uint64_t)lock * 64;
}

static struct losses_record *add_losses_record(struct losses_history *h, struct world *w,
					       uint32_t cpu, int task)
{
	w->t += 1 + rnd(&w->seed, 2000);
	h->r[h->n] = (struct losses_record){.time = w->t, .cpu = cpu, .tid = 100 + task};
	return &h->r[h->n++];
}

static void spin_begins(struct losses_history *h, struct world *w, uint32_t cpu, int task)
{
	int lock = (int)rnd(&w->seed, LOCKS), depth = w->depth[cpu];

	/* Waits of an interrupt are not those of the task that it interrupts. */
	if (depth && lock == w->spins[cpu][0])
		return;
	w->begun[cpu][depth] = h->n;
	struct losses_record *r = add_losses_record(h, w, cpu, task);
	r->lock = address(lock, true);
	r->flags = LCB_F_SPIN;
	r->begins = true;
	r->outer = (uint32_t)w->waits[task];
	r->under = depth ? 1 + (uint32_t)w->spins[cpu][0] : 0;
	w->spins[cpu][w->depth[cpu]++] = lock;
	w->spinner[cpu] = task;
}

static void spin_goes_on(struct losses_history *h, struct world *w, uint32_t cpu)
{
	if (w->depth[cpu] < DEPTH && !rnd(&w->seed, 4)) {
		spin_begins(h, w, cpu, w->spinner[cpu]);
		return;
	}
	int depth = --w->depth[cpu];
	if (depth)
		h->r[w->begun[cpu][depth]].paired = (uint32_t)h->n;
	add_losses_record(h, w, cpu, w->spinner[cpu])->lock = address(w->spins[cpu][depth], true);
}

static void wait_goes_on(struct losses_history *h, struct world *w, uint32_t cpu, int task)
{
	int lock = w->waits[task] - 1;
	bool first = lock < 0, ends = !first && rnd(&w->seed, 2);

	if (first)
		lock = (int)rnd(&w->seed, LOCKS);
	else if (!ends && !losses_is_mutex(lock))
		return;
	struct losses_record *r = add_losses_record(h, w, cpu, task);
	r->lock = address(lock, false);
	r->begins = !ends;
	r->flags = losses_is_mutex(lock) ? LCB_F_MUTEX : LCB_F_WRITE;
	if (losses_is_mutex(lock) && (first || rnd(&w->seed, 2)))
		r->flags |= LCB_F_SPIN;
	w->waits[task] = ends ? 0 : lock + 1;
}

static bool is_spinning(const struct world *w, int task)
{
	for (int cpu = 0; cpu < LOSSES_CPUS; cpu++)
		if (w->depth[cpu] && w->spinner[cpu] == task)
			return true;
	return false;
}

void losses_make(struct losses_history *h, const struct losses_plan *p)
{
	struct world w = {.seed = p->seed, .t = 1000000};

	*h = (struct losses_history){0};
	for (size_t i = 0; h->n < p->events; i++) {
		if (i % QUIET == 0)
			w.awake = 1 + rnd(&w.seed, (1u << LOSSES_CPUS) - 1);
		uint32_t cpu = rnd(&w.seed, LOSSES_CPUS);
		int task = (int)rnd(&w.seed, TASKS);

		if (!(w.awake >> cpu & 1))
			continue;
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

size_t losses_look_after(size_t i)
{
	return (i / LOSSES_STEP + 1) * LOSSES_STEP;
}

/* Does @cpu write a record before the next look, so that a loss is reported in time? */
static bool tells_soon(const struct losses_history *h, uint32_t cpu, size_t from)
{
	for (size_t i = from; i < h->n && i < from + LOSSES_STEP; i++)
		if (h->r[i].cpu == cpu)
			return true;
	return from + LOSSES_STEP >= h->n;
}

/* A ring is full from somewhere on until it is looked at. */
static void make_gap(struct losses_history *h, const struct losses_plan *p, uint32_t cpu,
		     size_t from, uint32_t *seed)
{
	size_t to = losses_look_after(from), first = from;

	while (first < to && first < h->n && h->r[first].cpu != cpu)
		first++;
	size_t at = first + 1 + rnd(seed, LOSSES_STEP / 2);
	/* A file reports a loss with the ring's next record, or at its end. */
	if (p->how == BY_FILE && !tells_soon(h, cpu, to))
		return;
	for (size_t i = at; i < to && i < h->n; i++) {
		if (h->r[i].cpu != cpu)
			continue;
		h->r[i].dropped = true;
		h->lost[cpu]++;
	}
}

void losses_gaps(struct losses_history *h, const struct losses_plan *p)
{
	uint32_t seed = p->seed ^ 0x5bd1e995;
	size_t gap = 0;

	for (size_t from = 0; from < h->n; from += LOSSES_STEP) {
		for (uint32_t cpu = 0; cpu < LOSSES_CPUS; cpu++, gap++) {
			uint32_t place = rnd(&seed, 1u << 20);
			bool without = gap >= LOSSES_GAPS || p->without[gap / 64] >> gap % 64 & 1;
			if (rnd(&seed, p->seed % 4 ? 3 : 150) == 0 && !without)
				make_gap(h, p, cpu, from, &place);
		}
	}
}

void losses_pairs(struct losses_history *h, uint32_t seed)
{
	for (size_t i = 0; i < h->n; i++) {
		struct losses_record *begin = &h->r[i], *end = &h->r[begin->paired];
		if (!begin->paired || begin->dropped || end->dropped || rnd(&seed, 3))
			continue;
		begin->dropped = end->dropped = true;
		h->lost[begin->cpu] += 2;
	}
}
