// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables "xol", a row a process with an area of out-of-line slots, the fullest first, and
 * "uptasks": a row a task that is in a slot or waits for one, waiting tasks first.
 */
#include "../internal.h"
#include "../rows.h"
#include "../snapshots.h"
#include "kontend/columns-probes.h"
#include "kontend/taskid.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>

enum {
	C_PROCESS,
	C_PID,
	C_COMM,
	C_SLOTS,
	C_USED,
	C_MAX_USED,
	C_AVG_USED,
	C_WAITING,
	C_SINGLE_STEP,
	C_LONGEST,
	C_RETURNS,
	C_DEPTH,
	C_RECENT,
	C_SAMPLES,
	C_WAITERS,
	C_ENDED,
	C_LAST_SEEN,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_PROCESS] = {COL_PROCESS, 18, 0, S | W},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_SLOTS] = {"slots", "SLOTS", "slots that can be used at a time", COLUMN_INT, 5, 0, SR},
	[C_USED] = {COL_XOL_USED, 4, 0, SR},
	[C_MAX_USED] = {"max_used", "MAX", "most slots in use in any snapshot", COLUMN_COUNT, 4, 0,
			SR},
	[C_AVG_USED] = {"avg_used", "AVG", "slots in use on average over all snapshots",
			COLUMN_RATE, 5, 1, SR},
	[C_WAITING] = {COL_XOL_WAITING, 7, 0, SR},
	[C_SINGLE_STEP] = {"single_step", "IN-STEP", "tasks in a slot", COLUMN_COUNT, 7, 0, SR},
	[C_LONGEST] = {"longest_ns", "SINCE", "longest wait for a slot", COLUMN_NS, 6, 2, SR},
	[C_RETURNS] = {"returns", "RETURNS",
		       "return probes that the tasks of the process are inside of", COLUMN_COUNT, 7,
		       4, SR},
	[C_DEPTH] = {COL_RETURN_DEPTH, 5, 5, SR},
	[C_RECENT] = {"recent", "HISTORY", "slots in use in each snapshot", COLUMN_SERIES, 16, 3,
		      S},
	[C_SAMPLES] = {"samples", "LOOKS", "snapshots that AVG and MAX are from", COLUMN_COUNT, 6,
		       9, R},
	[C_WAITERS] = {"waiters", "WAITERS", "threads that wait for a slot", COLUMN_TEXT, 12, 9,
		       R | COLUMN_LIST | COLUMN_NUMBERS},
	[C_ENDED] = {COL_ENDED, 5, 9, R},
	[C_LAST_SEEN] = {COL_LAST_SEEN, 9, 0, R},
};

/*
 * Rows are the areas of @s, in @at if some are folded, then the row of these, then the ended ones.
 */
struct areas {
	struct query *q;
	const struct upsnap *s;
	size_t *at;    /* NULL: none is folded, and a row is its area */
	size_t n;      /* rows of areas, but for the one of those that are folded */
	size_t n_idle; /* areas that are one row; 0: there is no such row */
	struct query_ended ended;
};

static bool is_idle(const struct upsnap_area *a)
{
	return a->used == 0 && !a->max_used && !a->waiting && !a->single_step && !a->returns;
}

static int fold(struct areas *t)
{
	size_t n = t->s ? t->s->n_areas : 0, idle = 0;

	t->n = n;
	for (size_t i = 0; i < n; i++)
		idle += is_idle(&t->s->areas[i]);
	if (idle < 2)
		return 0;
	t->at = arena_alloc(&t->q->arena, (n - idle + 1) * sizeof(*t->at));
	if (!t->at)
		return -ENOMEM;
	t->n = 0;
	t->n_idle = idle;
	for (size_t i = 0; i < n; i++)
		if (!is_idle(&t->s->areas[i]))
			t->at[t->n++] = i;
	return 0;
}

static size_t rows_of(const struct areas *t)
{
	return t->n + (t->n_idle != 0);
}

static uint64_t waited_ns(const struct upsnap *s, const struct upsnap_task *t)
{
	return s->head.time_ns > t->since_ns ? s->head.time_ns - t->since_ns : 0;
}

/* The tasks that wait in the area at @index, and how long the longest. */
static const char *waiters(const struct areas *t, size_t index, uint64_t *ret_longest)
{
	const char *text = NULL;

	for (size_t i = 0; i < t->s->n_tasks; i++) {
		const struct upsnap_task *k = &t->s->tasks[i];
		if (k->area != index + 1 || k->state != UPSNAP_WAIT)
			continue;
		uint64_t ns = waited_ns(t->s, k);
		*ret_longest = ns > *ret_longest ? ns : *ret_longest;
		int32_t tid = taskid_number(k->tid);
		text = text ? arena_printf(&t->q->arena, "%s\n%" PRId32, text, tid)
			    : arena_printf(&t->q->arena, "%" PRId32, tid);
		if (!text)
			break;
	}
	return text;
}

