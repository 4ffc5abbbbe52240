// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map as a table, a row for each cell that has a wait. Times are from the begin of what
 * figures cover; a program that reads the table draws the same picture.
 */
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/query-heatmap.h"
#include "rows.h"

#include <errno.h>

enum { C_TIME, C_FROM, C_TO, C_N, C_TOTAL, C_WAITING, C_COLUMNS };

static const struct column columns[C_COLUMNS] = {
	[C_TIME] = {"offset_ns", "OFFSET",
		    "begin of the column of time, after the begin of the first column", COLUMN_NS,
		    8, 0, SR},
	[C_FROM] = {"from_ns", "FROM", "shortest length of the waits of the row", COLUMN_NS, 6, 0,
		    SR},
	[C_TO] = {"to_ns", "TO", "length below which they are", COLUMN_NS, 6, 0, SR},
	[C_N] = {COL_CONTENDED, 9, 0, SR},
	[C_TOTAL] = {COL_FINISHED_TOTAL, 6, 0, SR},
	[C_WAITING] = {COL_WAITING, 4, 0, SR},
};

struct heat_rows {
	const struct query_heatmap *map;
	uint32_t *at; /* of each row: its cell */
	size_t n;
};

static uint32_t column_of(const struct heat_rows *r, size_t row)
{
	return r->at[row] % r->map->columns;
}

static uint64_t now_of(const struct query_heatmap *h, uint32_t cell)
{
	return cell % h->columns + 1 == h->columns ? h->now[cell / h->columns] : 0;
}

static void fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct heat_rows *r = ctx;
	const struct query_heatmap *h = r->map;
	const uint32_t length = r->at[row] / h->columns;
	const struct query_heatmap_cell *c = &h->cells[r->at[row]];

	(void)want;
	value_u(&v[C_TIME], column_of(r, row) * h->column_ns);
	value_u(&v[C_FROM], query_heatmap_lower(h, length));
	value_u(&v[C_TO], query_heatmap_upper(h, length));
	value_u(&v[C_N], c->n);
	value_u(&v[C_TOTAL], c->ns);
	value_u(&v[C_WAITING], now_of(h, r->at[row]));
}

/* By time, then by length. */
static void rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct heat_rows *r = ctx;
	const uint64_t length = r->at[row] / r->map->columns;

	*ret = (struct row_rank){
		.id = (r->map->begin_ns / r->map->column_ns + column_of(r, row)) << 8 | length,
		.order = UINT64_MAX - ((uint64_t)column_of(r, row) << 8 | length)};
}

const struct table_kind query_heatmap_kind = {"heat", columns, C_COLUMNS, fill, rank};

static int find_rows(struct query *q, struct heat_rows *r)
{
	const struct query_heatmap *h = r->map;
	const size_t all = (size_t)h->rows * h->columns;

	r->at = arena_alloc(&q->arena, (all + 1) * sizeof(*r->at));
	for (size_t i = 0; r->at && i < all; i++)
		if (h->cells[i].n || now_of(h, (uint32_t)i))
			r->at[r->n++] = (uint32_t)i;
	return r->at ? 0 : -ENOMEM;
}

int query_heatmap_table(struct query *q, const struct query_heatmap_spec *s,
			const struct query_spec *rows, struct query_heatmap_rows *ret,
			struct error *err)
{
	struct heat_rows r = {.map = &ret->map};
	struct row_source src = {.kind = &query_heatmap_kind, .ctx = &r};

	if (query_heatmap(q, s, &ret->map) < 0 || find_rows(q, &r) < 0)
		return query_enomem(err, "the heat map");
	src.n = r.n;
	return rows_answer(q, rows, &src, &ret->table, err);
}
