// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs the events of mmap_locks by task and address space. A thread has few of these locks at a
 * time (two while it forks), so its open ones are an array that is searched. Nothing is paired on a
 * guess: an event that does not fit the open ones ends them, counted as unpaired, and begins again.
 * A lock is asked for once at most before it is got, so getting it again without a release means
 * that the release came from elsewhere; getting it for reading while having it for writing is a
 * downgrade, which the kernel reports in this way.
 */
#include "mmlock-int.h"
#include <errno.h>
#include <string.h>

static struct mmlock_open *find_open(struct mmlock_task *t, uint64_t mm)
{
	for (int i = 0; i < MMLOCK_OPEN; i++)
		if (t->open[i].state && t->open[i].mm == mm)
			return &t->open[i];
	return NULL;
}

/* Ends an open one without a known end. */
static void give_up(struct mmlocks *l, struct mmlock_open *o)
{
	if (o->state == MMLOCK_ASKED)
		l->asked_only++;
	else if (o->state == MMLOCK_HELD)
		l->held_only++;
	o->state = MMLOCK_FREE;
}

/* That of @mm, if nothing is missing since it was begun. */
static struct mmlock_open *find_known(struct mmlocks *l, struct mmlock_task *t, uint64_t mm)
{
	struct mmlock_open *o = find_open(t, mm);

	if (!o || o->since_ns >= l->lost_until)
		return o;
	give_up(l, o);
	return NULL;
}

/* A free entry; if all four are used, the oldest. */
static struct mmlock_open *free_open(struct mmlocks *l, struct mmlock_task *t)
{
	struct mmlock_open *oldest = &t->open[0];

	for (int i = 0; i < MMLOCK_OPEN; i++) {
		if (!t->open[i].state)
			return &t->open[i];
		if (t->open[i].since_ns < oldest->since_ns)
			oldest = &t->open[i];
	}
	give_up(l, oldest);
	return oldest;
}

static void set_state(struct mmlock_open *o, const struct event *ev, enum mmlock_state state)
{
	*o = (struct mmlock_open){.mm = ev->mm.mm,
				  .since_ns = ev->time,
				  .state = (uint8_t)state,
				  .write = ev->mm.write};
}

static void add_time(struct mmlocks *l, struct mmlock_times *t, uint64_t from, uint64_t to,
		     enum mmlock_end what)
{
	uint64_t ns = to > from ? to - from : 0;

	t->min_ns = !t->n || ns < t->min_ns ? ns : t->min_ns;
	t->max_ns = ns > t->max_ns ? ns : t->max_ns;
	t->n++;
	t->total_ns += ns;
	hist_pool_add(&l->hists, t->hist, ns);
	l->last_ns = ns;
	l->last_end = (uint8_t)what;
}

/* Counts a hold from the acquisition until now. */
static void end_hold(struct mmlocks *l, struct mmlock_mm *mm, const struct mmlock_open *o,
		     uint64_t now_ns)
{
	add_time(l, &mm->mode[o->write].hold, o->since_ns, now_ns, MMLOCK_ENDS_HOLD);
	l->last_write = o->write;
	l->last_stack = o->stack;
}

static void ask_for(struct mmlocks *l, struct mmlock_task *t, const struct event *ev)
{
	struct mmlock_open *o = find_known(l, t, ev->mm.mm);

	if (o)
		give_up(l, o);
	else
		o = free_open(l, t);
	set_state(o, ev, MMLOCK_ASKED);
}

static void fail(struct mmlock_mode *mode, struct mmlock_open *o)
{
	mode->failed++;
	if (o && o->state == MMLOCK_ASKED)
		o->state = MMLOCK_FREE;
}

/* A write lock becomes a read lock, which is got in the same place. */
static void downgrade(struct mmlocks *l, struct mmlock_mm *mm, struct mmlock_open *o,
		      const struct event *ev)
{
	uint32_t stack = o->stack;

	end_hold(l, mm, o, ev->time);
	l->downgraded++;
	set_state(o, ev, MMLOCK_HELD);
	o->stack = stack;
}

static void get_lock(struct mmlocks *l, struct mmlock_task *t, struct mmlock_mm *mm,
		     const struct event *ev, uint32_t stack)
{
	struct mmlock_open *o = find_known(l, t, ev->mm.mm);
	struct mmlock_mode *mode = &mm->mode[ev->mm.write];

	l->got++;
	if (!ev->mm.success) {
		fail(mode, o);
		return;
	}
	if (o && o->state == MMLOCK_HELD && o->write && !ev->mm.write) {
		downgrade(l, mm, o, ev);
		return;
	}
	if (o && o->state == MMLOCK_ASKED && o->write == ev->mm.write) {
		add_time(l, &mode->wait, o->since_ns, ev->time, MMLOCK_ENDS_WAIT);
	} else {
		l->tried++;
		if (o)
			give_up(l, o);
	}
	mode->acquired++;
	o = o ? o : free_open(l, t);
	set_state(o, ev, MMLOCK_HELD);
	o->stack = stack;
}

static void give_back(struct mmlocks *l, struct mmlock_task *t, struct mmlock_mm *mm,
		      const struct event *ev)
{
	struct mmlock_open *o = find_known(l, t, ev->mm.mm);

	if (!o || o->state != MMLOCK_HELD) {
		l->release_only++;
		return;
	}
	if (o->write != ev->mm.write) {
		l->release_only++;
		give_up(l, o);
		return;
	}
	end_hold(l, mm, o, ev->time);
	o->state = MMLOCK_FREE;
}

