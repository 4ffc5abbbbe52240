// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables "diff", of two recordings, and "compare", of two moments of one: two sorted lists of
 * classes are walked side by side. A class of both lists is a row, and so is a class of only one.
 * They are compared by wait per second, waits in flight included, since recordings differ in
 * length; a change of less than one percent is called none.
 *
 * A query reads one engine. So a marked moment has an engine of its own, which never runs, with a
 * copy of the model and the sources of names.
 */
#include "group.h"
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/query-classes.h"
#include "kontend/query-diff.h"
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
	C_CHANGE,
	C_DELTA,
	C_A_WAIT,
	C_B_WAIT,
	C_RATIO,
	C_A_CONT,
	C_B_CONT,
	C_A_AVG,
	C_B_AVG,
	C_A_P99,
	C_B_P99,
	C_A_MAX,
	C_B_MAX,
	C_A_N,
	C_B_N,
	C_A_TOTAL,
	C_B_TOTAL,
	C_KIND,
	C_NAME,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_CHANGE] = {COL_CHANGE, 6, 0, SR},
	[C_DELTA] = {COL_DELTA("DELTA/s"), 7, 0, SR},
	COL_SIDES(C_A_WAIT, C_B_WAIT, COL_WAIT_RATE, 8, 0, SR),
	[C_RATIO] = {"ratio", "B/A", "wait per second in B divided by that in A", COLUMN_RATE, 5, 1,
		     SR},
	COL_SIDES(C_A_CONT, C_B_CONT, COL_CONT_RATE, 8, 2, SR),
	COL_SIDES(C_A_AVG, C_B_AVG, COL_FINISHED_AVG, 6, 3, SR),
	COL_SIDES(C_A_P99, C_B_P99, COL_P99("waits"), 6, 4, SR),
	COL_SIDES(C_A_MAX, C_B_MAX, COL_FINISHED_MAX, 6, 9, R),
	COL_SIDES(C_A_N, C_B_N, COL_CONTENDED, 9, 9, R),
	COL_SIDES(C_A_TOTAL, C_B_TOTAL, COL_FINISHED_TOTAL, 6, 9, R),
	[C_KIND] = {COL_KIND, 10, 1, SR},
	[C_NAME] = {COL_ROW_NAME, 24, 0, SR | W},
};

enum {
	M_KIND,
	M_NAME,
	M_D_WAIT,
	M_A_WAIT,
	M_B_WAIT,
	M_D_AVG,
	M_D_CONT,
	M_A_P99,
	M_B_P99,
	M_A_CONT,
	M_B_CONT,
	M_A_AVG,
	M_B_AVG,
	M_A_MAX,
	M_B_MAX,
	M_D_N,
	M_A_N,
	M_B_N,
	M_A_TOTAL,
	M_B_TOTAL,
	M_CHANGE,
	M_COLUMNS
};

enum { D = SR | COLUMN_SIGNED };

static const struct column moments[M_COLUMNS] = {
	[M_KIND] = {COL_KIND, 10, 1, SR},
	[M_NAME] = {COL_ROW_NAME, 24, 0, SR | W},
	[M_D_WAIT] = {COL_DELTA("B-A:WAIT/s"), 10, 0, D},
	[M_A_WAIT] = {COL_A(COL_WAIT_RATE), 8, 2, SR},
	[M_B_WAIT] = {COL_B(COL_WAIT_RATE), 8, 1, SR},
	[M_D_AVG] = {"delta_avg_ns", "B-A:AVG", "average finished wait in B less that in A",
		     COLUMN_NSDIFF, 7, 2, D},
	[M_D_CONT] = {"delta_cont_per_s", "B-A:CONT/s",
		      "finished waits per second in B less those in A", COLUMN_RATE, 10, 2, D},
	COL_SIDES(M_A_P99, M_B_P99, COL_P99("waits"), 6, 3, SR),
	COL_SIDES(M_A_CONT, M_B_CONT, COL_CONT_RATE, 8, 4, SR),
	COL_SIDES(M_A_AVG, M_B_AVG, COL_FINISHED_AVG, 6, 4, SR),
	COL_SIDES(M_A_MAX, M_B_MAX, COL_FINISHED_MAX, 6, 5, SR),
	[M_D_N] = {"delta_contended", "B-A:N", "finished waits in B less those in A", COLUMN_INT, 9,
		   9, R},
	COL_SIDES(M_A_N, M_B_N, COL_CONTENDED, 9, 9, R),
	COL_SIDES(M_A_TOTAL, M_B_TOTAL, COL_FINISHED_TOTAL, 6, 9, R),
	[M_CHANGE] = {COL_CHANGE, 6, 6, SR},
};

