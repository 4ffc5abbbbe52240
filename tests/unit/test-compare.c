// SPDX-License-Identifier: GPL-2.0-only
/*
 * B minus A against the tables of locks of both moments: whatever the key and the window, each row
 * has the figures that it has there, and their differences. A moment stays as it was marked.
 */
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/query-diff.h"
#include "kontend/timeline.h"
#include "random.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 4, PAIRS = 5 };

struct world {
	struct rig rig;
	struct engine engine;
	struct timeline *line;
	uint32_t seed;
};

static void open_world(struct world *w, uint32_t seed)
{
	const struct random_plan p = {.events = 4000, .locks = 30, .seed = seed, .rarity = 40};
	const struct model_limits limits = model_limits_recent(0);
	struct error err = {0};

	*w = (struct world){.seed = seed};
	random_stream(&w->rig, &p);
	assert_int_equal(engine_init(&w->engine, synth_source(w->rig.synth), &limits, &err), 0);
	assert_int_equal(timeline_new(&w->line, &w->engine, NULL, &err), 0);
}

static void close_world(struct world *w)
{
	timeline_free(w->line);
	engine_deinit(&w->engine);
	rig_deinit(&w->rig);
}

/* Marks a moment somewhere. */
static void mark(struct world *w, struct query_moment *m)
{
	struct error err = {0};
	uint64_t begin = timeline_begin_ns(w->line), end = timeline_end_ns(w->line);

	w->seed = w->seed * 1664525 + 1013904223;
	uint64_t at = begin + (end - begin) * (w->seed >> 16) / 65536;
	assert_int_equal(timeline_seek(w->line, at, &err), 0);
	assert_int_equal(query_moment_init(m, &w->engine), 0);
}

/* The value of a row in a column, 0 if unknown, and where there is no row. */
static double number(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	assert_true(col != SIZE_MAX);
	return row == SIZE_MAX ? 0 : table_number(&t->columns[col], table_value(t, row, col));
}

static double signed_number(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_value(t, row, table_column(t, key));

	if (!v->known)
		return 0;
	return t->columns[table_column(t, key)].type == COLUMN_INT ? (double)v->i : v->d;
}

static void assert_near(const char *what, double a, double b)
{
	if (fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b)) + 1e-6)
		fail_msg("%.9g, not %.9g (%s)", b, a, what);
}

/* The figures of one side are those of its table. */
static void check_side(const struct table *c, size_t row, const struct table *t, char side)
{
	static const char *const keys[] = {"contended", "total_ns",	 "avg_ns",    "p99_ns",
					   "max_ns",	"wait_ns_per_s", "cont_per_s"};
	size_t in_t = table_row(t, c->ids[row]);

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char key[32];

		snprintf(key, sizeof(key), "%c_%s", side, keys[i]);
		assert_near(key, number(t, in_t, keys[i]), number(c, row, key));
	}
}

static void check_row(const struct table *c, size_t row, const struct table *a,
		      const struct table *b)
{
	check_side(c, row, a, 'a');
	check_side(c, row, b, 'b');
	assert_near("wait_ns_per_s",
		    number(c, row, "b_wait_ns_per_s") - number(c, row, "a_wait_ns_per_s"),
		    signed_number(c, row, "delta_ns_per_s"));
	assert_near("cont_per_s", number(c, row, "b_cont_per_s") - number(c, row, "a_cont_per_s"),
		    signed_number(c, row, "delta_cont_per_s"));
	assert_near("contended", number(c, row, "b_contended") - number(c, row, "a_contended"),
		    signed_number(c, row, "delta_contended"));
	if (number(c, row, "a_contended") > 0 && number(c, row, "b_contended") > 0)
		assert_near("avg_ns", number(c, row, "b_avg_ns") - number(c, row, "a_avg_ns"),
			    signed_number(c, row, "delta_avg_ns"));
	if (row)
		assert_true(trunc(fabs(signed_number(c, row - 1, "delta_ns_per_s"))) >=
			    trunc(fabs(signed_number(c, row, "delta_ns_per_s"))));
}

