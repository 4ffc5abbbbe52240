// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes from one group of recordings to another. A row is by name, as in a merged table, and has
 * the rate of each group: its sum, divided by the measured time. A recording is one observation of
 * each row, 0 where it lacks the row; the ranks of these decide whether the groups differ by more
 * than chance.
 */
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/ranks.h"
#include "kontend/sort.h"
#include "query/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define CHANCE 0.05 /* what is as likely by chance alone is no change */

enum { A, B, SIDES };

enum {
	C_CHANGE,
	C_DELTA,
	C_A,
	C_B,
	C_RATIO,
	C_CHANCE,
	C_A_IN,
	C_B_IN,
	C_A_LEAST,
	C_A_MOST,
	C_B_LEAST,
	C_B_MOST,
	COMMON,
	C_A_CONT = COMMON,
	C_B_CONT,
	C_A_AVG,
	C_B_AVG,
	C_A_P99,
	C_B_P99,
	C_A_MAX,
	C_B_MAX,
	COLUMNS,
};

/* Types of what is of the first measure are set for each table. */
static const struct column columns[COLUMNS] = {
	[C_CHANGE] = {"change", "CHANGE",
		      "more or less, unsure (may be chance), or few (too few recordings to judge)",
		      COLUMN_TEXT, 6, 0, SR},
	[C_DELTA] = {"delta", "DELTA", "after less before", COLUMN_RATE, 8, 0, SR},
	[C_A] = {"a", "A",
		 "before: per second, or per recording if the figure does not grow with time",
		 COLUMN_RATE, 8, 0, SR},
	[C_B] = {"b", "B",
		 "after: per second, or per recording if the figure does not grow with time",
		 COLUMN_RATE, 8, 0, SR},
	[C_RATIO] = {"ratio", "B/A", "after divided by before", COLUMN_RATE, 5, 1, SR},
	[C_CHANCE] = {"chance_pct", "CHANCE%",
		      "how likely chance alone sets them as far apart, or farther", COLUMN_PCT, 6,
		      1, SR},
	[C_A_IN] = {"a_in", "A:IN", "recordings before that have it", COLUMN_COUNT, 4, 2, SR},
	[C_B_IN] = {"b_in", "B:IN", "recordings after that have it", COLUMN_COUNT, 4, 2, SR},
	[C_A_LEAST] = {"a_least", "A:LEAST", "smallest figure of a recording before", COLUMN_RATE,
		       9, 9, R},
	[C_A_MOST] = {"a_most", "A:MOST", "greatest figure of a recording before", COLUMN_RATE, 9,
		      9, R},
	[C_B_LEAST] = {"b_least", "B:LEAST", "smallest figure of a recording after", COLUMN_RATE, 9,
		       9, R},
	[C_B_MOST] = {"b_most", "B:MOST", "greatest figure of a recording after", COLUMN_RATE, 9, 9,
		      R},
	COL_SIDES(C_A_CONT, C_B_CONT, COL_CONT_RATE, 8, 4, SR),
	COL_SIDES(C_A_AVG, C_B_AVG, COL_FINISHED_AVG, 6, 5, SR),
	COL_SIDES(C_A_P99, C_B_P99, COL_P99("waits"), 6, 3, SR),
	COL_SIDES(C_A_MAX, C_B_MAX, COL_FINISHED_MAX, 6, 6, SR),
};

/* A row of the answer: that of either group, or of both. */
struct pair {
	const char *key;
	const struct fleet_row *of[SIDES];
	double rate[SIDES];
};

struct comparison {
	const struct fleet *m[SIDES];
	enum fleet_at at;
	const struct fleet_def *def;
	struct pair *pairs;
	size_t n;
	struct ranked *ranks; /* room for all recordings, twice */
	bool parts_known;     /* what each recording has; not where there was no room for it */
	bool few;	      /* recordings, too few to judge */
};

/* Recordings of a side. Those that have no group of their own are no observation. */
static size_t n_recordings(const struct fleet *m)
{
	return m->of[FLEET_GROUPS].n - 1;
}

static bool is_waits(const struct comparison *c)
{
	return !c->def->kind;
}

