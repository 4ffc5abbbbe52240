// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the model within its budget. When a table is full, the colder half of the cells is folded
 * (cell.c), then locks, stacks and exited tasks that no cell and no wait names any more are freed.
 * If that frees nothing (all is in use) new identities go to "other" until the next attempt, which
 * is a quarter of a million events away: folding must not become the work itself.
 *
 * Tasks that have ended may take half of their table, or less (model_limits.ended). Then the older
 * half of them becomes "other": their waits keep lock, caller and CPU, and lose the lock where that
 * was the mmap_lock of a process that is gone; their samples keep the call chain. Their other data
 * go with them, names too. So a session on a system that keeps starting processes does not grow or
 * become slower.
 */
#include "internal.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/lock.h"
#include "kontend/longest-recent.h"
#include "kontend/mmlock.h"
#include "kontend/profile.h"
#include "kontend/runs.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait-on.h"
#include "kontend/wait.h"
#include "user-releases.h"
#include <errno.h>

enum { FOLD_PAUSE = 250000 };

uint32_t fold_coarse_lock(const void *ctx, uint32_t lock)
{
	const struct lock_table *t = ctx;

	return t->locks[lock].type;
}

static void mark_key(struct model *m, struct cell_key k)
{
	m->locks->locks[k.lock].marked = 1;
	m->stacks->stacks[k.stack].marked = 1;
	m->tasks->tasks[k.task].marked = 1;
	m->tasks->tasks[cell_owner_task(k.owner)].marked = 1;
}

static void mark_wait(struct model *m, const struct wait *w)
{
	mark_key(m, wait_key(w));
	m->tasks->tasks[cell_owner_task(w->seen)].marked = 1;
	m->tasks->tasks[cell_owner_task(w->reported)].marked = 1;
	m->tasks->tasks[cell_owner_task(w->held_by)].marked = 1;
	m->tasks->tasks[cell_owner_next(w->reported)].marked = 1;
}

/* Holders of mmap_locks, and the places where those that are held now were got. */
static void mark_mmlocks(struct model *m)
{
	const struct mmlocks *l = m->mmlocks;

	for (size_t i = 0; i < m->mm_held->n; i++)
		mark_key(m, cell_key(&m->mm_held->cells[i]));
	for (size_t i = 0; i < l->n_tasks; i++)
		for (int k = 0; k < MMLOCK_OPEN; k++)
			if (l->tasks[i].open[k].state == MMLOCK_HELD)
				m->stacks->stacks[l->tasks[i].open[k].stack].marked = 1;
}

/* @lock: its index + 1; 0: none. */
static void mark_lock(struct model *m, uint32_t lock)
{
	if (lock)
		m->locks->locks[lock - 1].marked = 1;
}

static void mark_runs(struct model *m)
{
	const struct runs *r = m->runs;
	const uint32_t n_kept = r->n_kept < RUNS_KEPT ? r->n_kept : RUNS_KEPT;

	for (uint32_t i = 0; i < r->n_cells; i++)
		mark_lock(m, r->cells[i].lock);
	for (uint32_t i = 0; i < n_kept; i++)
		mark_lock(m, r->kept[i].lock);
	for (uint32_t i = 0; i < r->n_longest; i++) {
		const struct runs_block *b = &r->longest[i];
		mark_lock(m, b->pause.lock);
		for (uint32_t k = 0; k < b->chain.n; k++)
			mark_lock(m, b->chain.links[k].longest.lock);
	}
	for (uint32_t i = 0; i < r->n_tasks; i++) {
		mark_lock(m, r->tasks[i].open.lock);
		mark_lock(m, r->tasks[i].lock_begin_ns ? r->tasks[i].lock.lock : 0);
	}
}