/* Rows of @b that @a has not. */
static size_t count_new(const struct table *a, const struct table *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_rows; i++)
		n += table_row(a, b->ids[i]) == SIZE_MAX;
	return n;
}

static size_t check(struct query *a, struct query *b, enum query_by by, uint64_t window_ns)
{
	/* The rates of a window are of all of it; without one they are averages. */
	const struct query_spec s = {.by = by, .average = !window_ns, .ended = true};
	struct error err = {0};
	struct table of_a, of_b, c;

	a->window_ns = b->window_ns = window_ns;
	query_begin(a);
	query_begin(b);
	assert_int_equal(query_locks(a, &s, &of_a, &err), 0);
	assert_int_equal(query_locks(b, &s, &of_b, &err), 0);
	assert_int_equal(query_compare(a, b, &s, &c, &err), 0);
	assert_int_equal(c.n_rows, of_a.n_rows + count_new(&of_a, &of_b));
	for (size_t i = 0; i < c.n_rows; i++)
		check_row(&c, i, &of_a, &of_b);
	return c.n_rows;
}

static void is_the_difference_of_two_tables(void **state)
{
	size_t rows = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;

		open_world(&w, seed);
		uint64_t span = timeline_end_ns(w.line) - timeline_begin_ns(w.line);
		for (int i = 0; i < PAIRS; i++) {
			struct query_moment a, b;

			mark(&w, &a);
			mark(&w, &b);
			for (int by = 0; by < QUERY_BYS; by++)
				for (int part = 0; part < 3; part++)
					rows += check(&a.query, &b.query, (enum query_by)by,
						      span / 8 * (uint64_t)part);
			query_moment_deinit(&a);
			query_moment_deinit(&b);
		}
		close_world(&w);
	}
	assert_true(rows > 1000);
}

/* A scope, a filter and a sort key hold as for one moment. */
static void is_asked_as_locks_are(void **state)
{
	struct world w;
	struct query_moment a, b;
	struct error err = {0};
	struct table all, t;

	(void)state;
	open_world(&w, 9);
	mark(&w, &a);
	mark(&w, &b);
	query_begin(&a.query);
	query_begin(&b.query);
	assert_int_equal(
		query_compare(&a.query, &b.query, &(struct query_spec){.by = BY_LOCK}, &all, &err),
		0);
	assert_true(all.n_rows > 1);
	struct query_spec s = {.by = BY_CALLER,
			       .scope = {.mask = 1u << BY_LOCK, .id[BY_LOCK] = all.ids[0]},
			       .sort = "b_contended",
			       .filter = "b_contended>0"};
	assert_int_equal(query_compare(&a.query, &b.query, &s, &t, &err), 0);
	double sum = 0;
	for (size_t i = 0; i < t.n_rows; i++) {
		sum += number(&t, i, "b_contended");
		assert_true(!i || number(&t, i - 1, "b_contended") >= number(&t, i, "b_contended"));
	}
	assert_near("sum", number(&all, 0, "b_contended"), sum);
	s.sort = "owner";
	assert_int_equal(query_compare(&a.query, &b.query, &s, &t, &err), -EINVAL);
	query_moment_deinit(&a);
	query_moment_deinit(&b);
	close_world(&w);
}

static void memory_may_run_out(void **state)
{
	struct world w;
	struct query_moment m;
	int r = -ENOMEM;

	(void)state;
	open_world(&w, 3);
	for (long k = 0; r; k++) {
		mem_fail_after(k);
		r = query_moment_init(&m, &w.engine);
		mem_fail_after(-1);
		assert_true(r == 0 || (r == -ENOMEM && !m.engine));
	}
	query_moment_deinit(&m);
	query_moment_deinit(&m);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_difference_of_two_tables),
		cmocka_unit_test(is_asked_as_locks_are),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
