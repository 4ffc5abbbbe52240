// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "upwaits": waits for locks whose call chain comes through the kernel's code of uprobes,
 * a row a function of that and type of lock. The function is the innermost one of that code: this
 * separates the waits of a hit in xol_take_insn_slot from the mmap_lock that handle_swbp takes, and
 * from waits of tasks that place probes.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/locktype.h"
#include "kontend/stack.h"
#include "snapshot.h"

#include <errno.h>

enum {
	C_FUNCTION,
	C_TYPE,
	C_WAITING,
	C_PER_S,
	C_WAIT_PER_S,
	C_MAX,
	C_CONTENDED,
	C_TOTAL,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_FUNCTION] = {"function", "FUNCTION", "function of the kernel's code of uprobes",
			COLUMN_TEXT, 24, 0, SR | W},
	[C_TYPE] = {COL_TYPE, 10, 0, SR},
	[C_WAITING] = {COL_WAITING, 3, 1, SR},
	[C_PER_S] = {"contended_per_s", "CONT/s", "waits per second", COLUMN_RATE, 6, 1, SR},
	[C_WAIT_PER_S] = {COL_WAIT_RATE, 6, 0, SR},
	[C_MAX] = {COL_MAX, 7, 2, SR},
	[C_CONTENDED] = {COL_CONTENDED, 9, 3, SR},
	[C_TOTAL] = {COL_TOTAL, 7, 3, SR},
};

struct waits {
	uint32_t func;
	uint8_t type;
	uint32_t waiting;
	uint64_t n, total_ns, max_ns, rate_n, rate_ns, waited_ns;
	bool at_least, max_at_least; /* some go on: see struct group_times */
};

struct list {
	struct query *q;
	bool average;
	struct waits *rows;
	size_t n;
};

/* The innermost function of the code of uprobes; 0: there is none in the chain. */
static uint32_t find_func(struct query *q, uint32_t stack)
{
	const struct stack_table *st = q->model->stacks;
	const uint64_t *frames = stack_frames(st, stack);

	for (uint32_t i = 0; i < st->stacks[stack].n; i++) {
		uint32_t func = query_func(q, frames[i]);
		if (func && query_func_group(q, func) == PATH_UPROBE)
			return func;
	}
	return 0;
}

static struct waits *get_waits(struct list *l, uint32_t func, uint8_t type)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].func == func && l->rows[i].type == type)
			return &l->rows[i];
	l->rows[l->n] = (struct waits){.func = func, .type = type};
	return &l->rows[l->n++];
}

static void add_group(struct waits *w, const struct group *g)
{
	const struct group_times t = query_group_times(g, false);

	w->waiting += g->waiting;
	w->n += g->n;
	w->total_ns += t.total_ns;
	w->at_least |= t.at_least;
	if (t.max_ns > w->max_ns) {
		w->max_ns = t.max_ns;
		w->max_at_least = t.max_at_least;
	}
	w->rate_n += g->rate_n;
	w->rate_ns += g->rate_wait_ns;
	w->waited_ns += g->waited_ns;
}

static int collect(struct list *l)
{
	struct query_scope all = {0};
	struct groups gs;

	if (query_sync(l->q) < 0 || query_group(l->q, BY_STACK, &all, &gs) < 0)
		return -ENOMEM;
	l->rows = arena_alloc(&l->q->arena, (gs.n + 1) * sizeof(*l->rows));
	if (!l->rows)
		return -ENOMEM;
	for (size_t i = 0; i < gs.n; i++) {
		uint32_t func = find_func(l->q, gs.g[i].first.stack);
		if (func)
			add_group(get_waits(l, func, gs.g[i].type), &gs.g[i]);
	}
	return l->q->cache->failed ? -ENOMEM : 0;
}

static void fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct list *l = ctx;
	const struct waits *w = &l->rows[row];
	const struct model *m = l->q->model;
	uint64_t ns = l->average ? query_elapsed(m) : query_rate_ns(l->q);

	(void)want;
	value_s(&v[C_FUNCTION], query_func_name(l->q, w->func));
	value_s(&v[C_TYPE], locktype_name((enum lock_type)w->type));
	value_u(&v[C_WAITING], w->waiting);
	value_d(&v[C_PER_S], query_per_s(l->average ? w->n : w->rate_n, ns));
	value_d(&v[C_WAIT_PER_S], query_per_s(l->average ? w->waited_ns : w->rate_ns, ns));
	v[C_MAX] = (struct value){
		.u = w->max_ns, .known = w->max_ns != 0, .at_least = w->max_at_least};
	value_u(&v[C_CONTENDED], w->n);
	value_u_least(&v[C_TOTAL], w->total_ns, w->at_least);
}

static void rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct list *l = ctx;
	const struct waits *w = &l->rows[row];

	*ret = (struct row_rank){.id = l->q->cache->funcs[w->func].start * 31 + w->type,
				 .order = l->average ? w->waited_ns : w->rate_ns,
				 .tie = w->total_ns};
}

const struct table_kind query_uprobe_waits_kind = {"upwaits", columns, C_COLUMNS, fill, rank};

int query_uprobe_waits(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err)
{
	struct list l = {.q = q, .average = s->average};
	struct row_source src = {.kind = &query_uprobe_waits_kind, .ctx = &l};

	if (collect(&l) < 0)
		return query_enomem(err, "waits around uprobes");
	src.n = l.n;
	return rows_answer(q, s, &src, ret, err);
}
