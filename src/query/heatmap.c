// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map, made of the model's log of waits by time and length (heat.h). A column is some of
 * the longest columns of the log in the time shown, so that each column of the log is in one of
 * them as a whole; a scope is asked for once a cell of the model. Two passes: the first one finds
 * out how far times and lengths reach.
 */
#include "group.h"
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/heat-cells.h"
#include "kontend/hist.h"
#include "kontend/query-heatmap.h"
#include "kontend/wait.h"

#include <errno.h>
#include <math.h>

enum { COLUMNS = 128, OCTAVE = HIST_SUB, UNITS_MOST = 1 << 20 };

struct build {
	struct query *q;
	const struct query_heatmap_spec *spec;
	const struct cell_table *cells; /* of the whole model: entries have their indices */
	uint8_t *known;			/* by cell: 0 not asked for, 1 left out, 2 in scope */
	uint64_t from_ns, to_ns;
	unsigned bits;		    /* a unit of time; a column is `per_column` of them */
	uint64_t per_column, first; /* first: in columns */
	unsigned lowest, highest;   /* buckets */
	struct query_heatmap *ret;
};

static bool ask_scope(struct build *b, size_t cell)
{
	const struct query_where w = query_cell_where(&b->cells->cells[cell]);

	return (!b->q->kept_cells || b->q->kept_cells[cell]) &&
	       query_in_scope(b->q, &b->spec->scope, &w);
}

static bool in_scope(struct build *b, size_t cell)
{
	if (cell >= b->cells->n)
		return false;
	if (!b->known[cell])
		b->known[cell] = ask_scope(b, cell) ? 2 : 1;
	return b->known[cell] == 2;
}

static bool is_wait(struct build *b, const struct wait *w)
{
	const struct query_where where = query_wait_where(w);

	return w->used && !w->doubtful && query_in_scope(b->q, &b->spec->scope, &where);
}

static void reach(struct build *b, unsigned bucket)
{
	b->lowest = bucket < b->lowest ? bucket : b->lowest;
	b->highest = bucket > b->highest ? bucket : b->highest;
}

/* Of a column of the log: is a part of it in the time shown? */
static bool is_shown(const struct build *b, const struct heat_column *c)
{
	return heat_begin_ns(c) <= b->to_ns && c->at >= b->from_ns >> (HEAT_BASE + c->level) &&
	       heat_cells_has_column(&b->q->part, c);
}

/* The waits of the log, each given to @take with the column that it is in. */
static void walk(struct build *b, void (*take)(struct build *b, const struct heat_column *c,
					       const struct heat_entry *e))
{
	const struct heat *h = &b->cells->heat;

	for (size_t i = 0; i < h->n_columns; i++) {
		if (!is_shown(b, &h->columns[i]))
			continue;
		for (size_t k = h->columns[i].first; k < heat_end(h, i); k++)
			if (heat_cells_has_bucket(&b->q->part, h->entries[k].bucket) &&
			    in_scope(b, h->entries[k].cell))
				take(b, &h->columns[i], &h->entries[k]);
	}
}

static void measure(struct build *b, const struct heat_column *c, const struct heat_entry *e)
{
	(void)c;
	reach(b, e->bucket);
}

/* One that has just begun makes no room for lengths that no wait has had. */
static void measure_inflight(struct build *b)
{
	const struct model *m = b->q->model;
	const unsigned least = b->lowest <= b->highest ? b->lowest : 0;

	for (uint32_t i = 1; m->waits->in_flight && i < m->waits->high; i++) {
		if (!is_wait(b, &m->waits->waits[i]))
			continue;
		const unsigned bucket = hist_bucket(query_wait_ns(m, &m->waits->waits[i]));
		reach(b, bucket > least ? bucket : least);
	}
}

/* Units are the longest columns of the log there, and longer where time is. */
static void choose_columns(struct build *b)
{
	const struct heat *h = &b->cells->heat;
	uint64_t most = b->spec->columns ? b->spec->columns : COLUMNS;
	uint64_t first, last;

	b->bits = HEAT_BASE;
	for (size_t i = 0; i < h->n_columns; i++) {
		const unsigned bits = HEAT_BASE + (unsigned)h->columns[i].level;
		if (is_shown(b, &h->columns[i]) && bits > b->bits)
			b->bits = bits;
	}
	while ((b->to_ns >> b->bits) - (b->from_ns >> b->bits) >= UNITS_MOST)
		b->bits++;
	first = b->from_ns >> b->bits;
	last = b->to_ns >> b->bits;
	b->per_column = (last - first) / most + 1;
	while (last / b->per_column - first / b->per_column >= most)
		b->per_column++;
	b->first = first / b->per_column;
	b->ret->columns = (uint32_t)(last / b->per_column - b->first + 1);
	b->ret->column_ns = b->per_column << b->bits;
	b->ret->begin_ns = b->first * b->ret->column_ns;
}

