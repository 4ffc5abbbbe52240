// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of 64 buckets an octave: how far a percentile may be off, edges, copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/hist-fine.h"
#include "kontend/mem.h"

static void percentiles_are_right_within_a_percent(void **state)
{
	struct hist_fine f = {0};

	(void)state;
	/* The middle one of three values, of every size. */
	for (uint64_t v = 70; v < 200000000; v += v / 7) {
		hist_fine_clear(&f);
		assert_int_equal(hist_fine_add(&f, 1), 0);
		assert_int_equal(hist_fine_add(&f, v), 0);
		assert_int_equal(hist_fine_add(&f, 300000000), 0);
		double off = ((double)hist_fine_percentile(&f, 50) - (double)v) / (double)v;
		assert_true(off < 0.008 && off > -0.008);
	}
	hist_fine_deinit(&f);
}

static void sums_are_exact(void **state)
{
	struct hist_fine f = {0};

	(void)state;
	assert_int_equal(hist_fine_percentile(&f, 50), 0);
	hist_fine_add(&f, 5);
	hist_fine_add(&f, 1ull << 40);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.min_ns, 5);
	assert_int_equal(f.max_ns, 1ull << 40);
	assert_int_equal(f.total_ns, 5 + (1ull << 40));
	assert_int_equal(hist_fine_between(&f, 0, UINT64_MAX), 2);
	hist_fine_deinit(&f);
}

static void equal_values_are_told_exactly(void **state)
{
	struct hist_fine f = {0};

	(void)state;
	for (int i = 0; i < 100; i++)
		hist_fine_add(&f, 50912);
	assert_int_equal(hist_fine_percentile(&f, 50), 50912);
	assert_int_equal(hist_fine_percentile(&f, 99), 50912);
	assert_int_equal(hist_fine_between(&f, 50000, 51200), 100);
	assert_int_equal(hist_fine_between(&f, 60000, 70000), 0);
	hist_fine_deinit(&f);
}

static void copies_go_on_by_themselves(void **state)
{
	struct hist_fine f = {0}, copy;

	(void)state;
	assert_int_equal(hist_fine_copy(&copy, &f), 0);
	hist_fine_add(&f, 1000);
	assert_int_equal(copy.n, 0);
	assert_int_equal(hist_fine_copy(&copy, &f), 0);
	hist_fine_add(&f, 2000);
	assert_int_equal(copy.n, 1);
	assert_int_equal(hist_fine_percentile(&copy, 99), 1000);
	hist_fine_deinit(&copy);
	mem_fail_after(0);
	assert_int_not_equal(hist_fine_copy(&copy, &f), 0);
	mem_fail_after(-1);
	hist_fine_deinit(&copy);
	hist_fine_deinit(&f);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_right_within_a_percent),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(equal_values_are_told_exactly),
		cmocka_unit_test(copies_go_on_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
