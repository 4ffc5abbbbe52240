// SPDX-License-Identifier: GPL-2.0-only
/*
 * A screen's queries keep results from frame to frame: the answers are those of queries that keep
 * none, whatever the requests and their order, and whatever the model does in between.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/query-overview.h"
#include "kontend/query.h"
#include "random.h"

enum { WINDOW = 9 };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void assert_same_rows(const struct table *a, const struct table *b,
			     const struct query_spec *s)
{
	assert_int_equal(a->n_rows, b->n_rows);
	assert_int_equal(a->n_match, b->n_match);
	assert_int_equal(a->n_total, b->n_total);
	assert_int_equal(a->sort_col, b->sort_col);
	assert_int_equal(a->n_columns, b->n_columns);
	for (size_t i = 0; i < a->n_rows; i++) {
		bool is_seen = i >= s->window_first && i < s->window_first + s->window_n;

		assert_true(a->ids[i] == b->ids[i]);
		for (size_t c = 0; c < a->n_columns && (is_seen || !s->window_n); c++) {
			char x[512], y[512];
			table_format(&a->columns[c], table_value(a, i, c), false, x, sizeof(x));
			table_format(&b->columns[c], table_value(b, i, c), false, y, sizeof(y));
			assert_string_equal(x, y);
		}
	}
}

/* Colours are scaled by all rows, visible or not. */
static void assert_most(const struct table *windowed, const struct table *all)
{
	size_t col = table_column(all, "wait_ns_per_s");

	for (size_t i = 0; i < all->n_rows && windowed->most; i++)
		assert_true(table_number(&all->columns[col], table_value(all, i, col)) <=
			    windowed->most[col]);
}

static void query_both(struct query *keeps, struct query *anew, const struct query_spec *s)
{
	struct query_spec all = *s;
	struct query_overview x, y;
	struct table a, b;

	query_begin(keeps);
	query_begin(anew);
	assert_int_equal(query_locks(keeps, s, &a, NULL), 0);
	all.window_n = all.window_first = 0;
	assert_int_equal(query_locks(anew, &all, &b, NULL), 0);
	assert_same_rows(&a, &b, s);
	assert_most(&a, &b);
	assert_int_equal(query_overview(keeps, &x), 0);
	assert_int_equal(query_overview(anew, &y), 0);
	assert_int_equal(x.own_waits, y.own_waits);
	assert_int_equal(x.own_wait_ns, y.own_wait_ns);
}

static void ask_at_random(struct query *keeps, struct query *anew, uint32_t *seed)
{
	static const char *const sorts[] = {NULL,     "total_ns",  "p99_ns", "name",
					    "caller", "contended", "max_ns"};
	static const char *const filters[] = {NULL, "", "mutex", "contended>3"};
	struct query_spec s = {.by = (enum query_by)(rnd(seed) % QUERY_BYS),
			       .sort = sorts[rnd(seed) % 7],
			       .filter = filters[rnd(seed) % 4],
			       .reverse = rnd(seed) % 2,
			       .average = rnd(seed) % 2};

	if (rnd(seed) % 4 == 0) {
		s.scope.mask = 1u << BY_CPU;
		s.scope.id[BY_CPU] = rnd(seed) % RANDOM_CPUS;
	}
	for (unsigned i = 0; i < 3; i++) {
		s.window_n = i ? WINDOW : 0;
		s.window_first = i ? rnd(seed) % 40 : 0;
		query_both(keeps, anew, &s);
	}
}

static void what_is_kept_is_what_it_would_be(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 4; seed++) {
		struct random_plan p = {.events = 4000, .locks = 60, .seed = seed};
		struct query keeps, anew;
		struct error err = {0};
		struct engine e;
		struct rig r;
		uint32_t dice = seed;
		int a;

		random_stream(&r, &p);
		assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
		assert_int_equal(query_init(&keeps, &e), 0);
		assert_int_equal(query_init(&anew, &e), 0);
		keeps.keeps = true;
		while ((a = engine_pump(&e, 0, &err)) != ENGINE_END) {
			assert_true(a >= 0);
			for (unsigned i = 0; i < 3 && a == ENGINE_TICK; i++)
				ask_at_random(&keeps, &anew, &dice);
			if (a == ENGINE_TICK && rnd(&dice) % 16 == 0)
				model_zero(e.model);
		}
		for (unsigned i = 0; i < 60; i++)
			ask_at_random(&keeps, &anew, &dice);
		query_deinit(&keeps);
		query_deinit(&anew);
		engine_deinit(&e);
		rig_deinit(&r);
	}
}

/* An order that is asked for again is the same one; one of another state is not. */
static void orders_have_numbers(void **state)
{
	struct random_plan p = {.events = 2000, .locks = 30, .seed = 9};
	struct query_spec s = {.window_n = WINDOW}, by_max = {.window_n = WINDOW, .sort = "max_ns"};
	struct error err = {0};
	struct engine e;
	struct query q;
	struct table a, b;
	struct rig r;

	(void)state;
	random_stream(&r, &p);
	assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
	assert_int_equal(query_init(&q, &e), 0);
	q.keeps = true;
	while (e.model->n_ticks < 3)
		assert_true(engine_pump(&e, 0, &err) >= 0);
	for (unsigned i = 0; i < 2; i++) { /* names are learned in the first frame */
		query_begin(&q);
		assert_int_equal(query_locks(&q, &s, &a, NULL), 0);
	}
	query_begin(&q);
	assert_int_equal(query_locks(&q, &by_max, &b, NULL), 0);
	assert_true(a.order && b.order && a.order != b.order);
	query_begin(&q);
	assert_int_equal(query_locks(&q, &s, &b, NULL), 0);
	assert_true(a.order == b.order);
	while (e.model->n_ticks < 4)
		assert_true(engine_pump(&e, 0, &err) >= 0);
	query_begin(&q);
	assert_int_equal(query_locks(&q, &s, &b, NULL), 0);
	assert_true(b.order > a.order);
	query_deinit(&q);
	engine_deinit(&e);
	rig_deinit(&r);
}

static void without_memory_nothing_wrong_is_kept(void **state)
{
	struct random_plan p = {.events = 2000, .locks = 30, .seed = 11};
	struct query_spec s = {.window_n = WINDOW, .sort = "name"};
	struct error err = {0};
	struct engine e;
	struct query keeps, anew;
	struct table t;
	struct rig r;
	int a;

	(void)state;
	random_stream(&r, &p);
	assert_int_equal(engine_init(&e, synth_source(r.synth), NULL, &err), 0);
	while ((a = engine_pump(&e, 0, &err)) != ENGINE_END)
		assert_true(a >= 0);
	assert_int_equal(query_init(&anew, &e), 0);
	for (long k = 0; k < 40; k++) {
		assert_int_equal(query_init(&keeps, &e), 0);
		keeps.keeps = true;
		query_begin(&keeps);
		mem_fail_after(k);
		a = query_locks(&keeps, &s, &t, NULL);
		mem_fail_after(-1);
		assert_true(a == 0 || a == -ENOMEM);
		query_both(&keeps, &anew, &s);
		query_both(&keeps, &anew, &s);
		query_deinit(&keeps);
	}
	query_deinit(&anew);
	engine_deinit(&e);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_what_it_would_be),
		cmocka_unit_test(orders_have_numbers),
		cmocka_unit_test(without_memory_nothing_wrong_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
