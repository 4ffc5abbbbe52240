// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks by functions that wait for them, where nothing says in which object they are:
 * static ones of a kernel that has no names of data, those of page tables, and those of objects
 * that are gone by now. Any function that is known decides, not the one that waits most: that one
 * changes.
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

/* By its own function, or for the spinlock in a mutex or rwsem the name of that. */
struct by_function {
	const char *lock, *of; /* @of NULL: it is static */
};

static struct by_function look_up(const char *type, const char *func, bool is_static)
{
	struct by_function f = {0};

	f.lock = is_static ? sym_static_lock(type, func) : sym_field_lock(type, func, &f.of);
	return f;
}

static const char *by_function(struct query *q, enum lock_type type, const char *func, bool within,
			       bool is_static)
{
	const char *base = locktype_base(type);
	struct by_function f;

	within = within && !strcmp(base, "spinlock");
	f = look_up(within ? "mutex" : base, func, is_static);
	if (within && !f.lock)
		f = look_up("rwsem", func, is_static);
	if (!f.lock)
		return NULL;
	return arena_printf(&q->arena, f.of ? "%s%s (%s)" : "%s%s", f.lock,
			    within ? ".wait_lock" : "", f.of);
}

/* A function that takes a lock with a counter of users: its caller says of what they are. */
static const char *by_lockref(struct query *q, const uint64_t *frames, uint32_t at, uint32_t n)
{
	const char *caller = at + 1 < n ? sym_name(q->sym, frames[at + 1], NULL) : NULL;
	const char *of, *lock = caller ? sym_field_lock("lockref", caller, &of) : NULL;

	return lock ? arena_printf(&q->arena, "%s (%s)", lock, of) : NULL;
}

/* By the call chain of a wait of @task. */
static const char *by_stack(struct query *q, const struct lock *l, uint32_t stack, uint32_t task,
			    enum statics_of of)
{
	uint32_t func = query_caller(q, stack), at = query_caller_frame(q, stack);
	const char *name = func ? query_func_name(q, func) : NULL;
	const uint64_t *frames;

	if (!name)
		return NULL;
	if (l->type == LOCK_SPINLOCK && !(of & STATICS_IN_CACHE) && sym_locks_page_table(name)) {
		const char *comm = query_process_comm(q, task);
		return arena_printf(&q->arena, "ptl %s",
				    of & STATICS_EVERYWHERE ? (comm ? comm : "-")
							    : query_process_name(q, task));
	}
	frames = stack_frames(q->model->stacks, stack);
	bool far = l->addr - frames[at] > IMAGE_MOST && frames[at] - l->addr > IMAGE_MOST;
	if (of & STATICS_IN_CACHE && !far)
		return NULL;
	if (!strncmp(name, "lockref_", 8))
		return by_lockref(q, frames, at, q->model->stacks->stacks[stack].n);
	return by_function(q, (enum lock_type)l->type, name, is_of_sleeping(q, frames, at), !far);
}

const char *query_static_lock(struct query *q, uint32_t lock, uint32_t twin, enum statics_of of)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const struct cell *cells = q->model->cells->cells;
	const struct wait_pool *p = q->model->waits;
	const char *name = NULL;

	for (uint32_t i = q->cache->lock_head[lock]; i && !name; i = q->cache->lock_next[i - 1])
		name = by_stack(q, l, cells[i - 1].stack, cells[i - 1].task, of);
	if (twin != UINT32_MAX)
		for (uint32_t i = q->cache->lock_head[twin]; i && !name;
		     i = q->cache->lock_next[i - 1])
			name = by_stack(q, l, cells[i - 1].stack, cells[i - 1].task, of);
	for (uint32_t i = 1; !name && p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (w->used && (w->lock == lock || w->lock == twin))
			name = by_stack(q, l, w->stack, w->task, of);
	}
	return name;
}
