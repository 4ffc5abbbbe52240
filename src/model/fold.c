// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the model within its budget. When a table is full, the colder half of the cells is folded
 * (cell.c), then locks, stacks and exited tasks that no cell and no wait names any more are freed.
 * If that frees nothing (all is in use) new identities go to "other" until the next attempt, which
 * is a quarter of a million events away: folding must not become the work itself.
 */
#include "internal.h"

enum { FOLD_PAUSE = 250000 };

static uint32_t coarse_lock(const void *ctx, uint32_t lock)
{
	const struct lock_table *t = ctx;

	return t->locks[lock].type;
}

static void mark(struct model *m, const struct cell_key *k)
{
	m->locks.locks[k->lock].marked = 1;
	m->stacks.stacks[k->stack].marked = 1;
	m->tasks.tasks[k->task].marked = 1;
	m->tasks.tasks[cell_owner_task(k->owner)].marked = 1;
}

static void sweep(struct model *m)
{
	for (size_t i = 0; i < m->cells.n; i++) {
		mark(m, &m->cells.cells[i].key);
	}
	for (size_t i = 0; i < m->profile.n; i++)
		m->tasks.tasks[m->profile.cells[i].task].marked = 1;
	for (uint32_t i = 1; i < m->waits.high; i++) {
		const struct wait *w = &m->waits.waits[i];
		const struct cell_key key = wait_key(w);
		if (w->used)
			mark(m, &key);
	}
	lock_sweep(&m->locks);
	stack_sweep(&m->stacks);
	task_sweep(&m->tasks);
}

void fold_cells(struct model *m)
{
	m->damage.folded += cell_fold(&m->cells, m->now_ns, coarse_lock, &m->locks);
	sweep(m);
	m->generation++;
	m->next_fold = m->n_events + FOLD_PAUSE;
}

void fold_in_turn(struct model *m)
{
	if (m->n_events >= m->next_fold)
		fold_cells(m);
}
