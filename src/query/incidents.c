// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "incidents": what triggers have caught, as it was put into words when they fired. Times
 * are those of the clock on the wall, where it is known; else since measuring began.
 */
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/mem.h"
#include "kontend/query-incidents.h"
#include "kontend/when.h"
#include "rows.h"

enum {
	C_WHEN,
	C_FIRED,
	C_EXPR,
	C_WORST,
	C_LASTED,
	C_LOCK,
	C_TASK,
	C_BECAUSE,
	C_CHAIN,
	C_SYSCALL,
	C_ON,
	C_AT,
	C_TRIGGER,
	C_FIRED_NS,
	C_BEGIN_NS,
	C_END_NS,
	C_WALL_NS,
	C_VALUE,
	C_AGAIN,
	C_ADDR,
	C_PID,
	C_TID,
	C_COMM,
	C_HOLDER_PID,
	C_HOLDER_TID,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_WHEN] = {"when", "WHEN", "when it fired: time of day, or since measuring began",
		    COLUMN_TEXT, 23, 0, S},
	[C_FIRED] = {"fired", "WHAT FIRED", "the event that fired the trigger, with its values",
		     COLUMN_TEXT, 14, 0, SR | W},
	[C_EXPR] = {"expr", "TRIGGER", "the expression, as it was given", COLUMN_TEXT, 16, 4, SR},
	[C_WORST] = {"worst_ns", "WORST", "the longest of the waits that fired it", COLUMN_NS, 6, 0,
		     SR},
	[C_LASTED] = {"lasted_ns", "LASTED",
		      "duration, with triggers that fired again in the cooldown; not known while "
		      "it lasts",
		      COLUMN_NS, 6, 3, SR},
	[C_LOCK] = {COL_NAME, 18, 1, SR},
	[C_TASK] = {COL_TASK, 14, 2, S},
	[C_BECAUSE] = {"because", "BECAUSE OF",
		       "task that has the lock and its state, or is waited for", COLUMN_TEXT, 20, 1,
		       SR | W},
	[C_CHAIN] = {"chain", "CHAIN",
		     "from the task over locks and their holders to what it waited for in the end",
		     COLUMN_TEXT, 24, 6, SR | W},
	[C_SYSCALL] = {COL_SYSCALL, 10, 5, SR},
	[C_ON] = {COL_ON, 16, 5, SR | W},
	[C_AT] = {COL_AT, 20, 3, SR | W},
	[C_TRIGGER] = {"trigger", "NR", "number of the trigger on the command line, from 0",
		       COLUMN_INT, 2, 9, R},
	[C_FIRED_NS] = {"fired_ns", "FIRED NS", "when it fired, by the session clock", COLUMN_COUNT,
			18, 9, R},
	[C_BEGIN_NS] = {"begin_ns", "BEGIN NS", "when its cause began, by the session clock",
			COLUMN_COUNT, 18, 9, R},
	[C_END_NS] = {"end_ns", "END NS", "when its cause ended, by the session clock",
		      COLUMN_COUNT, 18, 9, R},
	[C_WALL_NS] = {"wall_ns", "WALL NS", "when it fired, in ns since 1970", COLUMN_COUNT, 18, 9,
		       R},
	[C_VALUE] = {"value", "VALUE", "the value that was compared, in ns or as a number",
		     COLUMN_COUNT, 10, 9, R},
	[C_AGAIN] = {"again", "AGAIN", "number of times that it fired again within the cooldown",
		     COLUMN_COUNT, 5, 5, SR},
	[C_ADDR] = {COL_LOCK, 18, 9, R},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_TID] = {COL_TID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_HOLDER_PID] = {"holder_pid", "HOLDER PID", "process id of the holder", COLUMN_INT, 10, 9,
			  R},
	[C_HOLDER_TID] = {"holder_tid", "HOLDER TID", "thread id of the holder", COLUMN_INT, 10, 9,
			  R},
};

