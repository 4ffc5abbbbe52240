// SPDX-License-Identifier: GPL-2.0-only
/*
 * From rows that a callback can fill in to a table: filter, sort, cut, fill. Rows are first filled
 * in only as far as filter and sort key need it, into one scratch row, and leave a sort key of 64
 * bits that compares as its value does; the values of a whole row are worked out for those that are
 * left. Equal keys fall back to the row's own tie-breaker and then to its id, so that the order
 * never depends on the model's indices. Unknown values sort last, in both directions.
 */
#include "rows.h"
#include "filter.h"
#include "internal.h"
#include "kontend/sort.h"
#include "reuse.h"

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
	case COLUMN_NSDIFF:
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

enum { MANY = 512 }; /* rows from which on keys are sorted byte by byte */

/* Sort keys of the passes, the least important first; the last pass counts most. */
enum pass { PASS_ID, PASS_TIE, PASS_NUM, PASS_UNKNOWN, PASSES };

static uint64_t pass_key(const struct sort_key *k, enum pass pass, bool descending)
{
	switch (pass) {
	case PASS_ID:
		return k->rank.id;
	case PASS_TIE:
		return ~k->rank.tie;
	case PASS_NUM:
		return descending ? ~k->num : k->num;
	default:
		return !k->known;
	}
}

static void put_row(struct rows_order *o, size_t i, const struct sort_key *k)
{
	o->ids[i] = k->rank.id;
	o->rows[i] = k->row;
}

/* Like goes_first(), for keys that are no text. */
static int sort_numbers(struct query *q, const struct sort_key *keys, bool descending,
			struct rows_order *o)
{
	struct sort_item *items = arena_alloc(&q->arena, 2 * o->n * sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < o->n; i++)
		items[i].at = (uint32_t)i;
	for (enum pass pass = PASS_ID; pass < PASSES; pass++) {
		for (size_t i = 0; i < o->n; i++)
			items[i].key = pass_key(&keys[items[i].at], pass, descending);
		sort_radix(items, items + o->n, o->n);
	}
	for (size_t i = 0; i < o->n; i++)
		put_row(o, i, &keys[items[i].at]);
	return 0;
}

static int sort_any(struct query *q, struct sort_key *keys, bool descending, struct rows_order *o)
{
	struct sort_key *room = arena_alloc(&q->arena, (o->n + 1) * sizeof(*room));

	if (!room)
		return -ENOMEM;
	sort_merge(keys, room, o->n, sizeof(*keys), descending ? falls : rises);
	for (size_t i = 0; i < o->n; i++)
		put_row(o, i, &keys[i]);
	return 0;
}

static int find_sort(const struct query_spec *s, const struct row_source *src, size_t *ret,
		     struct error *err)
{
	bool chosen = s->sort && *s->sort;

	*ret = chosen ? table_find_in(src->keys, src->kind->n_columns, s->sort) : SIZE_MAX;
	for (size_t i = 0; !chosen && src->sort && i < src->kind->n_columns; i++)
		if (strcmp(src->keys[i].key, src->sort) == 0)
			*ret = i;
	if (*ret != SIZE_MAX || !chosen)
		return 0;
	return error_set(err, -EINVAL,
			 "sort key '%s': the table '%s' by %s has no such column; try total_ns, "
			 "contended, max_ns, avg_ns or another that its help lists",
			 s->sort, src->kind->name, query_by_name(s->by));
}

/* Rates of waiting, by the greatest of which rows are coloured: those out of the window count. */
static uint64_t rates_of(const struct row_source *src)
{
	uint64_t rates = 0;

	for (size_t i = 0; i < src->kind->n_columns && i < 64; i++)
		if (src->columns[i].type == COLUMN_NSRATE)
			rates |= table_bit(i);
	return rates;
}

static void note_most(const struct row_source *src, uint64_t rates, const struct value *v,
		      double *most)
{
	for (; rates; rates &= rates - 1) {
		int i = __builtin_ctzll(rates);
		double x = table_number(&src->columns[i], &v[i]);

		most[i] = x > most[i] ? x : most[i];
	}
}

static int collect(struct query *q, const struct row_source *src, const struct filter *f,
		   size_t sort, struct sort_key **ret_keys, struct rows_order *o)
{
	uint64_t rates = src->keeps ? rates_of(src) : 0;
	uint64_t want = f->want | rates | (sort == SIZE_MAX ? 0 : table_bit(sort));
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
		if (!filter_match(f, src->keys, src->kind->n_columns, v))
			continue;
		note_most(src, rates, v, o->most);
		src->kind->rank(src->ctx, row, &k->rank);
		k->row = (uint32_t)row;
		k->known = true;
		k->num = k->rank.order;
		if (sort != SIZE_MAX)
			key_of_value(k, &src->columns[sort], &v[sort]);
		n++;
	}
	*ret_keys = keys;
	o->n = n;
	return 0;
}