/* @v by how long was measured, or by how many looked. */
static double per(const struct comparison *c, uint64_t v, uint64_t measured_ns, uint64_t recordings)
{
	if (c->def->is_state)
		return recordings ? (double)v / (double)recordings : 0;
	return measured_ns ? (double)v * 1e9 / (double)measured_ns : 0;
}

static void add_pair(struct comparison *c, const char *key, const struct fleet_row *a,
		     const struct fleet_row *b)
{
	struct pair *p = &c->pairs[c->n++];

	*p = (struct pair){.key = key, .of = {a, b}};
	for (int side = A; side < SIDES; side++) {
		const struct fleet_sum *sum = &c->m[side]->sum;
		p->rate[side] = p->of[side] ? per(c, p->of[side]->sum.v[0], sum->measured_ns,
						  sum->recordings)
					    : 0;
	}
}

static bool is_there(const struct fleet_rows *t, size_t row)
{
	return row != FLEET_OTHER || t->rows[row].sum.known;
}

static int find_pairs(struct comparison *c, struct arena *arena)
{
	const struct fleet_rows *a = &c->m[A]->of[c->at], *b = &c->m[B]->of[c->at];

	c->pairs = arena_alloc(arena, (2 * (a->n + b->n) + 1) * sizeof(*c->pairs));
	if (!c->pairs)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		if (is_there(a, i))
			add_pair(c, a->rows[i].key, &a->rows[i],
				 fleet_find(c->m[B], c->at, a->rows[i].key));
	for (size_t i = 0; i < b->n; i++)
		if (is_there(b, i) && !fleet_find(c->m[A], c->at, b->rows[i].key))
			add_pair(c, b->rows[i].key, NULL, &b->rows[i]);
	return 0;
}

static int changed_more(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	double da = fabs(a->rate[B] - a->rate[A]), db = fabs(b->rate[B] - b->rate[A]);

	if (da > db || da < db)
		return da > db;
	return strcmp(a->key, b->key) < 0;
}

/* Takes the row's value in each recording of a side; returns how many have any. */
static uint64_t observe(struct comparison *c, const struct pair *p, int side, size_t *n,
			double *least, double *most)
{
	const struct fleet *m = c->m[side];
	const struct fleet_rows *t = &m->of[c->at], *groups = &m->of[FLEET_GROUPS];
	uint64_t have = 0;

	*least = INFINITY;
	*most = 0;
	for (uint32_t g = FLEET_OTHER + 1; g < groups->n; g++) {
		uint64_t v = p->of[side] ? fleet_part(t, (uint32_t)(p->of[side] - t->rows), g) : 0;
		double x = per(c, v, groups->rows[g].sum.v[GROUP_MEASURED], 1);
		c->ranks[(*n)++] = (struct ranked){x, side == B};
		have += v != 0;
		*least = x < *least ? x : *least;
		*most = x > *most ? x : *most;
	}
	return have;
}

static bool are_parts_known(const struct comparison *c)
{
	for (int side = A; side < SIDES; side++)
		if (c->m[side]->sum.groups_folded || c->m[side]->of[c->at].n_parts == FLEET_PARTS)
			return false;
	return true;
}

static void judge(struct comparison *c, const struct pair *p, struct value *v)
{
	size_t n = 0;
	double least[SIDES], most[SIDES];
	uint64_t a_in = observe(c, p, A, &n, &least[A], &most[A]);
	uint64_t b_in = observe(c, p, B, &n, &least[B], &most[B]);
	double probability = ranks_probability(c->ranks, n);

	value_d(&v[C_CHANCE], 100 * probability);
	value_s(&v[C_CHANGE], c->few			? "few"
			      : probability >= CHANCE	? "unsure"
			      : p->rate[B] > p->rate[A] ? "more"
							: "less");
	value_u(&v[C_A_IN], a_in);
	value_u(&v[C_B_IN], b_in);
	value_d(&v[C_A_LEAST], least[A]);
	value_d(&v[C_A_MOST], most[A]);
	value_d(&v[C_B_LEAST], least[B]);
	value_d(&v[C_B_MOST], most[B]);
}

