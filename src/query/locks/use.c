// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks use a lock, and how evenly: for each task the time that it had the lock while others
 * waited, as blame has it, its waiting, and its CPU time by samples of the profile. All of it is
 * added up into one list of (lock, task), sorted, so that a table of many locks costs one walk, and
 * memory for the CPU time of all tasks once. Tasks that are not known by name are in no index.
 */
#include "../blame/rows.h"
#include "../group.h"
#include "../internal.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/profile.h"
#include "kontend/query-recorded.h"
#include "kontend/query-use.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "kontend/wait.h"

#include <errno.h>
#include <stdlib.h>

double query_use_jain(const uint64_t *ns, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += (double)ns[i];
		squares += (double)ns[i] * (double)ns[i];
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}

/* Both modes of a lock are one. */
static uint32_t whole(const struct model *m, uint32_t lock)
{
	uint32_t twin = m->locks->locks[lock].twin;

	return twin && twin < lock ? twin : lock;
}

struct use_list {
	struct query *q;
	uint32_t only; /* this lock; UINT32_MAX: all */
	struct query_use_task *v;
	size_t n;
};

static void add(struct use_list *l, uint32_t lock, const struct query_use_task *t)
{
	uint32_t of = whole(l->q->model, lock);

	if (lock < LOCK_TYPES || (l->only != UINT32_MAX && l->only != of))
		return;
	l->v[l->n] = *t;
	l->v[l->n++].lock = of;
}

static void add_charged(struct use_list *l, const struct query_blame_cells *cells)
{
	for (size_t i = 0; i < cells->n; i++) {
		const struct blame_cell *c = &cells->v[i];
		if (c->time_ns && c->key.state != BLAME_UNKNOWN)
			add(l, c->key.root_lock,
			    &(struct query_use_task){.task = c->key.task, .held_ns = c->time_ns});
	}
}

static void add_waits(struct use_list *l)
{
	const struct cell_table *cells = query_cells(l->q);
	const struct model *m = l->q->model;
	bool window = query_has_window(l->q);

	for (size_t i = 0; i < cells->n; i++) {
		const struct cell *c = &cells->cells[i];
		uint64_t ns = window ? c->rate_wait_ns : cell_sums(cells, c).waited_ns;
		if (c->task != TASK_OTHER && ns)
			add(l, c->lock, &(struct query_use_task){.task = c->task, .waited_ns = ns});
	}
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful && w->task != TASK_OTHER)
			add(l, w->lock,
			    &(struct query_use_task){.task = w->task,
						     .waited_ns = query_wait_ns(m, w)});
	}
}