static int order_rows(struct query *q, const struct query_spec *s, const struct row_source *src,
		      const struct filter *f, size_t sort, struct rows_order *o)
{
	struct arena *a = src->keeps ? reuse_arena(q) : &q->arena;
	struct sort_key *keys;

	o->most = arena_alloc(a, src->kind->n_columns * sizeof(*o->most));
	int r = o->most ? collect(q, src, f, sort, &keys, o) : -ENOMEM;
	if (r < 0)
		return r;
	o->ids = arena_alloc(a, (o->n + 1) * sizeof(*o->ids));
	o->rows = arena_alloc(a, (o->n + 1) * sizeof(*o->rows));
	if (!o->ids || !o->rows)
		return -ENOMEM;
	bool descending = (sort == SIZE_MAX || table_descends(&src->columns[sort])) != s->reverse;
	if (o->n < MANY || (sort != SIZE_MAX && src->columns[sort].type == COLUMN_TEXT))
		return sort_any(q, keys, descending, o);
	return sort_numbers(q, keys, descending, o);
}

/* The columns that a row outside of the window needs: its sort key, and the rates of waiting. */
static uint64_t least(const struct row_source *src, const struct table *t)
{
	return rates_of(src) | (t->sort_col == SIZE_MAX ? 0 : table_bit(t->sort_col));
}

/* The number of rows in the table from t->window_first on. */
static size_t rows_filled(const struct table *t)
{
	size_t n = t->window_first < t->n_rows ? t->n_rows - t->window_first : 0;

	return t->window_n && t->window_n < n ? t->window_n : n;
}

static int fill_rows(struct query *q, const struct query_spec *s, const struct row_source *src,
		     const uint32_t *rows, struct table *t)
{
	uint64_t outside = s->window_n ? least(src, t) : UINT64_MAX;
	size_t n = rows_filled(t), columns = src->kind->n_columns;

	t->values = arena_alloc(&q->arena, (n * columns + 1) * sizeof(*t->values));
	if (!t->values)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		size_t i = t->window_first + k;
		bool seen = i >= s->window_first && i - s->window_first < s->window_n;

		src->kind->fill(src->ctx, rows[i], seen ? UINT64_MAX : outside,
				&t->values[k * columns]);
		if (q->cache->failed)
			return -ENOMEM;
	}
	return 0;
}

static int answer(struct query *q, const struct query_spec *s, const struct row_source *src,
		  const struct filter *f, struct table *t)
{
	const struct rows_order *kept =
		src->keeps ? reuse_order_find(q, s, src->kind, t->sort_col) : NULL;
	struct rows_order o = {0};
	int r = 0;

	if (kept)
		o = *kept;
	else
		r = order_rows(q, s, src, f, t->sort_col, &o);
	if (r < 0)
		return r;
	if (src->keeps && !kept)
		reuse_order_put(q, s, src->kind, t->sort_col, &o);
	t->n_match = o.n;
	t->ids = o.ids;
	t->order = o.number;
	t->n_rows = s->limit && s->limit < o.n ? s->limit : o.n;
	if (src->keeps && s->window_n) {
		t->window_first = s->window_first;
		t->window_n = s->window_n;
		t->most = o.most;
	}
	return fill_rows(q, s, src, o.rows, t);
}

void query_fill_cost(const struct query_waits_cost *c, struct value *lost, struct value *pct,
		     struct value *par)
{
	uint64_t ns = c->lost_ns < c->waited_ns ? c->lost_ns : c->waited_ns;

	if (c->par_of_ns)
		value_d(par, (double)c->par_ns / (double)c->par_of_ns);
	if (!c->is_lost || (c->unlost && !ns))
		return;
	value_u_least(lost, ns, c->at_least);
	if (c->waited_ns)
		value_d(pct, 100 * (double)ns / (double)c->waited_ns);
	pct->at_least = c->at_least;
}

struct column *rows_columns(struct query *q, const struct table_kind *kind)
{
	struct column *c = arena_alloc(&q->arena, kind->n_columns * sizeof(*c));

	if (c)
		memcpy(c, kind->columns, kind->n_columns * sizeof(*c));
	return c;
}

struct column *rows_columns_by(struct query *q, const struct table_kind *kind, unsigned by)
{
	struct column *c = rows_columns(q, kind);

	for (size_t i = 0; c && i < kind->n_columns; i++)
		if (!column_is_by(&c[i], by))
			c[i].flags = 0;
	return c;
}

int rows_answer(struct query *q, const struct query_spec *s, struct row_source *src,
		struct table *ret, struct error *err)
{
	src->columns = src->columns ? src->columns : src->kind->columns;
	src->keys = src->keys ? src->keys : src->columns;
	struct table t = {
		.name = src->kind->name,
		.columns = src->columns,
		.keys = src->keys,
		.n_columns = src->kind->n_columns,
		.n_total = src->n,
		.reverse = s->reverse,
		.held = held_now(&q->frame),
	};
	struct filter f = {0};
	int r = find_sort(s, src, &t.sort_col, err);

	if (r == 0)
		r = filter_parse(&f, &q->arena, s->filter, src->keys, src->kind->n_columns, err);
	if (r < 0) {
		filter_deinit(&f);
		return r;
	}
	q->answers++;
	r = answer(q, s, src, &f, &t);
	q->answers--;
	filter_deinit(&f);
	if (r < 0)
		return query_enomem(err, src->kind->name);
	*ret = t;
	return 0;
}
