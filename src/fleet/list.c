// SPDX-License-Identifier: GPL-2.0-only
/*
 * A merged table as an answer. Its columns are the measures of the row over all recordings, what is
 * worked out of these, what the row is called, and then one for each group, those with most first.
 * Where there are more groups than columns one column has the rest: what the row has in all less
 * what is shown, so that the columns of groups always add up to the row. As text there is room for
 * few, so that is there twice, for text and for the other formats.
 */
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/sort.h"
#include "query/rows.h"

#include <errno.h>
#include <string.h>

enum {
	SHOWN = 6,   /* groups in text */
	LISTED = 40, /* in all formats but text */
	REST_COLUMNS = 2,
	WORKED_OUT = 3 + 3 /* average, percentiles, buckets */,
	MOST = FLEET_MEASURES + WORKED_OUT + FLEET_KEYS + LISTED + REST_COLUMNS,
};

enum { AVG, P50, P99, HIST_FROM, HIST_TO, HIST_N, EXTRAS };

static const struct column extras[EXTRAS] = {
	[AVG] = {COL_FINISHED_AVG, 6, 1, SR},
	[P50] = {COL_P50("durations"), 6, 3, SR},
	[P99] = {COL_P99("durations"), 6, 2, SR},
	[HIST_FROM] = {COL_HIST_FROM("hist_from_ns"), 0, 9, 0},
	[HIST_TO] = {COL_HIST_TO("hist_to_ns"), 0, 9, 0},
	[HIST_N] = {COL_HIST_N("hist_n"), 0, 9, 0},
};

struct lister {
	const struct fleet *m;
	const struct fleet_rows *rows;
	const struct fleet_def *def;
	struct arena *arena;
	struct column *columns;
	size_t n, fixed, first_extra, first_key, n_measures;
	uint32_t groups[LISTED];
	size_t n_groups;
	bool has_rest;
};

static void put_column(struct lister *l, const struct column *c)
{
	l->columns[l->n++] = *c;
}

struct weighed {
	uint32_t at;
	uint64_t weight;
};

static int heavier(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return x->weight != y->weight ? x->weight > y->weight : x->at < y->at;
}

/* Places of rows of @t, the heaviest first, without the first one where that is empty. */
static struct weighed *sorted(struct arena *a, const struct fleet_rows *t, size_t *ret_n)
{
	struct weighed *w = arena_alloc(a, (2 * t->n + 1) * sizeof(*w));
	size_t n = 0;

	for (size_t i = 0; w && i < t->n; i++)
		if (i != FLEET_OTHER || t->rows[i].sum.known)
			w[n++] = (struct weighed){(uint32_t)i, t->rows[i].sum.v[0]};
	if (w)
		sort_merge(w, w + t->n, n, sizeof(*w), heavier);
	*ret_n = n;
	return w;
}

/* Machines of the same name get the beginning of their ids appended. */
static const char *group_title(struct lister *l, const struct weighed *all, size_t n, size_t which)
{
	const struct fleet_rows *t = &l->m->of[FLEET_GROUPS];
	const char *key = t->rows[all[which].at].key;
	const char *name = fleet_key_part(l->arena, key, 1), *id = fleet_key_part(l->arena, key, 0);

	for (size_t i = 0; name && id && *id && i < n; i++) {
		const char *other = strchr(t->rows[all[i].at].key, FLEET_SPLIT) + 1;

		if (i != which && !strncmp(other, name, strlen(name)) &&
		    other[strlen(name)] == FLEET_SPLIT)
			return arena_printf(l->arena, "%s (%.8s)", name, id);
	}
	return name;
}

static void put_rest(struct lister *l, uint8_t flags)
{
	struct column c = l->def->measures[0].column;

	c.key = "(others)";
	c.title = "OTHERS";
	c.help = "sum of the first column over all other groups";
	c.flags = flags;
	c.priority = 1;
	put_column(l, &c);
}

/* The table of groups itself has none. */
static int put_groups(struct lister *l)
{
	size_t n;
	struct weighed *all = sorted(l->arena, &l->m->of[FLEET_GROUPS], &n);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n && i < LISTED; i++) {
		struct column c = l->def->measures[0].column;

		l->groups[l->n_groups++] = all[i].at;
		c.key = c.title = group_title(l, all, n, i);
		if (!c.key)
			return -ENOMEM;
		c.help = "sum of the first column in the group";
		c.flags = i < SHOWN ? SR : COLUMN_REPORT;
		c.priority = 1;
		put_column(l, &c);
	}
	l->has_rest = true;
	put_rest(l, COLUMN_SCREEN);
	put_rest(l, COLUMN_REPORT);
	return 0;
}