static void fill_recent(const struct areas *t, const struct upsnap_area *a, struct value *v)
{
	uint64_t *p = arena_alloc(&t->q->arena, (a->n_recent + 1) * sizeof(*p));

	if (!p) {
		t->q->cache->failed = true;
		return;
	}
	for (uint32_t i = 0; i < a->n_recent; i++)
		p[i] = a->recent[i];
	*v = (struct value){.series = p, .n = a->n_recent, .known = a->n_recent != 0};
}

static void fill_area(const struct areas *t, size_t row, struct value *v)
{
	const struct upsnap_area *a = &t->s->areas[row];
	bool tasks = !(t->s->head.missing & UPSNAP_NO_TASKS);
	uint64_t longest = 0;
	const char *who = waiters(t, row, &longest);

	value_s(&v[C_PROCESS], query_uprobe_task(t->q, t->s, a->comm, a->pid));
	v[C_PID] = (struct value){.i = taskid_number(a->pid), .known = true};
	value_s(&v[C_COMM], upsnap_text(t->s, a->comm));
	v[C_SLOTS] = (struct value){.i = a->slots, .known = a->slots >= 0};
	v[C_USED] = (struct value){.u = (uint64_t)a->used, .known = a->used >= 0};
	v[C_MAX_USED] = (struct value){.u = a->max_used, .known = a->samples != 0};
	if (a->samples)
		value_d(&v[C_AVG_USED], (double)a->sum_used / a->samples);
	v[C_WAITING] = (struct value){.u = a->waiting, .known = tasks};
	v[C_SINGLE_STEP] = (struct value){.u = a->single_step, .known = tasks};
	v[C_LONGEST] = (struct value){.u = longest, .known = who != NULL, .approx = true};
	v[C_RETURNS] = (struct value){.u = a->returns, .known = tasks};
	v[C_DEPTH] = (struct value){.u = a->depth, .known = tasks};
	v[C_SAMPLES] = (struct value){.u = a->samples, .known = true};
	v[C_WAITERS] = (struct value){.s = who ? who : "", .known = tasks};
	fill_recent(t, a, &v[C_RECENT]);
}

/* An area that is gone has no slots in use now. */
static void fill_ended(const struct areas *t, size_t i, struct value *v)
{
	static const int now[] = {C_USED,    C_WAITING, C_SINGLE_STEP, C_LONGEST,
				  C_RETURNS, C_DEPTH,	C_WAITERS};
	struct upsnap s = query_ended_upsnap(t->q, &t->ended, i);
	struct areas then = {.q = t->q, .s = &s};

	s.n_tasks = 0;
	fill_area(&then, t->ended.at[i], v);
	for (size_t k = 0; k < sizeof(now) / sizeof(*now); k++)
		v[now[k]].known = false;
	query_ended_fill(t->q, &t->ended, i, &v[C_ENDED]);
}

/* One row for all idle processes: none of their slots is in use. */
static void fill_idle(const struct areas *t, struct value *v)
{
	bool tasks = !(t->s->head.missing & UPSNAP_NO_TASKS);
	static const int none[] = {C_WAITING, C_SINGLE_STEP, C_RETURNS, C_DEPTH};

	value_s(&v[C_PROCESS], arena_printf(&t->q->arena, "%zu idle processes", t->n_idle));
	for (size_t i = 0; i < t->s->n_areas; i++)
		if (is_idle(&t->s->areas[i]) && t->s->areas[i].slots >= 0)
			v[C_SLOTS] = (struct value){.i = t->s->areas[i].slots, .known = true};
	value_u(&v[C_USED], 0);
	value_u(&v[C_MAX_USED], 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		v[none[i]] = (struct value){.known = tasks};
	value_u(&v[C_ENDED], 0);
}

static void areas_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct areas *t = ctx;

	(void)want;
	if (row >= rows_of(t)) {
		fill_ended(t, row - rows_of(t), v);
	} else if (row == t->n) {
		fill_idle(t, v);
	} else {
		fill_area(t, t->at ? t->at[row] : row, v);
		value_u(&v[C_ENDED], 0);
	}
}

static void areas_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct areas *t = ctx;

	if (row >= rows_of(t)) {
		const struct upsnap_area *was =
			&t->q->model->ended->uprobes.areas[t->ended.at[row - rows_of(t)]];
		*ret = (struct row_rank){.id = was->mm ^ (uint64_t)was->pid << 48,
					 .tie = was->max_used};
		return;
	}
	if (row == t->n) {
		*ret = (struct row_rank){.id = QUERY_UPROBE_IDLE};
		return;
	}
	const struct upsnap_area *a = &t->s->areas[t->at ? t->at[row] : row];
	*ret = (struct row_rank){.id = a->mm,
				 .order = (uint64_t)a->waiting << 32 |
					  (uint32_t)(a->used > 0 ? a->used : 0),
				 .tie = a->max_used};
}

