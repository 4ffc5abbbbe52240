// SPDX-License-Identifier: GPL-2.0-only
/*
 * Medians of pairs and their intervals: for pairs whose truth is known the interval contains it as
 * often as promised.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kontend/bench-pairs.h"
#include "kontend/mem.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>

static void near(double got, double want)
{
	if (fabs(got - want) > 1e-9)
		fail_msg("%.12f instead of %.12f", got, want);
}

static void add_pair(struct bench_pairs *p, double on)
{
	assert_int_equal(bench_pairs_add(p, 100, on), 0);
}

static void the_median_is_of_the_ratios(void **state)
{
	struct bench_pairs p = {0};
	struct bench_pairs_sum s;

	(void)state;
	assert_int_equal(bench_pairs_sum(&p, &s), 0);
	assert_true(s.n == 0 && isnan(s.median) && isnan(s.low));
	assert_int_equal(bench_pairs_add(&p, 0, 5), 0); /* no pair */
	assert_int_equal(bench_pairs_add(&p, 200, 210), 0);
	add_pair(&p, 107);
	assert_int_equal(bench_pairs_sum(&p, &s), 0);
	assert_int_equal(s.n, 2);
	near(s.median, 6);
	assert_true(isnan(s.low) && isnan(s.high));
	add_pair(&p, 90);
	assert_int_equal(bench_pairs_sum(&p, &s), 0);
	near(s.median, 5);
	bench_pairs_deinit(&p);
}

static void equal_pairs_have_no_width(void **state)
{
	struct bench_pairs p = {0};
	struct bench_pairs_sum s;

	(void)state;
	for (int i = 0; i < BENCH_PAIRS_LEAST; i++)
		add_pair(&p, 103);
	assert_int_equal(bench_pairs_sum(&p, &s), 0);
	near(s.low, 3);
	near(s.high, 3);
	bench_pairs_deinit(&p);
}

/* One that is far off moves neither much. */
static void the_interval_is_around_the_median(void **state)
{
	struct bench_pairs p = {0};
	struct bench_pairs_sum s, again;

	(void)state;
	for (int i = 0; i < 21; i++)
		add_pair(&p, 100 + i);
	add_pair(&p, 100000);
	assert_int_equal(bench_pairs_sum(&p, &s), 0);
	assert_true(s.low < s.median && s.median < s.high);
	assert_true(s.low > 2 && s.high < 20);
	assert_int_equal(bench_pairs_sum(&p, &again), 0);
	near(again.low, s.low);
	near(again.high, s.high);
	bench_pairs_deinit(&p);
}

/* Even numbers of 0 to 1, of a generator of its own. */
static double even(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* The interval has the truth in 95 of 100 cases: of 400 in 380, hardly ever in less than 360. */
static void the_truth_is_in_the_interval_as_often_as_it_says(void **state)
{
	uint64_t seed = 1;
	int inside = 0;

	(void)state;
	for (int run = 0; run < 400; run++) {
		struct bench_pairs p = {0};
		struct bench_pairs_sum s;
		for (int i = 0; i < 20; i++)
			add_pair(&p, 104 + 10 * (even(&seed) + even(&seed) - 1));
		assert_int_equal(bench_pairs_sum(&p, &s), 0);
		inside += s.low <= 4 && s.high >= 4;
		bench_pairs_deinit(&p);
	}
	assert_in_range(inside, 360, 398);
}

static void without_memory_it_says_so(void **state)
{
	struct bench_pairs p = {0};
	struct bench_pairs_sum s;

	(void)state;
	mem_fail_after(0);
	assert_int_equal(bench_pairs_add(&p, 1, 1), -ENOMEM);
	mem_fail_after(-1);
	add_pair(&p, 101);
	mem_fail_after(0);
	assert_int_equal(bench_pairs_sum(&p, &s), -ENOMEM);
	mem_fail_after(-1);
	bench_pairs_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_is_of_the_ratios),
		cmocka_unit_test(equal_pairs_have_no_width),
		cmocka_unit_test(the_interval_is_around_the_median),
		cmocka_unit_test(the_truth_is_in_the_interval_as_often_as_it_says),
		cmocka_unit_test(without_memory_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
