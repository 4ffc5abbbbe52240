// SPDX-License-Identifier: GPL-2.0-only
/* Things that have ended while they were measured, as rows of the tables that they would be in. */
#include "ended.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

int query_ended(struct query *q, enum ended_kind kind, struct query_ended *ret)
{
	const struct ended *e = q->model->ended;
	const struct ended_list *l = e ? &e->lists[kind] : NULL;

	*ret = (struct query_ended){.kind = kind};
	if (!l || !l->n)
		return 0;
	ret->at = arena_alloc(&q->arena, l->n * sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->last_ns[i])
			ret->at[ret->n++] = i;
	return 0;
}

uint64_t query_ended_more(const struct query *q, enum ended_kind kind)
{
	return q->model->ended ? q->model->ended->lists[kind].more : 0;
}

const struct column *query_ended_columns(struct query *q, const struct query_ended *e,
					 const struct table_kind *kind, size_t ended)
{
	struct column *c = e->n ? rows_columns(q, kind) : NULL;

	if (c)
		c[ended + 1].flags |= COLUMN_SCREEN;
	return e->n ? c : kind->columns;
}

void query_ended_fill(const struct query *q, const struct query_ended *e, size_t i, struct value *v)
{
	uint64_t last = q->model->ended->lists[e->kind].last_ns[e->at[i]];
	uint64_t now = q->model->now_ns;

	value_u(&v[0], 1);
	value_u(&v[1], now > last ? now - last : 0);
}

struct upsnap query_ended_upsnap(const struct query *q, const struct query_ended *e, size_t i)
{
	struct upsnap s = q->model->ended->uprobes;

	s.head = q->model->ended->upsnap.head;
	s.head.time_ns = q->model->ended->lists[e->kind].last_ns[e->at[i]];
	s.head.interval_ns = 0;
	return s;
}