const struct table_kind query_uprobe_areas_kind = {"xol", columns, C_COLUMNS, areas_fill,
						   areas_rank};

static int answer(struct query *q, bool folded, const struct query_spec *s, struct table *ret,
		  struct error *err)
{
	struct areas t = {.q = q};
	struct row_source src = {.kind = &query_uprobe_areas_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_uprobe(q, &t.s);

	t.n = t.s ? t.s->n_areas : 0;
	if (code != -ENOMEM && folded && fold(&t) < 0)
		code = -ENOMEM;
	if (code != -ENOMEM)
		code = query_ended(q, ENDED_AREA, &t.ended);
	src.columns = query_ended_columns(q, &t.ended, &query_uprobe_areas_kind, C_ENDED);
	if (code == -ENOMEM || !src.columns)
		return query_enomem(err, "areas of uprobes");
	src.n = rows_of(&t) + t.ended.n;
	return rows_answer(q, s, &src, ret, err);
}

int query_uprobe_areas(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err)
{
	return answer(q, false, s, ret, err);
}

int query_uprobe_areas_folded(struct query *q, const struct query_spec *s, struct table *ret,
			      struct error *err)
{
	return answer(q, true, s, ret, err);
}

enum { T_TASK, T_TID, T_STATE, T_SINCE, T_SLOT, T_DEPTH, T_PROBE, T_PROCESS, T_COLUMNS };

static const struct column task_columns[T_COLUMNS] = {
	[T_TASK] = {COL_TASK, 18, 0, SR | W},
	[T_TID] = {COL_TID, 7, 9, R},
	[T_STATE] = {"state", "STATE", "in a slot, or waits for one", COLUMN_TEXT, 7, 0, SR},
	[T_SINCE] = {"since_ns", "SINCE", "time for which every snapshot has seen it in this state",
		     COLUMN_NS, 6, 0, SR},
	[T_SLOT] = {"slot", "SLOT", "number of the slot", COLUMN_INT, 4, 1, SR},
	[T_DEPTH] = {COL_RETURN_DEPTH, 5, 2, SR},
	[T_PROBE] = {COL_PROBE_OFFSET, 12, 2, SR},
	[T_PROCESS] = {COL_PROCESS, 18, 3, SR},
};

struct tasks {
	struct query *q;
	const struct upsnap *s;
	const struct upsnap_task **rows;
	size_t n;
};

static int collect_tasks(struct tasks *t, uint64_t area)
{
	const struct upsnap *s = t->s;

	t->rows = arena_alloc(&t->q->arena, (s->n_tasks + 1) * sizeof(const struct upsnap_task *));
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_tasks; i++)
		if (!area || (s->tasks[i].area && s->areas[s->tasks[i].area - 1].mm == area))
			t->rows[t->n++] = &s->tasks[i];
	return 0;
}

static void tasks_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct tasks *t = ctx;
	const struct upsnap_task *k = t->rows[row];
	const struct upsnap_area *a = k->area ? &t->s->areas[k->area - 1] : NULL;

	(void)want;
	value_s(&v[T_TASK], query_uprobe_task(t->q, t->s, k->comm, k->tid));
	v[T_TID] = (struct value){.i = taskid_number(k->tid), .known = true};
	value_s(&v[T_STATE], k->state == UPSNAP_WAIT ? "waits" : "in slot");
	v[T_SINCE] = (struct value){.u = waited_ns(t->s, k), .known = true, .approx = true};
	v[T_SLOT] = (struct value){.i = k->slot, .known = k->slot >= 0};
	value_u(&v[T_DEPTH], k->depth);
	v[T_PROBE] = (struct value){.u = k->offset, .known = k->offset != UINT64_MAX};
	if (a)
		value_s(&v[T_PROCESS], query_uprobe_task(t->q, t->s, a->comm, a->pid));
}

static void tasks_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct tasks *t = ctx;
	const struct upsnap_task *k = t->rows[row];

	*ret = (struct row_rank){.id = (uint32_t)k->tid,
				 .order = (uint64_t)(k->state == UPSNAP_WAIT) << 63 |
					  waited_ns(t->s, k)};
}

const struct table_kind query_uprobe_tasks_kind = {"uptasks", task_columns, T_COLUMNS, tasks_fill,
						   tasks_rank};

int query_uprobe_tasks(struct query *q, uint64_t area, const struct query_spec *s,
		       struct table *ret, struct error *err)
{
	struct tasks t = {.q = q};
	struct row_source src = {.kind = &query_uprobe_tasks_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_uprobe(q, &t.s);

	if (code == 0)
		code = collect_tasks(&t, area);
	if (code == -ENOMEM)
		return query_enomem(err, "tasks in slots");
	src.n = t.n;
	return rows_answer(q, s, &src, ret, err);
}
