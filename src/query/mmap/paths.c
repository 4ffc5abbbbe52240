// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hold times of mmap_locks by call path: rows of the table "mmap", summed up like waits, of a model
 * whose cells are those times and which has no waits in flight. Modes are separate: if a write lock
 * becomes a read lock, one call path got both.
 */
#include "../rows.h"
#include "list.h"

#include <errno.h>

static const struct model *model_of(struct query *q)
{
	struct model *m = arena_alloc(&q->arena, sizeof(*m));

	if (!m)
		return NULL;
	*m = *q->model;
	m->cells = q->model->mm_held;
	m->waits.in_flight = 0;
	m->waits.high = 1;
	m->damage.doubtful = m->damage.unmatched_begin = 0;
	return m;
}

int query_mmap_paths(struct query *q, const struct query_scope *scope, bool write,
		     struct groups *ret)
{
	struct query_scope of_mode = *scope;
	const struct model *whole = q->model, *times = model_of(q);

	if (!times)
		return -ENOMEM;
	of_mode.mask |= 1u << BY_TYPE;
	of_mode.id[BY_TYPE] = write ? LOCK_RWSEM_W : LOCK_RWSEM_R;
	q->model = times;
	int code = query_group(q, BY_STACK, &of_mode, ret);
	q->model = whole;
	return code;
}

void query_mmap_path_hist(struct query *q, const struct groups *gs, const struct group *g,
			  struct hist *ret)
{
	const struct cell_table *t = &q->model->mm_held;

	*ret = (struct hist){0};
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		cell_hist(t, &t->cells[i - 1], ret);
}
