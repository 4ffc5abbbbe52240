// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "waiters": every wait in flight is a row. Its own order is rwsem first, then the
 * longest wait first. A row's id is made of task, lock and begin, so that a selection stays with a
 * wait and does not jump to the next wait of the same task. The columns without a flag carry the
 * ids that a drill-down scopes by.
 */
#include "query-int.h"
#include "query-rows.h"

#include <errno.h>
#include <string.h>

enum {
	C_SINCE,
	C_KIND,
	C_TYPE,
	C_MODE,
	C_TASK,
	C_PID,
	C_TID,
	C_COMM,
	C_LOCK,
	C_NAME,
	C_PHASE,
	C_CPU,
	C_DOUBTFUL,
	C_CALLER,
	C_TASK_ID,
	C_LOCK_ID,
	C_CALLER_ID,
	C_COLUMNS
};

enum { SR = COLUMN_SCREEN | COLUMN_REPORT, W = COLUMN_WIDE };

static const struct column columns[C_COLUMNS] = {
	[C_SINCE] = {"since_ns", "SINCE", "how long the wait has lasted", COLUMN_NS, 6, 0, SR},
	[C_KIND] = {"kind", "TYPE", "type and mode, as perf lock names them", COLUMN_TEXT, 10, 0,
		    SR},
	[C_TYPE] = {"type", "TYPE", "type of the lock without the mode", COLUMN_TEXT, 9, 9,
		    COLUMN_REPORT},
	[C_MODE] = {"mode", "MODE", "R for readers, W for writers", COLUMN_TEXT, 4, 9,
		    COLUMN_REPORT},
	[C_TASK] = {"task", "TASK", "who waits: name and thread id", COLUMN_TEXT, 16, 0,
		    COLUMN_SCREEN},
	[C_PID] = {"pid", "PID", "process id", COLUMN_INT, 7, 9, COLUMN_REPORT},
	[C_TID] = {"tid", "TID", "thread id", COLUMN_INT, 7, 9, COLUMN_REPORT},
	[C_COMM] = {"comm", "COMM", "name of the task", COLUMN_TEXT, 16, 9, COLUMN_REPORT},
	[C_LOCK] = {"lock", "ADDRESS", "address of the lock", COLUMN_ADDR, 18, 9, COLUMN_REPORT},
	[C_NAME] = {"name", "WAITS FOR",
		    "name of the lock: its symbol, or its address and the function that waits for "
		    "it most",
		    COLUMN_TEXT, 20, 0, SR | W},
	[C_PHASE] = {"phase", "STATE", "spinning (burns its CPU) or asleep", COLUMN_TEXT, 8, 3, SR},
	[C_CPU] = {"cpu", "CPU", "the CPU on which the wait began", COLUMN_INT, 4, 4, SR},
	[C_DOUBTFUL] = {"doubtful", "DOUBTFUL",
			"records were lost since it began: it may have ended", COLUMN_BOOL, 8, 5,
			SR},
	[C_CALLER] = {"caller", "CALL SITE", "function that waits for the lock", COLUMN_TEXT, 20, 1,
		      SR | W},
	[C_TASK_ID] = {"task_id", "TASK ID", "id of the task's row by task", COLUMN_COUNT, 0, 9, 0},
	[C_LOCK_ID] = {"lock_id", "LOCK ID", "id of the lock's row by lock", COLUMN_COUNT, 0, 9, 0},
	[C_CALLER_ID] = {"caller_id", "CALLER ID", "id of the call site's row by caller",
			 COLUMN_COUNT, 0, 9, 0},
};

struct waiters {
	struct query *q;
	uint32_t *waits; /* indices into the pool */
};

static const char *phase(const struct wait *w, enum lock_type type)
{
	return locktype_is_spin(type) || w->flags & LCB_F_SPIN ? "spinning" : "asleep";
}

