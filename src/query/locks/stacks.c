// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits by call chain as flame graphs take them. Cells and waits in flight become rows of (stack,
 * name of the task, type), which are sorted and added up twice: first by the model's stack, which
 * is cheap, so that chains are spelled out only once; then by the names of their functions, since
 * chains that differ in return addresses only are one to a reader.
 */
#include "hot/list.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/query-stacks.h"
#include "kontend/sort.h"
#include "kontend/stack.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

/* A row on the way: `frames` is not there before the chain has been spelled out. */
struct raw {
	struct query_stacks_row row;
	uint32_t stack;
};

static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_rest(const struct raw *a, const struct raw *b)
{
	if (a->row.type != b->row.type)
		return a->row.type < b->row.type ? -1 : 1;
	return (int)a->row.waiting - (int)b->row.waiting;
}

static int compare_stack(const struct raw *a, const struct raw *b)
{
	int c = compare_text(a->row.comm, b->row.comm);

	if (c)
		return c;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return compare_rest(a, b);
}

static int compare_names(const struct raw *a, const struct raw *b)
{
	int c = compare_text(a->row.comm, b->row.comm);

	for (uint32_t i = 0; c == 0 && i < a->row.n_frames && i < b->row.n_frames; i++)
		c = compare_text(a->row.frames[i], b->row.frames[i]);
	if (c)
		return c;
	if (a->row.n_frames != b->row.n_frames)
		return a->row.n_frames < b->row.n_frames ? -1 : 1;
	return compare_rest(a, b);
}

static int stack_before(const void *a, const void *b)
{
	return compare_stack(a, b) < 0;
}

static int names_before(const void *a, const void *b)
{
	return compare_names(a, b) < 0;
}

/* Adds up neighbours that are equal; how many are left. */
static size_t add_up(struct raw *rows, size_t n,
		     int (*compare)(const struct raw *a, const struct raw *b))
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && compare(&rows[kept - 1], &rows[i]) == 0) {
			rows[kept - 1].row.n += rows[i].row.n;
			rows[kept - 1].row.total_ns += rows[i].row.total_ns;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

static void set_where(struct query *q, struct raw *r, const struct query_where *w)
{
	r->stack = w->stack;
	r->row.type = (enum lock_type)q->model->locks->locks[w->lock].type;
	r->row.comm = query_task_comm_or_idle(q, w->task);
}

static bool is_wanted(struct query *q, const struct query_scope *scope,
		      const struct query_zoom *zoom, const struct query_where *w)
{
	return w->stack < q->model->stacks->n && query_in_scope(q, scope, w) &&
	       hot_zoom_wait(q, zoom, w);
}

static size_t collect(struct query *q, const struct query_scope *scope,
		      const struct query_zoom *zoom, struct raw *rows)
{
	const struct cell_table *t = query_cells(q);
	const struct model *m = q->model;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		struct query_where w = query_cell_where(c);

		if (!cell_n(t, c) || !is_wanted(q, scope, zoom, &w))
			continue;
		set_where(q, &rows[n], &w);
		rows[n].row.n = cell_n(t, c);
		rows[n++].row.total_ns = c->total_ns;
	}
	for (uint32_t i = 1; m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *wait = &m->waits->waits[i];
		struct query_where w = query_wait_where(wait);

		if (!wait->used || wait->doubtful || !is_wanted(q, scope, zoom, &w))
			continue;
		set_where(q, &rows[n], &w);
		rows[n].row.waiting = true;
		rows[n].row.n = 1;
		rows[n++].row.total_ns = query_wait_ns(m, wait);
	}
	return n;
}

static int spell_out(struct query *q, struct raw *r)
{
	const struct stack_table *t = q->model->stacks;
	uint32_t n = t->stacks[r->stack].n, at;

	if (!query_caller(q, r->stack))
		return q->cache->failed ? -ENOMEM : 0;
	at = query_caller_frame(q, r->stack);
	r->row.frames = arena_alloc(&q->arena, (n - at) * sizeof(*r->row.frames));
	if (!r->row.frames)
		return -ENOMEM;
	for (uint32_t i = n; i-- > at;) {
		uint32_t f = query_func(q, stack_frames(t, r->stack)[i]);

		if (!f)
			return -ENOMEM;
		r->row.frames[r->row.n_frames++] = query_func_name(q, f);
	}
	return 0;
}

int query_stacks(struct query *q, const struct query_scope *scope, const struct query_zoom *zoom,
		 struct query_stacks *ret)
{
	size_t max = query_cells(q)->n + q->model->waits->in_flight + 1, n;
	struct raw *rows = arena_alloc(&q->arena, max * sizeof(*rows));
	struct raw *room = arena_alloc(&q->arena, max * sizeof(*room));
	struct query_stacks answer;

	if (!rows || !room || query_sync(q) < 0)
		return -ENOMEM;
	n = collect(q, scope, zoom, rows);
	sort_merge(rows, room, n, sizeof(*rows), stack_before);
	n = add_up(rows, n, compare_stack);
	for (size_t i = 0; i < n; i++)
		if (spell_out(q, &rows[i]) < 0)
			return -ENOMEM;
	sort_merge(rows, room, n, sizeof(*rows), names_before);
	answer.n = add_up(rows, n, compare_names);
	answer.rows = arena_alloc(&q->arena, (answer.n + 1) * sizeof(*answer.rows));
	if (!answer.rows || q->cache->failed)
		return -ENOMEM;
	for (size_t i = 0; i < answer.n; i++)
		answer.rows[i] = rows[i].row;
	*ret = answer;
	return 0;
}