void query_incidents_add(struct query_incidents *all, const struct incident *in)
{
	if (all->n == QUERY_INCIDENTS_MOST ||
	    mem_grow(&all->list, &all->cap, all->n, sizeof(*all->list)) < 0) {
		all->lost++;
		return;
	}
	all->list[all->n++] = *in;
}

void query_incidents_deinit(struct query_incidents *all)
{
	mem_free(all->list);
	*all = (struct query_incidents){0};
}

static const char *when_text(struct query *q, const struct incident *in, uint64_t wall_ns)
{
	const struct model *m = q->model;
	char buf[WHEN_BUF];

	if (wall_ns)
		return arena_printf(&q->arena, "%s", when_date(buf, wall_ns, 3));
	return arena_printf(
		&q->arena, "%s",
		when_elapsed(buf, in->fired_ns > m->start_ns ? in->fired_ns - m->start_ns : 0, 3));
}

static void fill_times(struct query *q, const struct incident *in, struct value *v)
{
	const struct record_host *h = q->model->host;
	const struct when w = {.clock_ns = h->clock_ns, .wall_ns = h->wall_ns};
	uint64_t wall_ns = when_wall_ns(&w, in->fired_ns);

	value_s(&v[C_WHEN], when_text(q, in, wall_ns));
	v[C_WALL_NS] = (struct value){.u = wall_ns, .known = wall_ns != 0};
	value_u(&v[C_FIRED_NS], in->fired_ns);
	value_u(&v[C_BEGIN_NS], in->begin_ns);
	if (!in->end_ns)
		return;
	value_u(&v[C_END_NS], in->end_ns);
	value_u(&v[C_LASTED], in->end_ns - in->begin_ns);
}

static void fill_id(struct value *v, int32_t id)
{
	*v = (struct value){.i = id, .known = id != 0};
}

static void incidents_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct query *q = ctx;
	const struct incident *in = &q->incidents->list[row];

	(void)want;
	fill_times(q, in, v);
	value_s(&v[C_FIRED], in->fired);
	value_s(&v[C_EXPR], in->expr);
	v[C_WORST] = (struct value){.u = in->worst_ns, .known = in->worst_ns != 0};
	value_s(&v[C_LOCK], in->lock_name);
	value_s(&v[C_TASK], in->tid ? query_slash(&q->arena, in->task, in->tid, "-") : NULL);
	value_s(&v[C_BECAUSE], in->because);
	value_s(&v[C_CHAIN], in->chain);
	value_s(&v[C_SYSCALL], in->syscall);
	value_s(&v[C_ON], in->on);
	value_s(&v[C_AT], in->at);
	value_i(&v[C_TRIGGER], in->trigger);
	value_u(&v[C_VALUE], in->value);
	value_u(&v[C_AGAIN], in->more);
	v[C_ADDR] = (struct value){.u = in->lock, .known = in->lock != 0};
	fill_id(&v[C_PID], in->pid);
	fill_id(&v[C_TID], in->tid);
	value_s(&v[C_COMM], in->task);
	fill_id(&v[C_HOLDER_PID], in->holder_pid);
	fill_id(&v[C_HOLDER_TID], in->holder_tid);
}

static void incidents_rank(void *ctx, size_t row, struct row_rank *ret)
{
	(void)ctx;
	*ret = (struct row_rank){.id = row + 1, .order = UINT64_MAX - row};
}

const struct table_kind query_incidents_kind = {"incidents", columns, C_COLUMNS, incidents_fill,
						incidents_rank};

int query_incidents(struct query *q, const struct query_spec *s, struct table *ret,
		    struct error *err)
{
	struct row_source src = {.kind = &query_incidents_kind, .ctx = q};

	if (query_sync(q) < 0)
		return query_enomem(err, "incidents");
	src.n = q->incidents ? q->incidents->n : 0;
	return rows_answer(q, s, &src, ret, err);
}