static void fill_waits(const struct comparison *c, const struct pair *p, int side, struct value *v)
{
	const struct fleet_row *r = p->of[side];
	struct hist h;

	if (!r)
		return;
	value_d(&v[C_A_CONT + side], per(c, r->sum.v[WAIT_N], c->m[side]->sum.measured_ns, 1));
	if (!r->sum.v[WAIT_N])
		return;
	value_u(&v[C_A_AVG + side], r->sum.v[WAIT_TOTAL] / r->sum.v[WAIT_N]);
	value_u(&v[C_A_MAX + side], r->sum.v[WAIT_MAX]);
	fleet_hist_sum(&r->hist, &h);
	if (h.n)
		value_u(&v[C_A_P99 + side],
			hist_percentile(&h, 99, r->sum.v[WAIT_MIN], r->sum.v[WAIT_MAX]));
}

static int fill(struct comparison *c, const struct pair *p, struct arena *arena, struct value *v)
{
	size_t n = is_waits(c) ? COLUMNS : COMMON;

	value_d(&v[C_DELTA], p->rate[B] - p->rate[A]);
	value_d(&v[C_A], p->rate[A]);
	value_d(&v[C_B], p->rate[B]);
	if (p->rate[A] > 0)
		value_d(&v[C_RATIO], p->rate[B] / p->rate[A]);
	if (c->parts_known)
		judge(c, p, v);
	for (int side = A; side < SIDES && is_waits(c); side++)
		fill_waits(c, p, side, v);
	for (int i = 0; i < FLEET_KEYS && c->def->keys[i].key; i++) {
		const char *text = fleet_key_part(arena, p->key, i);
		if (!text)
			return -ENOMEM;
		value_s(&v[n + (size_t)i], text);
	}
	return 0;
}

/* Columns of the first measure have the key and title of the measure itself. */
static int make_columns(const struct comparison *c, struct arena *arena, struct table *ret)
{
	struct column *made = arena_alloc(arena, (COLUMNS + FLEET_KEYS) * sizeof(*made));
	size_t n = is_waits(c) ? COLUMNS : COMMON;
	bool is_time = c->def->measures[0].column.type == COLUMN_NS;

	if (!made)
		return -ENOMEM;
	memcpy(made, columns, n * sizeof(*made));
	for (size_t i = 0; i < COMMON && is_time; i++)
		if (made[i].type == COLUMN_RATE && i != C_RATIO)
			made[i].type = COLUMN_NSRATE;
	for (int i = 0; i < FLEET_KEYS && c->def->keys[i].key; i++)
		made[n++] = c->def->keys[i];
	ret->columns = made;
	ret->n_columns = n;
	return 0;
}

int fleet_compare(const struct fleet *before, const struct fleet *after, enum fleet_at at,
		  size_t limit, struct arena *arena, struct table *ret)
{
	struct comparison c = {.m = {before, after}, .at = at, .def = &fleet_defs[at]};
	size_t n_before = n_recordings(before), n_after = n_recordings(after);

	*ret = (struct table){.name = fleet_table_name(at, FLEET_BY_RECORDING),
			      .sort_col = C_DELTA};
	c.ranks = arena_alloc(arena, (2 * (n_before + n_after) + 1) * sizeof(*c.ranks));
	c.few = ranks_least(n_before, n_after) >= CHANCE;
	c.parts_known = are_parts_known(&c);
	if (!c.ranks || find_pairs(&c, arena) < 0 || make_columns(&c, arena, ret) < 0)
		return -ENOMEM;
	sort_merge(c.pairs, c.pairs + c.n, c.n, sizeof(*c.pairs), changed_more);
	ret->n_total = ret->n_match = c.n;
	ret->n_rows = limit && limit < c.n ? limit : c.n;
	ret->values = arena_alloc(arena, (ret->n_rows * ret->n_columns + 1) * sizeof(*ret->values));
	ret->ids = arena_alloc(arena, (ret->n_rows + 1) * sizeof(*ret->ids));
	if (!ret->values || !ret->ids)
		return -ENOMEM;
	for (size_t i = 0; i < ret->n_rows; i++) {
		ret->ids[i] = i + 1;
		if (fill(&c, &c.pairs[i], arena, ret->values + i * ret->n_columns) < 0)
			return -ENOMEM;
	}
	return 0;
}