static int compare(const void *a, const void *b)
{
	const struct query_use_task *x = a, *y = b;

	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static void merge(struct use_list *l)
{
	size_t n = 0;

	qsort(l->v, l->n, sizeof(*l->v), compare);
	for (size_t i = 0; i < l->n; i++) {
		if (!n || compare(&l->v[n - 1], &l->v[i])) {
			l->v[n++] = l->v[i];
			continue;
		}
		l->v[n - 1].held_ns += l->v[i].held_ns;
		l->v[n - 1].waited_ns += l->v[i].waited_ns;
	}
	l->n = n;
}

/* Are the samples a measure of CPU time? */
static bool is_of_time(const struct query *q)
{
	const struct eventlist_event *e = query_recorded_main(q);

	return e && e->is_time;
}

/* For all locks that are asked about, as there may be many, and many tasks. */
static int take_cpu(struct query *q, struct query_uses *u)
{
	const struct profile *p;
	uint64_t *cpu;

	if (!q->model->profile->samples || !is_of_time(q)) {
		u->no_cpu = q->model->profile->samples ? "the profile is not of CPU time"
						       : "no profile was taken";
		return 0;
	}
	p = query_recorded_profile(q, query_profile(q));
	cpu = p ? arena_alloc(&q->arena, q->model->tasks->n * sizeof(*cpu)) : NULL;
	if (p && !cpu)
		return -ENOMEM;
	for (size_t i = 0; p && i < p->n; i++)
		cpu[p->cells[i].task] += p->cells[i].period;
	u->cpu = cpu;
	return 0;
}

int query_use_all(struct query *q, uint32_t only, struct query_uses *ret)
{
	struct use_list l = {.q = q, .only = only == UINT32_MAX ? only : whole(q->model, only)};
	struct query_blame_cells charged;

	*ret = (struct query_uses){0};
	if (query_blame_why_not(q))
		return 0;
	if (query_blame_cells(q, &charged) < 0)
		return -ENOMEM;
	size_t most = charged.n + query_cells(q)->n + q->model->waits->high + 1;
	l.v = arena_alloc(&q->arena, most * sizeof(*l.v));
	if (!l.v)
		return -ENOMEM;
	add_charged(&l, &charged);
	add_waits(&l);
	merge(&l);
	ret->v = l.v;
	ret->n = l.n;
	if (take_cpu(q, ret) < 0)
		return -ENOMEM;
	return q->cache->failed ? -ENOMEM : 0;
}

static int most_held(const void *a, const void *b)
{
	const struct query_use_task *x = a, *y = b;

	if (x->held_ns != y->held_ns)
		return x->held_ns > y->held_ns ? -1 : 1;
	if (x->waited_ns != y->waited_ns)
		return x->waited_ns > y->waited_ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static void add_cpu(const struct query_uses *of, struct query_use *u)
{
	uint64_t all = 0;

	u->no_cpu = of->no_cpu;
	for (uint32_t i = 0; of->cpu && i < u->n; i++)
		all += of->cpu[u->v[i].task];
	if (!all && !u->no_cpu)
		u->no_cpu = "none of these tasks was sampled";
	for (uint32_t i = 0; all && i < u->n; i++)
		u->v[i].cpu_pct = 100 * (double)of->cpu[u->v[i].task] / (double)all;
	u->has_cpu = all != 0;
}

int query_use_of(struct query *q, const struct query_uses *all, uint32_t lock,
		 struct query_use *ret)
{
	uint32_t of = whole(q->model, lock);
	size_t first = 0, end;

	*ret = (struct query_use){0};
	for (size_t past = all->n; first < past;) {
		size_t middle = first + (past - first) / 2;
		if (all->v[middle].lock < of)
			first = middle + 1;
		else
			past = middle;
	}
	for (end = first; end < all->n && all->v[end].lock == of; end++)
		;
	if (first < end && all->v[first].task == TASK_OTHER)
		ret->others_ns = all->v[first++].held_ns;
	ret->n = (uint32_t)(end - first);
	if (!ret->n)
		return 0;
	uint64_t *ns = arena_alloc(&q->arena, ret->n * sizeof(*ns));
	ret->v = arena_alloc(&q->arena, ret->n * sizeof(*ret->v));
	if (!ns || !ret->v)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret->n; i++) {
		ret->v[i] = all->v[first + i];
		ns[i] = ret->v[i].held_ns;
		ret->held_ns += ns[i];
	}
	ret->jain = query_use_jain(ns, ret->n);
	for (uint32_t i = 0; ret->held_ns && i < ret->n; i++)
		ret->v[i].held_pct = 100 * (double)ns[i] / (double)ret->held_ns;
	qsort(ret->v, ret->n, sizeof(*ret->v), most_held);
	add_cpu(all, ret);
	return q->cache->failed ? -ENOMEM : 0;
}

int query_use_lock(struct query *q, uint64_t id, struct query_use *ret)
{
	uint32_t lock = lock_by_id(q->model->locks, id);
	struct query_uses all;

	*ret = (struct query_use){0};
	if (lock == UINT32_MAX || lock < LOCK_TYPES)
		return 0;
	if (query_sync(q) < 0 || query_use_all(q, lock, &all) < 0)
		return -ENOMEM;
	return query_use_of(q, &all, lock, ret);
}

const char *query_use_text(struct query *q, const struct query_use *u, uint32_t i)
{
	const struct query_use_task *t = &u->v[i];
	const char *name = query_task_name(q, t->task);
	char held[UNITS_BUF], cpu[UNITS_BUF];

	return arena_printf(&q->arena, "%s %s%%%s%s%s", name ? name : "-",
			    units_pct(held, t->held_pct), u->has_cpu ? ", CPU " : "",
			    u->has_cpu ? units_pct(cpu, t->cpu_pct) : "", u->has_cpu ? "%" : "");
}