/* A row: the class as it is in A and in B; NULL: not there. */
struct pair {
	const struct query_class *a, *b;
};

struct diff {
	struct pair *pairs;
	size_t n;
	uint64_t a_ns, b_ns; /* length of the measurements */
};

static double wait_per_s(const struct query_class *c, uint64_t elapsed_ns)
{
	return c ? query_per_s(c->waited_ns, elapsed_ns) : 0;
}

static double delta(const struct diff *d, const struct pair *p)
{
	return wait_per_s(p->b, d->b_ns) - wait_per_s(p->a, d->a_ns);
}

static const char *change(const struct diff *d, const struct pair *p)
{
	double a = wait_per_s(p->a, d->a_ns), b = wait_per_s(p->b, d->b_ns);

	if (!p->a || !p->b)
		return p->a ? "gone" : "new";
	if (fabs(b - a) <= 0.01 * fmax(a, b))
		return "same";
	return b > a ? "more" : "less";
}

/* The columns of one side; those of the other are next to them. */
static void fill_side(const struct query_class *c, uint64_t elapsed_ns, struct value *v)
{
	value_d(&v[C_A_WAIT], wait_per_s(c, elapsed_ns));
	value_d(&v[C_A_CONT], c ? query_per_s(c->n, elapsed_ns) : 0);
	value_u(&v[C_A_N], c ? c->n : 0);
	value_u(&v[C_A_TOTAL], c ? c->total_ns : 0);
	if (!c || !c->n)
		return;
	value_u(&v[C_A_AVG], c->total_ns / c->n);
	value_u(&v[C_A_P99], c->p99_ns);
	value_u(&v[C_A_MAX], c->max_ns);
}

static void diff_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct diff *d = ctx;
	const struct pair *p = &d->pairs[row];
	const struct query_class *any = p->a ? p->a : p->b;
	double a = wait_per_s(p->a, d->a_ns);

	(void)want;
	fill_side(p->a, d->a_ns, v);
	fill_side(p->b, d->b_ns, v + 1);
	value_s(&v[C_CHANGE], change(d, p));
	value_d(&v[C_DELTA], delta(d, p));
	if (a > 0)
		value_d(&v[C_RATIO], wait_per_s(p->b, d->b_ns) / a);
	if (any->typed)
		value_s(&v[C_KIND], locktype_name(any->type));
	value_s(&v[C_NAME], any->name);
}

static void diff_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct diff *d = ctx;
	const struct pair *p = &d->pairs[row];

	*ret = (struct row_rank){.id = row,
				 .order = (uint64_t)fabs(delta(d, p)),
				 .tie = (p->a ? p->a->n : 0) + (p->b ? p->b->n : 0)};
}

static void compare_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	static const struct {
		uint8_t to, from;
	} same[] = {
		{M_KIND, C_KIND},	{M_NAME, C_NAME},	{M_D_WAIT, C_DELTA},
		{M_A_WAIT, C_A_WAIT},	{M_B_WAIT, C_B_WAIT},	{M_A_P99, C_A_P99},
		{M_B_P99, C_B_P99},	{M_A_CONT, C_A_CONT},	{M_B_CONT, C_B_CONT},
		{M_A_AVG, C_A_AVG},	{M_B_AVG, C_B_AVG},	{M_A_MAX, C_A_MAX},
		{M_B_MAX, C_B_MAX},	{M_A_N, C_A_N},		{M_B_N, C_B_N},
		{M_A_TOTAL, C_A_TOTAL}, {M_B_TOTAL, C_B_TOTAL}, {M_CHANGE, C_CHANGE},
	};
	struct value d[C_COLUMNS] = {0};

	diff_fill(ctx, row, want, d);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		v[same[i].to] = d[same[i].from];
	value_d(&v[M_D_CONT], d[C_B_CONT].d - d[C_A_CONT].d);
	value_i(&v[M_D_N], (int64_t)(d[C_B_N].u - d[C_A_N].u));
	if (d[C_A_AVG].known && d[C_B_AVG].known)
		value_d(&v[M_D_AVG], (double)d[C_B_AVG].u - (double)d[C_A_AVG].u);
}