static void sweep(struct model *m)
{
	for (size_t i = 0; i < m->cells->n; i++)
		mark_key(m, cell_key(&m->cells->cells[i]));
	mark_mmlocks(m);
	for (size_t i = 0; i < m->profile->n; i++)
		m->tasks->tasks[m->profile->cells[i].task].marked = 1;
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used || i == m->last_wait)
			mark_wait(m, w);
	}
	const struct longest_recent_wait *past;
	for (uint32_t i = 0; (past = longest_recent_at(m->past, i)); i++)
		mark_wait(m, &past->wait);
	if (m->blame->max)
		blame_mark(m);
	user_releases_mark(m);
	mark_runs(m);
	if (m->held->max)
		holds_mark(m);
	if (m->blame->max)
		blame_sweep(m);
	lockqueue_mark(m);
	holder_mark(m);
	lock_sweep(m->locks);
	stack_sweep(m->stacks);
	task_sweep(m->tasks);
	/* Numbers of locks and chains may be given again. */
	wait_ons_zero(m->ons);
}

void fold_cells(struct model *m)
{
	m->damage->folded += cell_fold(m->cells, m->now_ns, fold_coarse_lock, m->locks);
	if (m->held->n)
		m->damage->folded += cell_fold(m->held, m->now_ns, fold_coarse_lock, m->locks);
	if (m->handed->n)
		cell_fold(m->handed, m->now_ns, fold_coarse_lock, m->locks);
	if (m->mm_held->n)
		cell_fold(m->mm_held, m->now_ns, fold_coarse_lock, m->locks);
	sweep(m);
	m->generation++;
	m->next_fold = m->n_events + FOLD_PAUSE;
}

void fold_in_turn(struct model *m)
{
	if (m->n_events >= m->next_fold)
		fold_cells(m);
}

struct ended_tasks {
	const struct model *model;
	uint64_t until_ns;
};

static bool give_ended(void *ctx, const struct cell *c, struct cell_key *ret)
{
	const struct ended_tasks *e = ctx;
	const struct task *tasks = e->model->tasks->tasks;
	const struct lock *lock = &e->model->locks->locks[c->lock];
	uint32_t owner = cell_owner_task(c->owner);

	if (owner && task_ended_until(&tasks[owner], e->until_ns))
		ret->owner = OWNER_NONE;
	if (c->task == TASK_OTHER || !task_ended_until(&tasks[c->task], e->until_ns))
		return ret->owner != c->owner;
	ret->task = TASK_OTHER;
	ret->lock = lock->over ? lock->type : c->lock;
	return true;
}

/* Interned texts cannot be given back one by one: those that are in use move. */
static void renew_names(struct model *m)
{
	struct task_names *old = m->tasks->names, *new = task_names_new();

	if (!new)
		return;
	int code = task_names_renew(m->tasks, new);
	for (size_t i = 0; i < m->locks->n; i++) {
		struct lock_end *end = &m->locks->locks[i].end;
		const char **texts[] = {&end->comm, &end->memcg};
		code = task_names_move(new, texts, 2) < 0 ? -ENOMEM : code;
	}
	for (size_t i = 0; i < m->mmlocks->n; i++) {
		struct mmlock_mm *mm = &m->mmlocks->mms[i];
		const char **texts[] = {&mm->comm, &mm->memcg};
		code = task_names_move(new, texts, 2) < 0 ? -ENOMEM : code;
	}
	m->tasks->names = new;
	if (code < 0)
		new->before = old;
	else
		task_names_unref(old);
}

int fold_ended(struct model *m)
{
	struct ended_tasks e = {m, task_older_half(m->tasks)};
	int code = profile_end_tasks(m->profile, m->tasks, e.until_ns);

	m->damage->folded += cell_rekey(m->cells, give_ended, &e);
	m->damage->folded += cell_rekey(m->held, give_ended, &e);
	blame_end_tasks(m, e.until_ns);
	cell_rekey(m->handed, give_ended, &e);
	cell_rekey(m->mm_held, give_ended, &e);
	lockqueue_end_tasks(m, e.until_ns);
	sweep(m);
	renew_names(m);
	m->generation++;
	return code;
}

void fold_if_full(struct model *m)
{
	const struct task_table *tasks = m->tasks;
	const struct stack_table *stacks = m->stacks;

	if (lock_table_full(m->locks) || (!stacks->free && stacks->n >= stacks->max) ||
	    (!tasks->free && tasks->n >= tasks->max))
		fold_in_turn(m);
}