static void fill_who(struct query *q, const struct wait *w, struct value *v)
{
	const struct task *t = &q->model->tasks.tasks[w->task];
	bool known = w->task != TASK_OTHER;

	value_s(&v[C_TASK], query_task_name(q, w->task));
	value_s(&v[C_COMM], query_task_comm(q, w->task));
	v[C_PID] = (struct value){.i = t->pid, .known = known};
	v[C_TID] = (struct value){.i = t->tid, .known = known};
	value_i(&v[C_CPU], w->cpu);
}

static void waiters_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct waiters *ws = ctx;
	struct query *q = ws->q;
	const struct wait *w = &q->model->waits.waits[ws->waits[row]];
	struct query_where where = query_wait_where(w);
	enum lock_type type = (enum lock_type)q->model->locks.locks[w->lock].type;

	value_u(&v[C_SINCE], query_wait_ns(q->model, w));
	v[C_SINCE].approx = w->doubtful;
	value_s(&v[C_KIND], locktype_name(type));
	value_s(&v[C_TYPE], locktype_base(type));
	value_s(&v[C_MODE], locktype_mode(type));
	value_u(&v[C_LOCK], w->addr);
	if (want & 1ull << C_NAME)
		value_s(&v[C_NAME], query_lock_name(q, w->lock));
	value_s(&v[C_PHASE], phase(w, type));
	value_u(&v[C_DOUBTFUL], w->doubtful);
	value_s(&v[C_CALLER], query_func_name(q, query_caller(q, w->stack)));
	fill_who(q, w, v);
	value_u(&v[C_TASK_ID], query_id(q, BY_TASK, &where));
	value_u(&v[C_LOCK_ID], query_id(q, BY_LOCK, &where));
	value_u(&v[C_CALLER_ID], query_id(q, BY_CALLER, &where));
}

static void waiters_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct waiters *ws = ctx;
	struct query *q = ws->q;
	const struct wait *w = &q->model->waits.waits[ws->waits[row]];
	struct query_where where = query_wait_where(w);
	enum lock_type type = (enum lock_type)q->model->locks.locks[w->lock].type;
	uint64_t since = query_wait_ns(q->model, w);
	bool rwsem = type == LOCK_RWSEM_R || type == LOCK_RWSEM_W;

	ret->id = map64_hash(map64_hash(query_id(q, BY_TASK, &where)) ^ w->addr) ^ w->begin_ns;
	ret->order = (uint64_t)rwsem << 63 | (since & INT64_MAX);
	ret->tie = since;
}

const struct column *query_waiters_columns(size_t *ret_n)
{
	*ret_n = C_COLUMNS;
	return columns;
}

/* The waits in scope: 0 or -ENOMEM. */
static int waiters_collect(struct waiters *ws, const struct query_scope *scope, size_t *ret_n)
{
	struct query *q = ws->q;
	const struct model *m = q->model;
	const struct wait_pool *p = &m->waits;
	size_t n = 0;

	ws->waits = arena_alloc(&q->arena, ((size_t)p->high + 1) * sizeof(*ws->waits));
	if (!ws->waits)
		return -ENOMEM;
	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		struct query_where w = query_wait_where(&p->waits[i]);
		if (p->waits[i].used && w.lock < m->locks.n && w.stack < m->stacks.n &&
		    w.task < m->tasks.n && query_in_scope(q, scope, &w))
			ws->waits[n++] = i;
	}
	*ret_n = n;
	return q->cache->failed ? -ENOMEM : 0;
}

int query_waiters(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct waiters ws = {.q = q};
	struct row_source src = {
		.name = "waiters",
		.columns = columns,
		.n_columns = C_COLUMNS,
		.default_sort = SIZE_MAX,
		.ctx = &ws,
		.fill = waiters_fill,
		.rank = waiters_rank,
	};

	if (query_sync(q) < 0 || waiters_collect(&ws, &s->scope, &src.n) < 0)
		return query_enomem(err, "waits in flight");
	return rows_answer(q, s, &src, ret, err);
}