static void choose_rows(struct build *b)
{
	struct query_heatmap *h = b->ret;

	h->per_row = b->spec->rows ? 1 : OCTAVE;
	h->bucket = b->lowest / h->per_row * h->per_row;
	if (b->lowest > b->highest)
		return;
	while (b->spec->rows && (b->highest - h->bucket) / h->per_row >= b->spec->rows) {
		h->per_row *= 2;
		h->bucket = b->lowest / h->per_row * h->per_row;
	}
	h->rows = (b->highest - h->bucket) / h->per_row + 1;
}

static uint32_t row_of(const struct query_heatmap *h, unsigned bucket)
{
	return bucket > h->bucket ? (bucket - h->bucket) / h->per_row : 0;
}

static void add(struct build *b, const struct heat_column *c, const struct heat_entry *e)
{
	struct query_heatmap *h = b->ret;
	const uint64_t unit = heat_begin_ns(c) >> b->bits;
	/* A column that begins before the time shown has a part in it. */
	const uint64_t at = unit / b->per_column > b->first ? unit / b->per_column - b->first : 0;
	struct query_heatmap_cell *cell = &h->cells[(size_t)row_of(h, e->bucket) * h->columns + at];

	cell->n += e->n;
	cell->ns += e->ns;
	h->n += e->n;
	h->ns += e->ns;
}

static void add_inflight(struct build *b)
{
	const struct model *m = b->q->model;

	for (uint32_t i = 1; m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (!is_wait(b, w))
			continue;
		b->ret->now[row_of(b->ret, hist_bucket(query_wait_ns(m, w)))]++;
		b->ret->n_inflight++;
	}
}

static void find_most(struct query_heatmap *h)
{
	for (size_t i = 0; i < (size_t)h->rows * h->columns; i++) {
		h->most_n = h->cells[i].n > h->most_n ? h->cells[i].n : h->most_n;
		h->most_ns = h->cells[i].ns > h->most_ns ? h->cells[i].ns : h->most_ns;
		if (h->cells[i].ns && (!h->least_ns || h->cells[i].ns < h->least_ns))
			h->least_ns = h->cells[i].ns;
	}
}

static void choose_time(struct build *b)
{
	const struct model *m = b->q->engine->model;
	const uint64_t window = b->q->window_ns;

	b->from_ns = query_from(m);
	b->to_ns = m->now_ns > b->from_ns ? m->now_ns : b->from_ns;
	if (window && b->to_ns - b->from_ns > window)
		b->from_ns = b->to_ns - window;
}

int query_heatmap(struct query *q, const struct query_heatmap_spec *s, struct query_heatmap *ret)
{
	struct query_heatmap h = {0};
	struct build b = {.q = q,
			  .spec = s,
			  .cells = q->engine->model->cells,
			  .lowest = HIST_BUCKETS,
			  .ret = &h};

	if (query_sync(q) < 0)
		return -ENOMEM;
	h.known = b.cells->heat.max;
	h.kept_ns = b.cells->heat.dropped_ns;
	h.n_lost = b.cells->heat.n_lost;
	b.known = arena_alloc(&q->arena, b.cells->n + 1);
	if (!b.known)
		return -ENOMEM;
	choose_time(&b);
	walk(&b, measure);
	measure_inflight(&b);
	choose_columns(&b);
	choose_rows(&b);
	h.cells = arena_alloc(&q->arena, ((size_t)h.rows * h.columns + 1) * sizeof(*h.cells));
	h.now = arena_alloc(&q->arena, ((size_t)h.rows + 1) * sizeof(*h.now));
	if (!h.cells || !h.now || q->cache->failed)
		return -ENOMEM;
	walk(&b, add);
	add_inflight(&b);
	find_most(&h);
	*ret = h;
	return 0;
}

uint64_t query_heatmap_lower(const struct query_heatmap *h, uint32_t row)
{
	return hist_lower(h->bucket + row * h->per_row);
}

uint64_t query_heatmap_upper(const struct query_heatmap *h, uint32_t row)
{
	return hist_lower(h->bucket + (row + 1) * h->per_row);
}

uint64_t query_heatmap_time(const struct query_heatmap *h, uint32_t column)
{
	return h->begin_ns + column * h->column_ns;
}

unsigned query_heatmap_level(uint64_t v, uint64_t least, uint64_t most, unsigned levels)
{
	if (!v || !levels)
		return 0;
	if (v >= most)
		return levels;
	if (v <= least)
		return 1;
	const double from = log((double)(least ? least : 1)), to = log((double)most);
	const unsigned level = 1 + (unsigned)((log((double)v) - from) / (to - from) * levels);
	return level < levels ? level : levels;
}

unsigned query_heatmap_cell_level(const struct query_heatmap *h, const struct query_heatmap_cell *c,
				  bool by_wait, unsigned levels)
{
	return by_wait ? query_heatmap_level(c->ns, h->least_ns, h->most_ns, levels)
		       : query_heatmap_level(c->n, 1, h->most_n, levels);
}
