// SPDX-License-Identifier: GPL-2.0-only
/*
 * From rows that somebody can fill in to a table: filter, sort, cut, fill. Rows are first filled in
 * only as far as filter and sort key need it, into one scratch row, and leave a sort key of 64 bits
 * that compares as its value does; the values of a whole row are worked out for those that are
 * left. Equal keys fall back to the row's own tie-breaker and then to its id, so that the order
 * never depends on the model's indices. What is not known sorts last, in both directions.
 */
#include "rows.h"
#include "internal.h"
#include "kontend/sort.h"

#include <errno.h>
#include <string.h>

struct sort_key {
	uint64_t num;
	const char *text; /* NULL: compare num */
	struct row_rank rank;
	uint32_t row;
	bool known;
};

/* Maps a double to a u64 of the same order. */
static uint64_t order_of_double(double d)
{
	uint64_t u;

	if (d != d)
		return 0;
	memcpy(&u, &d, sizeof(u));
	return u >> 63 ? ~u : u | 1ull << 63;
}

static void key_of_value(struct sort_key *k, const struct column *c, const struct value *v)
{
	k->known = v->known;
	if (!v->known)
		return;
	switch (c->type) {
	case COLUMN_TEXT:
		k->text = v->s;
		break;
	case COLUMN_INT:
		k->num = v->u ^ 1ull << 63;
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_PCT:
		k->num = order_of_double(v->d);
		break;
	case COLUMN_SERIES:
		k->num = v->n ? v->series[v->n - 1] : 0;
		break;
	default:
		k->num = v->u;
	}
}

static bool goes_first(const struct sort_key *a, const struct sort_key *b, bool descending)
{
	if (a->known != b->known)
		return a->known;
	if (a->text && b->text) {
		int c = strcmp(a->text, b->text);
		if (c != 0)
			return (c > 0) == descending;
	} else if (a->num != b->num) {
		return (a->num > b->num) == descending;
	}
	if (a->rank.tie != b->rank.tie)
		return a->rank.tie > b->rank.tie;
	return a->rank.id < b->rank.id;
}

static int falls(const void *a, const void *b)
{
	return goes_first(a, b, true);
}

static int rises(const void *a, const void *b)
{
	return goes_first(a, b, false);
}

static int find_sort(const struct query_spec *s, const struct row_source *src, size_t *ret,
		     struct error *err)
{
	bool chosen = s->sort && *s->sort;

	*ret = SIZE_MAX;
	if (!chosen && !src->sort)
		return 0;
	for (size_t i = 0; i < src->kind->n_columns; i++) {
		if ((src->columns[i].flags || !chosen) &&
		    strcmp(src->columns[i].key, chosen ? s->sort : src->sort) == 0) {
			*ret = i;
			return 0;
		}
	}
	return error_set(err, -EINVAL,
			 "sort key '%s': the table '%s' by %s has no such column; try total_ns, "
			 "contended, max_ns, avg_ns or another that its help lists",
			 s->sort, src->kind->name, query_by_name(s->by));
}

static int collect(struct query *q, const struct row_source *src, const struct filter *f,
		   size_t sort, struct sort_key **ret_keys, size_t *ret_n)
{
	uint64_t want = f->want | (sort == SIZE_MAX ? 0 : 1ull << sort);
	struct sort_key *keys = arena_alloc(&q->arena, (src->n + 1) * sizeof(*keys));
	struct value *v = arena_alloc(&q->arena, src->kind->n_columns * sizeof(*v));
	size_t n = 0;

	if (!keys || !v)
		return -ENOMEM;
	for (size_t row = 0; row < src->n; row++) {
		struct sort_key *k = &keys[n];
		if (want) {
			memset(v, 0, src->kind->n_columns * sizeof(*v));
			src->kind->fill(src->ctx, row, want, v);
		}
		if (q->cache->failed)
			return -ENOMEM;
		if (!filter_match(f, src->columns, src->kind->n_columns, v))
			continue;
		src->kind->rank(src->ctx, row, &k->rank);
		k->row = (uint32_t)row;
		k->known = true;
		k->num = k->rank.order;
		if (sort != SIZE_MAX)
			key_of_value(k, &src->columns[sort], &v[sort]);
		n++;
	}
	*ret_keys = keys;
	*ret_n = n;
	return 0;
}

/* What a row outside of the window must have: the key it is sorted by, and the rates of waiting. */
static uint64_t least(const struct row_source *src, const struct table *t)
{
	uint64_t want = t->sort_col == SIZE_MAX ? 0 : 1ull << t->sort_col;

	for (size_t i = 0; i < src->kind->n_columns; i++)
		if (src->columns[i].type == COLUMN_NSRATE)
			want |= 1ull << i;
	return want;
}

static int fill_rows(struct query *q, const struct query_spec *s, const struct row_source *src,
		     const struct sort_key *keys, struct table *t)
{
	uint64_t outside = s->window_n ? least(src, t) : UINT64_MAX;

	t->values =
		arena_alloc(&q->arena, (t->n_rows * src->kind->n_columns + 1) * sizeof(*t->values));
	t->ids = arena_alloc(&q->arena, (t->n_rows + 1) * sizeof(*t->ids));
	if (!t->values || !t->ids)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_rows; i++) {
		bool seen = i >= s->window_first && i - s->window_first < s->window_n;

		t->ids[i] = keys[i].rank.id;
		src->kind->fill(src->ctx, keys[i].row, seen ? UINT64_MAX : outside,
				&t->values[i * src->kind->n_columns]);
		if (q->cache->failed)
			return -ENOMEM;
	}
	return 0;
}

static int answer(struct query *q, const struct query_spec *s, const struct row_source *src,
		  const struct filter *f, struct table *t)
{
	struct sort_key *keys, *room;
	bool descending;
	int r = collect(q, src, f, t->sort_col, &keys, &t->n_match);

	if (r < 0)
		return r;
	room = arena_alloc(&q->arena, (t->n_match + 1) * sizeof(*room));
	if (!room)
		return -ENOMEM;
	descending = t->sort_col == SIZE_MAX || table_descends(&src->columns[t->sort_col]);
	sort_merge(keys, room, t->n_match, sizeof(*keys), descending != s->reverse ? falls : rises);
	t->n_rows = s->limit && s->limit < t->n_match ? s->limit : t->n_match;
	return fill_rows(q, s, src, keys, t);
}

struct column *rows_columns(struct query *q, const struct table_kind *kind)
{
	struct column *c = arena_alloc(&q->arena, kind->n_columns * sizeof(*c));

	if (c)
		memcpy(c, kind->columns, kind->n_columns * sizeof(*c));
	return c;
}

int rows_answer(struct query *q, const struct query_spec *s, struct row_source *src,
		struct table *ret, struct error *err)
{
	src->columns = src->columns ? src->columns : src->kind->columns;
	struct table t = {
		.name = src->kind->name,
		.columns = src->columns,
		.n_columns = src->kind->n_columns,
		.n_total = src->n,
		.reverse = s->reverse,
		.held = held_now(&q->frame),
	};
	struct filter f;
	int r = find_sort(s, src, &t.sort_col, err);

	if (r == 0)
		r = filter_parse(&f, &q->arena, s->filter, src->columns, src->kind->n_columns, err);
	if (r < 0)
		return r;
	r = answer(q, s, src, &f, &t);
	if (r < 0)
		return query_enomem(err, src->kind->name);
	*ret = t;
	return 0;
}
