// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph as a table, a row a frame, in the order of its boxes: depth first, siblings by
 * name. Where a box begins and how wide it is follows from the weights alone, so that a program
 * that reads the table can draw the same picture. A frame's own weight is the part that none of the
 * boxes above it has.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "kontend/maps.h"
#include "kontend/query-flame.h"
#include "kontend/query-tree.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

enum {
	C_PCT,
	C_SELF_PCT,
	C_CALLER_PCT,
	C_X,
	C_SAMPLES,
	C_SELF_SAMPLES,
	C_WAIT,
	C_SELF_WAIT,
	C_KIND,
	C_GROUP,
	C_FILE,
	C_OBJECT,
	C_DEPTH,
	C_NAME,
	C_FRAME,
	C_NAMES,
	C_ADDR,
	C_COLUMNS
};

enum { INDENT = 2 };

static const struct column columns[C_COLUMNS] = {
	[C_PCT] = {"pct", "ALL%", "width of its box: share of everything, by samples or by wait",
		   COLUMN_PCT, 5, 0, SR},
	[C_SELF_PCT] = {"self_pct", "SELF%",
			"share of everything that is in this box and in no box above", COLUMN_PCT,
			5, 1, SR},
	[C_CALLER_PCT] = {"pct_parent", "CALLER%", "share of the frame below it", COLUMN_PCT, 7, 6,
			  R},
	[C_X] = {"x", "X%", "place where the box begins, in percent of the whole width", COLUMN_PCT,
		 5, 6, R},
	[C_SAMPLES] = {COL_SAMPLES, 7, 1, SR},
	[C_SELF_SAMPLES] = {"self_samples", "SELF", "samples in this box and in no box above",
			    COLUMN_COUNT, 7, 6, R},
	[C_WAIT] = {COL_WAIT_BELOW, 6, 4, SR},
	[C_SELF_WAIT] = {"self_wait_ns", "SELF WAIT", "time waited in this box and in no box above",
			 COLUMN_NS, 9, 6, R},
	[C_KIND] = {"kind", "KIND", "task, user, kernel or lock path", COLUMN_TEXT, 9, 6, R},
	[C_GROUP] = {COL_GROUP, 12, 2, SR},
	[C_FILE] = {COL_FILE, 18, 3, S},
	[C_OBJECT] = {COL_FILE_PATH, 18, 6, R},
	[C_DEPTH] = {"depth", "DEPTH", "number of boxes below; names of tasks have 0", COLUMN_INT,
		     5, 6, R},
	[C_NAME] = {"name", "NAME", "task, function, or type of lock in brackets", COLUMN_TEXT, 24,
		    6, R},
	[C_FRAME] = {"frame", "FRAME", "NAME, indented by its depth", COLUMN_TEXT, 40, 0, S | W},
	[C_NAMES] = {COL_NAMES, 9, 6, R},
	[C_ADDR] = {"addr", "ADDRESS", "address at which the function of the kernel begins",
		    COLUMN_ADDR, 18, 6, R},
};

struct flame_rows {
	struct query *q;
	struct query_tree tree;
	struct query_span *spans;
	uint32_t *nodes; /* of the rows */
	size_t boxes;	 /* nodes that weigh something, in a row or not */
	uint64_t all;
	bool by_wait;
};

static uint64_t weight(const struct query_node *n, bool by_wait)
{
	return by_wait ? n->total_ns : n->n;
}

struct query_span *query_flame_spans(struct query *q, const struct query_tree *t, bool by_wait)
{
	return query_flame_spans_in(&q->arena, t, by_wait);
}

struct query_span *query_flame_spans_in(struct arena *arena, const struct query_tree *t,
					bool by_wait)
{
	struct query_span *spans = arena_alloc(arena, (t->n + 1) * sizeof(*spans));
	uint64_t at[QUERY_FLAME_LEVELS + 1] = {0}; /* where the next one of a level begins */
	uint32_t last[QUERY_FLAME_LEVELS];

	for (uint32_t i = 0; spans && i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		uint16_t d = n->depth;
		spans[i] = (struct query_span){at[d], n->n, n->total_ns};
		at[d + 1] = at[d];
		at[d] += weight(n, by_wait);
		last[d] = i;
		if (d) {
			spans[last[d - 1]].self_n -= n->n;
			spans[last[d - 1]].self_ns -= n->total_ns;
		}
	}
	return spans;
}