static void compare_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct diff *d = ctx;
	const struct pair *p = &d->pairs[row];

	diff_rank(ctx, row, ret);
	ret->id = p->b ? p->b->id : p->a->id;
}

static void join(struct diff *d, const struct query_classes *a, const struct query_classes *b)
{
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		int c = i == a->n   ? 1
			: k == b->n ? -1
				    : query_classes_compare(&a->classes[i], &b->classes[k]);
		d->pairs[d->n++] = (struct pair){
			.a = c <= 0 ? &a->classes[i] : NULL,
			.b = c >= 0 ? &b->classes[k] : NULL,
		};
		i += c <= 0 ? 1 : 0;
		k += c >= 0 ? 1 : 0;
	}
}

const struct table_kind query_diff_kind = {"diff", columns, C_COLUMNS, diff_fill, diff_rank};
const struct table_kind query_compare_kind = {"compare", moments, M_COLUMNS, compare_fill,
					      compare_rank};

uint64_t query_diff_length(const struct query *q)
{
	return query_has_window(q) ? query_rate_ns(q) : query_elapsed(q->model);
}

static int answer(struct query *a, struct query *b, enum query_sameness same,
		  const struct query_spec *s, struct table *ret, struct error *err)
{
	struct diff d = {.a_ns = query_diff_length(a), .b_ns = query_diff_length(b)};
	struct row_source src = {.kind = same == QUERY_SAME_NAME ? &query_diff_kind
								 : &query_compare_kind,
				 .ctx = &d};
	struct query_classes in_a, in_b;

	if (query_classes(a, s, same, &in_a) < 0 || query_classes(b, s, same, &in_b) < 0)
		return query_enomem(err, src.kind->name);
	d.pairs = arena_alloc(&b->arena, (in_a.n + in_b.n + 1) * sizeof(*d.pairs));
	if (!d.pairs)
		return query_enomem(err, src.kind->name);
	join(&d, &in_a, &in_b);
	src.n = d.n;
	return rows_answer(b, s, &src, ret, err);
}

int query_diff(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
	       struct error *err)
{
	return answer(a, b, QUERY_SAME_NAME, s, ret, err);
}

int query_compare(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
		  struct error *err)
{
	return answer(a, b, QUERY_SAME_THING, s, ret, err);
}

int query_moment_init(struct query_moment *m, const struct engine *e)
{
	struct model *copy = mem_calloc(1, sizeof(*copy));

	*m = (struct query_moment){.engine = mem_calloc(1, sizeof(*m->engine))};
	if (!m->engine || !copy)
		goto failed;
	m->engine->model = copy;
	m->engine->groups = e->groups;
	m->engine->lines = e->lines;
	m->engine->keep_symbols = e->keep_symbols;
	m->engine->trust_paths = e->trust_paths;
	m->engine->symfs = e->symfs;
	if (model_copy(copy, e->model) == 0) {
		if (query_init(&m->query, m->engine) == 0) {
			m->query.sym = &e->sym;
			return 0;
		}
		model_deinit(copy);
	}
failed:
	mem_free(copy);
	mem_free(m->engine);
	*m = (struct query_moment){0};
	return -ENOMEM;
}

void query_moment_deinit(struct query_moment *m)
{
	if (!m->engine)
		return;
	query_deinit(&m->query);
	model_deinit(m->engine->model);
	mem_free(m->engine->model);
	mem_free(m->engine);
	*m = (struct query_moment){0};
}
