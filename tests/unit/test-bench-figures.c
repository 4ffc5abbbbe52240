// SPDX-License-Identifier: GPL-2.0-only
/* Figures keep their order and what they are of, and say when memory has run out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kontend/bench-figures.h"
#include "kontend/mem.h"

#include <errno.h>

static const struct bench_metric rate = {"calls", "1/s", BENCH_HIGHER};

static void figures_stand_in_their_order(void **state)
{
	struct bench_figures f = {0};

	(void)state;
	for (int i = 0; i < 100; i++)
		bench_figures_put(&f, &rate, i, "case %d", i);
	assert_int_equal(f.n, 100);
	assert_int_equal(f.code, 0);
	assert_string_equal(f.v[77].of, "case 77");
	assert_string_equal(f.v[77].metric, "calls");
	assert_string_equal(f.v[77].unit, "1/s");
	assert_int_equal(f.v[77].value, 77);
	assert_string_equal(bench_figures_better(f.v[77].better), "higher");
	bench_figures_deinit(&f);
	assert_int_equal(f.n, 0);
}

static void a_long_case_is_cut(void **state)
{
	struct bench_figures f = {0};

	(void)state;
	bench_figures_put(&f, &rate, 1, "%0200d", 7);
	assert_int_equal(f.v[0].of[sizeof(f.v[0].of) - 1], '\0');
	bench_figures_deinit(&f);
}

static void without_memory_it_says_so(void **state)
{
	struct bench_figures f = {0};

	(void)state;
	mem_fail_after(0);
	bench_figures_put(&f, &rate, 1, "one");
	mem_fail_after(-1);
	assert_int_equal(f.code, -ENOMEM);
	assert_int_equal(f.n, 0);
	bench_figures_put(&f, &rate, 2, "two");
	assert_int_equal(f.n, 1);
	assert_int_equal(f.code, -ENOMEM);
	bench_figures_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_stand_in_their_order),
		cmocka_unit_test(a_long_case_is_cut),
		cmocka_unit_test(without_memory_it_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
