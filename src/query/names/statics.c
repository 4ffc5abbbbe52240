// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks by functions that wait for them, where nothing says in which object they are:
 * static ones of a kernel that has no names of data, and those of page tables. Any function that is
 * known decides, not the one that waits most: that one changes.
 */
#include "../internal.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/stack.h"
#include "kontend/sym.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "names.h"

#include <string.h>

/* The kernel's data follow its code. */
enum { IMAGE_MOST = 128 << 20 };

/* Does a function of mutexes or rwsems want the lock, for its list of waiters? */
static bool is_of_sleeping(struct query *q, const uint64_t *frames, uint32_t n)
{
	static const char *const begins[] = {"__mutex_", "mutex_", "rwsem_", "up_",
					     "down_",	 "__up_",  "__down_"};

	for (uint32_t i = 0; i < n; i++) {
		const char *name = sym_name(q->sym, frames[i], NULL);
		for (size_t k = 0; name && k < sizeof(begins) / sizeof(begins[0]); k++)
			if (!strncmp(name, begins[k], strlen(begins[k])))
				return true;
	}
	return false;
}

static const char *by_function(struct query *q, enum lock_type type, const char *func,
			       const uint64_t *frames, uint32_t at)
{
	const char *base = locktype_base(type), *name, *other;

	if (strcmp(base, "spinlock") || !is_of_sleeping(q, frames, at))
		return sym_static_lock(base, func);
	name = sym_static_lock("mutex", func);
	other = name ? name : sym_static_lock("rwsem", func);
	return other ? arena_printf(&q->arena, "%s.wait_lock", other) : NULL;
}

/* By the call chain of a wait of @task. */
static const char *by_stack(struct query *q, const struct lock *l, uint32_t stack, uint32_t task,
			    bool everywhere)
{
	uint32_t func = query_caller(q, stack), at = query_caller_frame(q, stack);
	const char *name = func ? query_func_name(q, func) : NULL;
	const uint64_t *frames;

	if (!name)
		return NULL;
	if (l->type == LOCK_SPINLOCK && sym_locks_page_table(name)) {
		const char *comm = query_process_comm(q, task);
		return arena_printf(&q->arena, "ptl %s",
				    everywhere ? (comm ? comm : "-") : query_process_name(q, task));
	}
	frames = stack_frames(q->model->stacks, stack);
	if (l->addr - frames[at] > IMAGE_MOST && frames[at] - l->addr > IMAGE_MOST)
		return NULL;
	return by_function(q, (enum lock_type)l->type, name, frames, at);
}

const char *query_static_lock(struct query *q, uint32_t lock, uint32_t twin, bool everywhere)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const struct cell *cells = q->model->cells->cells;
	const struct wait_pool *p = q->model->waits;
	const char *name = NULL;

	for (uint32_t i = q->cache->lock_head[lock]; i && !name; i = q->cache->lock_next[i - 1])
		name = by_stack(q, l, cells[i - 1].stack, cells[i - 1].task, everywhere);
	if (twin != UINT32_MAX)
		for (uint32_t i = q->cache->lock_head[twin]; i && !name;
		     i = q->cache->lock_next[i - 1])
			name = by_stack(q, l, cells[i - 1].stack, cells[i - 1].task, everywhere);
	for (uint32_t i = 1; !name && p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (w->used && (w->lock == lock || w->lock == twin))
			name = by_stack(q, l, w->stack, w->task, everywhere);
	}
	return name;
}
