// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer for which the readers of a percpu-rwsem wait. The kernel reports it only where
 * it waits for another writer; else the lock names it while it waits until the readers of before
 * are through, and the model's blame keeps that (model/blame-wait.c). So it is evidence, never
 * sure, and how often there is one is a lower bound.
 */
#include "../internal.h"
#include "kontend/blame.h"
#include "kontend/lock.h"
#include "kontend/query-lock.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/units.h"
#include "queues.h"

#include <stdio.h>
#include <string.h>

static bool is_percpu(const struct lock *l)
{
	return l->type == LOCK_PCPU_SEM_R || l->type == LOCK_PCPU_SEM_W;
}

static bool is_writer_of(const struct model *m, const struct blame_key *k, uint64_t addr)
{
	const struct lock *l = &m->locks->locks[k->root_lock];

	return l->addr == addr && l->type == LOCK_PCPU_SEM_W && k->task != TASK_OTHER;
}

/* The function in it that calls percpu_down_write(); 0: the task sleeps for something else. */
static uint32_t writes_in(struct query *q, uint32_t stack)
{
	const uint64_t *frames = stack_frames(q->model->stacks, stack);
	uint32_t n = q->model->stacks->stacks[stack].n;

	for (uint32_t i = 0; i + 1 < n; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		if (name && strncmp(name, "percpu_down_write", strlen("percpu_down_write")) == 0)
			return query_func(q, frames[i + 1]);
	}
	return 0;
}

uint32_t query_got_in(struct query *q, const struct blame_key *k)
{
	if (k->got != STACK_OTHER)
		return query_caller(q, k->got);
	if (k->state != BLAME_ASLEEP || k->why == STACK_OTHER ||
	    q->model->locks->locks[k->root_lock].type != LOCK_PCPU_SEM_W)
		return 0;
	return writes_in(q, k->why);
}

/* The heaviest of the charges to writers of the lock. */
static uint32_t heaviest(struct query *q, uint64_t addr, struct query_lock_writer *ret)
{
	const struct model *m = q->model;
	uint64_t most_ns = 0, most_in_ns = 0;
	uint32_t task = TASK_OTHER;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		if (!is_writer_of(m, &c->key, addr) || !c->ns)
			continue;
		uint32_t in = c->ns > most_in_ns ? query_got_in(q, &c->key) : 0;
		if (in) {
			ret->caller = query_func_name(q, in);
			most_in_ns = c->ns;
		}
		ret->many |= task != TASK_OTHER && task != c->key.task;
		if (c->ns > most_ns) {
			task = c->key.task;
			most_ns = c->ns;
		}
	}
	return task;
}

/* Since when tasks are known to have waited for it: most wait to read, and writers perhaps never.
 */
static uint64_t waited_since(const struct model *m, uint64_t addr, const struct lock *writes)
{
	const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, LOCK_PCPU_SEM_R));
	uint64_t reads_ns = at ? m->locks->locks[*at].begin_ns : 0;

	if (!writes->begin_ns || (reads_ns && reads_ns < writes->begin_ns))
		return reads_ns;
	return writes->begin_ns;
}

bool query_lock_writer(struct query *q, uint64_t addr, struct query_lock_writer *ret)
{
	const struct model *m = q->model;
	const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, LOCK_PCPU_SEM_W));
	const struct lock *l = at ? &m->locks->locks[*at] : NULL;

	*ret = (struct query_lock_writer){0};
	if (!l || !l->blame)
		return false;
	uint32_t task = heaviest(q, addr, ret);
	uint64_t begin_ns = waited_since(m, addr, l);
	uint64_t ns = m->now_ns > begin_ns ? m->now_ns - begin_ns : 0;
	if (task == TASK_OTHER)
		return false;
	ret->name = query_task_name(q, task);
	ret->per_s = ns ? (double)m->blame->nodes[l->blame].writes * 1e9 / (double)ns : 0;
	return true;
}

static const double LEAST_PER_S = 0.1;

static const char *const states[BLAME_STATES] = {
	[BLAME_RUNNING] = "running",
	[BLAME_RUNNABLE] = "runnable",
	[BLAME_ASLEEP] = "asleep",
	[BLAME_IO] = "asleep for I/O",
};

/*
 * "writes in locks_start >=10/s (several tasks), asleep": the rate is the answer, so it is first. A
 * lower bound that is near 0, as of a lock that was met just now, says nothing.
 */
static const char *is_doing(struct query *q, uint64_t addr, const struct blame_hold *h)
{
	const char *state = states[h->state];
	struct query_lock_writer w;
	char per_s[UNITS_BUF], rate[UNITS_BUF + 8] = "";

	if (!query_lock_writer(q, addr, &w) || !w.caller)
		return state;
	if (w.per_s >= LEAST_PER_S)
		snprintf(rate, sizeof(rate), " >=%s/s", units_rate(per_s, w.per_s));
	return arena_printf(&q->arena, "writes in %s%s%s%s%s", w.caller, rate,
			    w.many ? " (several tasks)" : "", state ? ", " : "",
			    state ? state : "");
}

void query_lock_now_percpu(struct query *q, uint64_t addr, enum lock_type type,
			   struct query_lock_now *ret)
{
	const struct model *m = q->model;
	const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));
	const struct lock *l = at ? &m->locks->locks[*at] : NULL;
	uint32_t hold = l && is_percpu(l) && l->blame ? m->blame->nodes[l->blame].holds : 0;
	const struct blame_hold *h = &m->blame->holds[hold];

	if (!hold || h->task == TASK_OTHER)
		return;
	const struct task *t = &m->tasks->tasks[h->task];
	ret->holder = arena_printf(&q->arena, "%s W?", query_task_name(q, h->task));
	ret->certainty = "evidence";
	ret->is = is_doing(q, addr, h);
	ret->owner_comm = query_task_comm(q, h->task);
	ret->owner_pid = taskid_number(t->pid);
	ret->owner_tid = taskid_number(t->tid);
}
