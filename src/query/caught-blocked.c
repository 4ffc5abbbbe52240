// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks in state D for longer than a trigger allows: rows of the table "blocked" by task, so that
 * a trigger has the same causes and the same filter.
 */
#include "internal.h"
#include "kontend/locksnap.h"
#include "kontend/query-blocked.h"
#include "kontend/query-caught.h"
#include "kontend/query-chains.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/wait.h"
#include "locks/queues.h"

#include <errno.h>
#include <string.h>

enum { TASKS_MOST = 256 };

/* A wait that events report, and which its trigger judges by these. */
static bool has_wait(const struct model *m, int32_t tid)
{
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)tid);

	if (!task || !m->tasks->tasks[*task].depth)
		return false;
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful && w->task == *task)
			return true;
	}
	return false;
}

static const struct locksnap_blocked *blocked_at(const struct locksnap *s, uint64_t id)
{
	for (size_t i = 0; i < s->n_blocked; i++)
		if ((uint32_t)s->blocked[i].tid == id)
			return &s->blocked[i];
	return NULL;
}

static struct query_caught_task task_of(struct query *q, const struct table *t, size_t row,
					const struct locksnap_blocked *b)
{
	const struct value *pid = table_cell(t, row, "because_pid"),
			   *tid = table_cell(t, row, "because_tid");

	return (struct query_caught_task){
		.pid = b->pid,
		.tid = b->tid,
		.slept_ns = table_u64(t, row, "longest_now_ns"),
		.ran_ns = b->ran_ns,
		.seen_ns = query_queues(q)->head.time_ns,
		.comm = locksnap_text(query_queues(q), b->comm),
		.cause = table_text_or(t, row, "cause", ""),
		.because = table_text_or(t, row, "because_of", ""),
		.chain = "",
		.by_pid = pid->known ? (int32_t)pid->i : 0,
		.by_tid = tid->known ? (int32_t)tid->i : 0,
	};
}

int query_caught_blocked(struct query *q, uint64_t least_ns, const char *filter, bool waits,
			 struct query_caught_task **ret, size_t *ret_n)
{
	const struct query_spec spec = {.by = BY_TASK, .filter = filter, .limit = TASKS_MOST};
	const struct locksnap *s = query_queues(q);
	struct table t;

	*ret_n = 0;
	*ret = arena_alloc(&q->arena, TASKS_MOST * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	if (!s || !s->head.knows_blocked)
		return 0;
	if (query_blocked(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct locksnap_blocked *b = blocked_at(s, t.ids[i]);
		if (!b || b->state != LOCKSNAP_BLOCKED_D ||
		    table_u64(&t, i, "longest_now_ns") <= least_ns ||
		    (!waits && has_wait(q->model, b->tid)))
			continue;
		(*ret)[(*ret_n)++] = task_of(q, &t, i, b);
	}
	return 0;
}

void query_caught_chain(struct query *q, struct query_caught_task *task)
{
	const char *chain = query_chains_of(q, task->tid);

	task->chain = chain ? chain : "";
}
