// SPDX-License-Identifier: GPL-2.0-only
/* Histograms: every value is in the bucket whose bounds hold it, percentiles err by < 13 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/hist.h"
#include "kontend/mem.h"

static void buckets_hold_their_values(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 40; shift++) {
		for (uint64_t d = 0; d < 9; d++) {
			uint64_t v = (1ull << shift) + d * ((1ull << shift) / 8 + 1);
			unsigned b = hist_bucket(v);
			assert_true(b < HIST_BUCKETS);
			assert_true(hist_lower(b) <= v);
			assert_true(v < hist_upper(b));
		}
	}
	assert_int_equal(hist_bucket(0), 0);
	assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
	for (unsigned b = 1; b < HIST_BUCKETS; b++)
		assert_int_equal(hist_bucket(hist_lower(b)), b);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void percentiles_are_within_13_percent(void **state)
{
	static uint64_t v[20000];
	uint32_t refs[HIST_GROUPS] = {0}, seed = 12345;
	struct hist_pool p;
	struct hist h = {0};
	size_t n = sizeof(v) / sizeof(*v);

	(void)state;
	assert_int_equal(hist_pool_init(&p, 1000), 0);
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		v[i] = (1ull << seed % 24) * 1000 + seed % 999983;
		hist_pool_add(&p, refs, v[i]);
	}
	qsort(v, n, sizeof(*v), by_value);
	hist_pool_sum(&p, refs, &h);
	assert_int_equal(h.n, n);
	for (unsigned pct = 1; pct < 100; pct++) {
		double want = (double)v[n * pct / 100];
		double got = (double)hist_percentile(&h, pct, v[0], v[n - 1]);
		assert_true(got > want * 0.87 && got < want * 1.13);
	}
	assert_int_equal(hist_percentile(&h, 100, v[0], v[n - 1]) <= v[n - 1], 1);
	hist_pool_deinit(&p);
}

static void one_value_is_exact(void **state)
{
	uint32_t refs[HIST_GROUPS] = {0};
	struct hist_pool p;
	struct hist h = {0};

	(void)state;
	assert_int_equal(hist_pool_init(&p, 10), 0);
	hist_pool_add(&p, refs, 123457);
	hist_pool_sum(&p, refs, &h);
	assert_int_equal(hist_percentile(&h, 1, 123457, 123457), 123457);
	assert_int_equal(hist_percentile(&h, 99, 123457, 123457), 123457);
	hist_pool_deinit(&p);
}

static void a_full_pool_counts_what_it_drops(void **state)
{
	uint32_t refs[4][HIST_GROUPS] = {{0}};
	struct hist_pool p;
	struct hist h = {0};

	(void)state;
	assert_int_equal(hist_pool_init(&p, 3), 0); /* two groups besides group 0 */
	hist_pool_add(&p, refs[0], 1);
	hist_pool_add(&p, refs[1], 1);
	hist_pool_add(&p, refs[2], 1);
	assert_int_equal(p.n_dropped, 1);
	hist_pool_move(&p, refs[0], refs[1]);
	hist_pool_add(&p, refs[2], 1); /* the freed group is used again */
	assert_int_equal(p.n_dropped, 1);
	hist_pool_sum(&p, refs[0], &h);
	assert_int_equal(h.n, 2);
	hist_pool_deinit(&p);
}

static void growth_survives_lack_of_memory(void **state)
{
	uint32_t refs[200][HIST_GROUPS];
	struct hist_pool p;
	uint64_t kept = 0;

	(void)state;
	memset(refs, 0, sizeof(refs));
	assert_int_equal(hist_pool_init(&p, 10000), 0);
	mem_fail_after(0);
	for (size_t i = 0; i < 200; i++)
		hist_pool_add(&p, refs[i], 5);
	mem_fail_after(-1);
	for (size_t i = 0; i < 200; i++) {
		struct hist h = {0};
		hist_pool_sum(&p, refs[i], &h);
		kept += h.n;
	}
	assert_int_equal(p.n_dropped, 1);
	assert_int_equal(kept, 199);
	hist_pool_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_hold_their_values),
		cmocka_unit_test(percentiles_are_within_13_percent),
		cmocka_unit_test(one_value_is_exact),
		cmocka_unit_test(a_full_pool_counts_what_it_drops),
		cmocka_unit_test(growth_survives_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