static struct mmlock_task *task_of(struct mmlocks *l, int32_t tid)
{
	const uint32_t *known = map64_get(&l->by_tid, (uint32_t)tid);

	if (known)
		return &l->tasks[*known];
	if (l->n_tasks == MMLOCK_TASKS ||
	    mem_grow(&l->tasks, &l->cap_tasks, l->n_tasks, sizeof(*l->tasks)) < 0 ||
	    map64_put(&l->by_tid, (uint32_t)tid, (uint32_t)l->n_tasks) < 0)
		return NULL;
	l->tasks[l->n_tasks] = (struct mmlock_task){.tid = tid};
	return &l->tasks[l->n_tasks++];
}

int mmlock_event(struct mmlocks *l, const struct event *ev, struct strpool *names, uint32_t stack)
{
	struct mmlock_task *t = task_of(l, ev->tid);
	struct mmlock_mm *mm = mmlock_mm_of(l, ev, names);

	l->n_events++;
	l->cur_n++;
	l->last_end = MMLOCK_ENDS_NOTHING;
	if (!t || !mm) {
		l->dropped++;
		return mm && l->n_tasks == MMLOCK_TASKS ? 0 : -ENOMEM;
	}
	if (ev->kind == EVENT_MM_START)
		ask_for(l, t, ev);
	else if (ev->kind == EVENT_MM_ACQUIRED)
		get_lock(l, t, mm, ev, stack);
	else
		give_back(l, t, mm, ev);
	return 0;
}

void mmlock_contended(struct mmlocks *l, int32_t tid, uint64_t addr)
{
	const uint32_t *known = map64_get(&l->by_tid, (uint32_t)tid);
	enum { FARTHEST = 4096 };

	for (int i = 0; known && i < MMLOCK_OPEN; i++) {
		const struct mmlock_open *o = &l->tasks[*known].open[i];
		if (o->state == MMLOCK_ASKED && addr > o->mm && addr - o->mm < FARTHEST)
			l->lock_offset = (uint32_t)(addr - o->mm);
	}
}

/* The last one takes the place of the one that is gone. */
static void forget_task(struct mmlocks *l, int32_t tid)
{
	const uint32_t *known = map64_get(&l->by_tid, (uint32_t)tid);

	if (!known)
		return;
	uint32_t at = *known;
	for (int i = 0; i < MMLOCK_OPEN; i++)
		give_up(l, &l->tasks[at].open[i]);
	map64_del(&l->by_tid, (uint32_t)tid);
	struct mmlock_task *last = &l->tasks[--l->n_tasks];
	if (at == l->n_tasks)
		return;
	uint32_t *moved = map64_get(&l->by_tid, (uint32_t)last->tid);
	l->tasks[at] = *last;
	if (moved)
		*moved = at;
}

void mmlock_exit(struct mmlocks *l, int32_t tid)
{
	if (l->n_events)
		forget_task(l, tid);
}

void mmlock_end(struct mmlocks *l, int32_t pid, const char *comm)
{
	if (l->n_events)
		mmlock_end_mm(l, pid, comm);
}

void mmlock_lost(struct mmlocks *l, uint64_t until_ns)
{
	if (until_ns > l->lost_until)
		l->lost_until = until_ns;
	for (size_t i = 0; i < l->n_tasks; i++)
		for (int k = 0; k < MMLOCK_OPEN; k++)
			give_up(l, &l->tasks[i].open[k]);
	map64_clear(&l->by_tid);
	l->n_tasks = 0;
}

/* Counts of each mode within the burst that ends. */
static void end_burst(struct mmlocks *l, double size)
{
	for (size_t i = 0; i < 2 * l->n; i++) {
		struct mmlock_mode *m = &l->mms[i / 2].mode[i % 2];
		double n = (double)(m->acquired - m->before);
		m->squares += n * n;
		m->products += n * size;
		m->before = m->acquired;
	}
	l->bursts++;
	l->size += size;
	l->sizes_squared += size * size;
}

void mmlock_how(struct mmlocks *l, const struct mmlevel_how *how, uint64_t zero_ns)
{
	uint64_t from = how->from_ns > zero_ns ? how->from_ns : zero_ns;

	*l->how = *how;
	l->how_known = true;
	/* Before the first one was counted bursts had nothing, and their sizes another unit. */
	if (how->counted && !l->counted)
		l->size = l->sizes_squared = 0;
	l->counted = how->counted - l->counts_before[0];
	l->counted_inside = how->counted_inside - l->counts_before[1];
	if (how->level != MMLEVEL_SAMPLED || !how->to_ns)
		return;
	l->seen_until = how->to_ns;
	if (how->to_ns == how->from_ns)
		return;
	l->seen_ns += how->to_ns > from ? how->to_ns - from : 0;
	end_burst(l, how->counted ? (double)(l->got - l->got_before)
				  : (double)(how->to_ns - how->from_ns));
	l->got_before = l->got;
	mmlock_lost(l, 0);
}

void mmlock_tick(struct mmlocks *l)
{
	l->rate_n = l->cur_n;
	l->cur_n = 0;
}
