// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hold times of mmap_locks by call path: rows of the table "mmap", summed up like waits, of a model
 * whose cells are those times and which has no waits in flight. Modes are separate: if a write lock
 * becomes a read lock, one call path got both.
 */
#include "../rows.h"
#include "list.h"

#include <errno.h>

int query_mmap_paths(struct query *q, const struct query_scope *scope, bool write,
		     struct groups *ret)
{
	struct query_scope of_mode = *scope;
	const struct model *whole = q->model,
			   *times = query_model_of_cells(q, whole, whole->mm_held);

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
	const struct cell_table *t = q->model->mm_held;

	*ret = (struct hist){0};
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		cell_hist(t, &t->cells[i - 1], ret);
}