static int make_columns(struct lister *l, bool groups)
{
	l->columns = arena_alloc(l->arena, MOST * sizeof(*l->columns));
	if (!l->columns)
		return -ENOMEM;
	for (; l->n < FLEET_MEASURES && l->def->measures[l->n].column.key;)
		put_column(l, &l->def->measures[l->n].column);
	/* Only waits have an average: without it the other extra columns move one place up. */
	const int first = l->def->kind ? P50 : AVG;
	l->n_measures = l->n;
	l->first_extra = l->n - (size_t)first;
	for (int i = first; l->def->has_hist && i < EXTRAS; i++)
		put_column(l, &extras[i]);
	l->first_key = l->n;
	for (int i = 0; i < FLEET_KEYS && l->def->keys[i].key; i++)
		put_column(l, &l->def->keys[i]);
	l->fixed = l->n;
	return groups ? put_groups(l) : 0;
}

static void set_u64(struct value *v, uint64_t u, bool is_known)
{
	v->u = u;
	v->known = is_known;
}

static int fill_hist(struct lister *l, const struct fleet_row *r, struct value *v)
{
	const struct fleet_values *s = &r->sum;
	bool waits = !l->def->kind;
	struct hist h;

	fleet_hist_sum(&r->hist, &h);
	if (waits && s->v[WAIT_N])
		set_u64(&v[AVG], s->v[WAIT_TOTAL] / s->v[WAIT_N], true);
	if (!h.n)
		return 0;
	uint64_t least = waits ? s->v[WAIT_MIN] : 0;
	set_u64(&v[P50], hist_percentile(&h, 50, least, s->v[WAIT_MAX]), true);
	set_u64(&v[P99], hist_percentile(&h, 99, least, s->v[WAIT_MAX]), true);
	return query_hist_lists(l->arena, &h, &v[HIST_FROM]);
}

static void fill_groups(struct lister *l, uint32_t row, struct value *v)
{
	const struct fleet_values *s = &l->rows->rows[row].sum;
	uint64_t shown = 0, listed = 0;

	for (size_t i = 0; i < l->n_groups; i++) {
		uint64_t part = fleet_part(l->rows, row, l->groups[i]);

		set_u64(&v[i], part, true);
		listed += part;
		shown += i < SHOWN ? part : 0;
	}
	if (!l->has_rest)
		return;
	set_u64(&v[l->n_groups], s->v[0] - shown, l->n_groups > SHOWN || s->v[0] != shown);
	set_u64(&v[l->n_groups + 1], s->v[0] - listed, s->v[0] != listed);
}

static int fill_row(struct lister *l, uint32_t row, struct value *v)
{
	const struct fleet_row *r = &l->rows->rows[row];

	for (size_t i = 0; i < l->n_measures; i++) {
		set_u64(&v[i], r->sum.v[i], r->sum.known >> i & 1);
		v[i].approx = r->sum.approx >> i & 1;
		v[i].at_least = r->sum.at_least >> i & 1;
	}
	if (l->def->has_hist && fill_hist(l, r, v + l->first_extra) < 0)
		return -ENOMEM;
	for (size_t i = l->first_key; i < l->fixed; i++) {
		v[i].s = fleet_key_part(l->arena, r->key, (int)(i - l->first_key));
		if (!v[i].s)
			return -ENOMEM;
		v[i].known = *v[i].s != '\0';
	}
	if (l->n > l->fixed)
		fill_groups(l, row, v + l->fixed);
	return 0;
}

int fleet_table(const struct fleet *m, enum fleet_at at, size_t limit, struct arena *arena,
		struct table *ret, size_t *ret_fixed)
{
	struct lister l = {.m = m, .rows = &m->of[at], .def = &fleet_defs[at], .arena = arena};
	size_t n;
	struct weighed *order = sorted(arena, l.rows, &n);

	if (!order || make_columns(&l, at != FLEET_GROUPS) < 0)
		return -ENOMEM;
	*ret = (struct table){.name = fleet_table_name(at, m->by),
			      .columns = l.columns,
			      .n_columns = l.n,
			      .n_rows = limit && limit < n ? limit : n,
			      .n_total = n,
			      .n_match = n,
			      .sort_col = 0};
	ret->values = arena_alloc(arena, (ret->n_rows * l.n + 1) * sizeof(*ret->values));
	ret->ids = arena_alloc(arena, (ret->n_rows + 1) * sizeof(*ret->ids));
	if (!ret->values || !ret->ids)
		return -ENOMEM;
	for (size_t i = 0; i < ret->n_rows; i++) {
		ret->ids[i] = order[i].at;
		if (fill_row(&l, order[i].at, ret->values + i * l.n) < 0)
			return -ENOMEM;
	}
	*ret_fixed = l.fixed;
	return 0;
}
