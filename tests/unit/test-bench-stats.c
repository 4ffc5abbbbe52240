// SPDX-License-Identifier: GPL-2.0-only
/* Medians, distances and intervals, against what can be worked out by hand, and against chance. */
#include "kontend/bench-stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static void medians_are_in_the_middle(void **state)
{
	const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};

	(void)state;
	near(bench_stats_median(odd, 3), 5);
	near(bench_stats_median(even, 4), 2.5);
	near(bench_stats_median(one, 1), 7);
	assert_true(isnan(bench_stats_median(NULL, 0)));
	/* Distances from 5 are 4, 4 and 0; from 2.5 they are 1.5, 1.5, 0.5 and 0.5. */
	near(bench_stats_mad(odd, 3), 4);
	near(bench_stats_mad(even, 4), 1);
	near(bench_stats_mad(one, 1), 0);
	assert_true(isnan(bench_stats_mad(NULL, 0)));
	near(odd[0], 9); /* nothing is put in order where it lies */
}

static void a_change_is_seen(void **state)
{
	const double before[] = {100, 101, 99, 100, 102}, now[] = {150, 151, 149, 152, 150};
	struct bench_stats_ratio r;

	(void)state;
	bench_stats_ratio(before, 5, now, 5, &r);
	assert_true(r.known && r.has_interval && bench_stats_differs(&r));
	near(r.ratio, 1.5);
	assert_true(r.low > 1.4 && r.low <= r.ratio && r.ratio <= r.high && r.high < 1.6);
	bench_stats_ratio(now, 5, before, 5, &r);
	assert_true(bench_stats_differs(&r) && r.high < 1);
}

static void noise_is_no_change(void **state)
{
	const double before[] = {100, 130, 80, 110, 95}, now[] = {105, 90, 125, 99, 120};
	struct bench_stats_ratio r;

	(void)state;
	bench_stats_ratio(before, 5, now, 5, &r);
	assert_true(r.has_interval && r.low < 1 && r.high > 1);
	assert_false(bench_stats_differs(&r));
	bench_stats_ratio(before, 5, before, 5, &r);
	assert_false(bench_stats_differs(&r));
}

/* Where nothing has changed, at most a small part of all comparisons may say so. */
static void chance_is_seldom_a_change(void **state)
{
	uint64_t seed = 7;
	int said = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		double v[20];
		struct bench_stats_ratio r;
		for (int k = 0; k < 20; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			v[k] = 100 + (double)(seed >> 33) / (double)(1u << 31) * 20;
		}
		bench_stats_ratio(v, 10, v + 10, 10, &r);
		said += bench_stats_differs(&r);
	}
	assert_true(said < 20);
}

static void the_same_values_give_the_same_answer(void **state)
{
	const double before[] = {3, 1, 2, 5}, now[] = {2, 4, 8, 1};
	struct bench_stats_ratio a, b;

	(void)state;
	bench_stats_ratio(before, 4, now, 4, &a);
	bench_stats_ratio(before, 4, now, 4, &b);
	near(a.low, b.low);
	near(a.high, b.high);
}

static void what_has_no_share_has_none(void **state)
{
	const double few[] = {1, 2}, zero[] = {0, 1, 2}, below[] = {-1, 1, 2}, ones[] = {1, 1, 1},
		     odd[] = {1, NAN, 2}, huge[] = {1e308, 1e308, 1e308},
		     tiny[] = {1e-308, 1e-308, 1e-308};
	struct bench_stats_ratio r;

	(void)state;
	bench_stats_ratio(few, 2, ones, 3, &r);
	assert_true(r.known && !r.has_interval && !bench_stats_differs(&r));
	bench_stats_ratio(ones, 3, few, 2, &r);
	assert_true(r.known && !r.has_interval);
	bench_stats_ratio(zero, 3, ones, 3, &r);
	assert_false(r.known);
	bench_stats_ratio(ones, 3, below, 3, &r);
	assert_false(r.known);
	bench_stats_ratio(odd, 3, ones, 3, &r);
	assert_false(r.known);
	bench_stats_ratio(NULL, 0, ones, 3, &r);
	assert_false(r.known);
	bench_stats_ratio(tiny, 3, huge, 3, &r);
	assert_false(bench_stats_differs(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_are_in_the_middle),
		cmocka_unit_test(a_change_is_seen),
		cmocka_unit_test(noise_is_no_change),
		cmocka_unit_test(chance_is_seldom_a_change),
		cmocka_unit_test(the_same_values_give_the_same_answer),
		cmocka_unit_test(what_has_no_share_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
