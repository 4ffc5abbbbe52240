// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a row's id back to its name. Ids of locks, callers, types, CPUs and cgroups hold the thing
 * itself; tasks, processes and chains are looked for. A row that has been folded away since is
 * still named from its id, since a breadcrumb may be older than the row.
 */
#include "internal.h"
#include "kontend/cell-owner.h"
#include "kontend/lock.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "mmap/list.h"

#include <inttypes.h>

/* Undoes lock_key(): a small top byte is a type over an address without one. */
static enum lock_type id_type(uint64_t id)
{
	uint8_t top = (uint8_t)(id >> 56 & (lock_id_is_own(id) ? 0xf : 0xff));
	uint8_t type = top < LOCK_TYPES ? top : top ^ 0xff;

	return type < LOCK_TYPES ? (enum lock_type)type : LOCK_UNKNOWN;
}

static uint64_t id_addr(uint64_t id)
{
	return id ^ (uint64_t)id_type(id) << 56;
}

static const char *title_lock(struct query *q, uint64_t id)
{
	const struct lock_table *t = q->model->locks;
	uint32_t index = lock_by_id(t, id);
	enum lock_type type = id_type(id);
	const char *name;

	if (index != UINT32_MAX) {
		name = query_lock_name(q, index);
		type = (enum lock_type)t->locks[index].type;
	} else if (lock_id_is_own(id)) {
		name = "of a process that is gone";
	} else {
		name = id_addr(id) ? query_hex(&q->arena, id_addr(id)) : "other";
	}
	return name ? arena_printf(&q->arena, "%s %s", locktype_name(type), name) : NULL;
}

static const char *title_caller(struct query *q, uint64_t id)
{
	uint64_t addr = id_addr(id);
	const char *name = addr ? query_func_name(q, query_func(q, addr)) : "no call chain";

	return arena_printf(&q->arena, "%s %s", locktype_name(id_type(id)), name ? name : "?");
}

static const char *title_task(struct query *q, uint64_t id)
{
	const struct task_table *t = q->model->tasks;

	for (uint32_t i = 1; id && i < t->n; i++)
		if (t->tasks[i].serial == id >> 32 && (uint32_t)t->tasks[i].tid == (uint32_t)id)
			return query_task_name(q, i);
	return id ? arena_printf(&q->arena, "-/%" PRIu32, (uint32_t)id) : "other";
}

static const char *title_process(struct query *q, uint64_t id)
{
	const struct task_table *t = q->model->tasks;

	for (uint32_t i = 1; id <= UINT32_MAX && i < t->n; i++)
		if ((uint32_t)t->tasks[i].pid == id && t->tasks[i].serial)
			return query_process_name(q, i);
	return id <= UINT32_MAX ? arena_printf(&q->arena, "-/%" PRIu64, id) : "other";
}

static const char *title_stack(struct query *q, uint64_t id)
{
	const struct stack_table *t = q->model->stacks;

	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].hash == id && t->stacks[i].n)
			return arena_printf(&q->arena, "chain of %s",
					    query_func_name(q, query_caller(q, i)));
	return "no call chain";
}

/* Of what waits with that id are in, or at. */
static const char *title_origin(struct query *q, enum query_by by, uint64_t id)
{
	const struct stack_table *t = q->model->stacks;

	for (uint32_t i = 1; id && i < t->n; i++) {
		const struct query_origin *o = query_origin(q, i);
		if (t->stacks[i].used && by == BY_SYSCALL && o->syscall_id == id)
			return arena_printf(&q->arena, "in %s", o->syscall);
		if (t->stacks[i].used && by == BY_AT && o->at_id == id)
			return arena_printf(&q->arena, "at %s", o->at);
	}
	return by == BY_SYSCALL ? "in no known system call" : "at no known line";
}

static const char *title_owner(struct query *q, uint64_t id)
{
	const struct task_table *t = q->model->tasks;
	uint32_t hint = id & 1 ? OWNER_HINT : 0;

	if (id == 1)
		return "without a holder at that moment";
	for (uint32_t i = 1; id && i < t->n && i < OWNER_NEXT; i++)
		if (t->tasks[i].serial == id >> 33 &&
		    (uint32_t)t->tasks[i].tid == (uint32_t)(id >> 1))
			return arena_printf(&q->arena, "held by %s", query_owner_name(q, i | hint));
	return id ? "held by a task that is gone" : "held by whom is not known";
}

const char *query_title(struct query *q, enum query_by by, uint64_t id)
{
	const char *s = NULL;

	if (query_sync(q) < 0)
		return "?";
	switch (by) {
	case BY_LOCK:
		s = title_lock(q, id);
		break;
	case BY_CALLER:
		s = title_caller(q, id);
		break;
	case BY_TASK:
		s = title_task(q, id);
		break;
	case BY_PROCESS:
		s = title_process(q, id);
		break;
	case BY_TYPE:
		s = locktype_name(id < LOCK_TYPES ? (enum lock_type)id : LOCK_UNKNOWN);
		break;
	case BY_CPU:
		s = arena_printf(&q->arena, "cpu %" PRIu64, id);
		break;
	case BY_CGROUP:
		s = id ? query_cgroup_name(q, id) : "no cgroup";
		break;
	case BY_OWNER:
		s = title_owner(q, id);
		break;
	case BY_STACK:
		s = title_stack(q, id);
		break;
	case BY_SYSCALL:
	case BY_AT:
		s = title_origin(q, by, id);
		break;
	case BY_MMAP:
	case BY_MMAP_MEMCG:
		s = query_mmap_title(q, by, id);
		break;
	default:
		break;
	}
	return s ? s : "?";
}