const char *query_flame_frame_name(enum query_frame f)
{
	static const char *const names[] = {[FRAME_NAME] = "task",
					    [FRAME_USER] = "user",
					    [FRAME_KERNEL] = "kernel",
					    [FRAME_LOCK] = "lock path"};

	return names[f];
}

static void fill_names(const struct flame_rows *f, const struct query_node *n, struct value *v)
{
	const char *slash = n->object ? strrchr(n->object, '/') : NULL;

	value_s(&v[C_KIND], query_flame_frame_name(query_flame_frame(n)));
	value_s(&v[C_GROUP], pathgroup_title(f->q->engine->groups, n->group));
	value_s(&v[C_OBJECT], n->object);
	value_s(&v[C_FILE], slash && slash[1] ? slash + 1 : n->object);
	value_s(&v[C_NAME], n->name);
	value_s(&v[C_NAMES], n->recorded ? "recording" : NULL);
	value_s(&v[C_FRAME], arena_printf(&f->q->arena, "%*s%s", INDENT * n->depth, "", n->name));
	f->q->cache->failed |= !v[C_FRAME].known;
	if (n->addr && map_frame_is_kernel(n->addr)) {
		v[C_ADDR].u = n->addr;
		v[C_ADDR].known = true;
	}
}

static void fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct flame_rows *f = ctx;
	const struct query_node *n = &f->tree.nodes[f->nodes[row]];
	const struct query_span *s = &f->spans[f->nodes[row]];

	(void)want;
	value_d(&v[C_PCT], units_percent(weight(n, f->by_wait), f->all));
	value_d(&v[C_SELF_PCT], units_percent(f->by_wait ? s->self_ns : s->self_n, f->all));
	value_d(&v[C_CALLER_PCT], n->pct_parent);
	value_d(&v[C_X], units_percent(s->x, f->all));
	value_u(&v[C_SAMPLES], n->n);
	value_u(&v[C_SELF_SAMPLES], s->self_n);
	value_u(&v[C_WAIT], n->total_ns);
	value_u(&v[C_SELF_WAIT], s->self_ns);
	value_i(&v[C_DEPTH], n->depth);
	fill_names(f, n, v);
}

static void rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct flame_rows *f = ctx;

	*ret = (struct row_rank){.id = f->tree.nodes[f->nodes[row]].id, .order = UINT64_MAX - row};
}

/* Chooses the frames that have a box: those with a weight, and wide enough. */
static size_t choose(struct flame_rows *f, double percent_limit)
{
	size_t n = 0;

	for (uint32_t i = 0; i < f->tree.n; i++) {
		uint64_t w = weight(&f->tree.nodes[i], f->by_wait);
		f->boxes += w > 0;
		if (w && units_percent(w, f->all) >= percent_limit)
			f->nodes[n++] = i;
	}
	return n;
}

const struct table_kind query_flame_kind = {"flame", columns, C_COLUMNS, fill, rank};

/* The weight that shares are based on is left out last. */
static const struct column *columns_of(struct query *q, bool by_wait)
{
	struct column *c = rows_columns(q, &query_flame_kind);

	if (!c)
		return NULL;
	if (by_wait) {
		c[C_SAMPLES].priority = columns[C_WAIT].priority;
		c[C_WAIT].priority = columns[C_SAMPLES].priority;
	}
	return c;
}

int query_flame_table(struct query *q, const struct query_flame_spec *s,
		      const struct query_spec *rows, struct query_flame_rows *ret,
		      struct error *err)
{
	struct flame_rows f = {.q = q, .by_wait = s->by_wait};
	struct row_source src = {
		.kind = &query_flame_kind, .columns = columns_of(q, s->by_wait), .ctx = &f};
	int r;

	if (query_flame_named(q, s, &f.tree) < 0)
		return query_enomem(err, "call chains");
	f.all = s->by_wait ? f.tree.total_ns : f.tree.n_waits;
	f.spans = query_flame_spans(q, &f.tree, s->by_wait);
	f.nodes = arena_alloc(&q->arena, (f.tree.n + 1) * sizeof(*f.nodes));
	if (!f.spans || !f.nodes || !src.columns)
		return query_enomem(err, "call chains");
	src.n = choose(&f, s->percent_limit);
	r = rows_answer(q, rows, &src, &ret->table, err);
	ret->tree = f.tree;
	ret->table.n_total = f.boxes;
	return r;
}
