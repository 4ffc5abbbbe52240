// SPDX-License-Identifier: GPL-2.0-only
/* When something is on for a part of each second: not unasked, not for longer, late or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/burst.h"

#define MS 1000000ull

static void on_for_its_part(void **state)
{
	struct burst b = {.len_ns = 100 * MS, .every_ns = 1000 * MS};

	(void)state;
	assert_int_equal(burst_step(&b, 5000 * MS, true), BURST_ON);
	assert_int_equal(burst_next(&b), 5100 * MS);
	assert_int_equal(burst_step(&b, 5099 * MS, true), BURST_STAYS);
	assert_int_equal(burst_step(&b, 5100 * MS, true), BURST_OFF);
	assert_int_equal(b.from_ns, 5000 * MS);
	assert_int_equal(burst_next(&b), 6000 * MS);
	assert_int_equal(burst_step(&b, 6000 * MS, true), BURST_ON);
}

static void ends_though_nobody_wants_it_any_more(void **state)
{
	struct burst b = {.len_ns = 100 * MS, .every_ns = 1000 * MS};

	(void)state;
	assert_int_equal(burst_step(&b, 5000 * MS, true), BURST_ON);
	assert_int_equal(burst_step(&b, 5200 * MS, false), BURST_OFF);
	assert_int_equal(burst_step(&b, 6000 * MS, false), BURST_STAYS);
	assert_int_equal(burst_step(&b, 6500 * MS, true), BURST_STAYS);
	assert_int_equal(burst_step(&b, 7000 * MS, true), BURST_ON);
}

static void a_late_one_does_not_hurry_the_next(void **state)
{
	struct burst b = {.len_ns = 100 * MS, .every_ns = 1000 * MS};

	(void)state;
	assert_int_equal(burst_step(&b, 5000 * MS, true), BURST_ON);
	assert_int_equal(burst_step(&b, 9000 * MS, true), BURST_OFF);
	assert_int_equal(burst_next(&b), 9900 * MS);
}

/* Works in the first tenth of each second only; how much of it a burst has seen. */
static uint64_t seen_of(uint64_t from, uint64_t to)
{
	uint64_t begin = from / (1000 * MS) * 1000 * MS, end = begin + 100 * MS;

	return from < end ? (to < end ? to : end) - from : 0;
}

static void spread_ones_see_a_fair_part(void **state)
{
	struct burst b = {.len_ns = 50 * MS, .every_ns = 500 * MS, .spread = true};
	uint64_t begin = 1000000 * MS, now = begin, seen = 0, on = 0;
	unsigned n = 0;

	(void)state;
	for (; n < 4000; now = burst_next(&b)) {
		enum burst_change c = burst_step(&b, now, true);
		if (c != BURST_OFF)
			continue;
		assert_int_equal(now - b.from_ns, 50 * MS);
		/* One in each period, which is as long as is asked for. */
		assert_int_equal((b.from_ns - begin) / (500 * MS), n);
		on += now - b.from_ns;
		seen += seen_of(b.from_ns, now);
		n++;
	}
	/* A tenth of the time has the work; of 4000 the deviation is about 2 %. */
	assert_in_range(seen * 1000 / on, 85, 115);
}

static void a_late_spread_one_leaves_a_period_out(void **state)
{
	struct burst b = {.len_ns = 50 * MS, .every_ns = 500 * MS, .spread = true};

	(void)state;
	assert_int_equal(burst_step(&b, 5000 * MS, true), BURST_STAYS);
	assert_in_range(burst_next(&b), 5000 * MS, 5450 * MS);
	assert_int_equal(burst_step(&b, 5450 * MS, true), BURST_ON);
	assert_int_equal(burst_step(&b, 5960 * MS, true), BURST_OFF);
	assert_in_range(burst_next(&b), 6000 * MS, 6450 * MS);
	assert_int_equal(burst_step(&b, 6450 * MS, true), BURST_ON);
	assert_int_equal(burst_step(&b, 6510 * MS, true), BURST_OFF);
	assert_in_range(burst_next(&b), 6510 * MS, 6950 * MS);
}

static void nothing_is_never(void **state)
{
	struct burst b = {0};

	(void)state;
	assert_int_equal(burst_step(&b, 5000 * MS, true), BURST_STAYS);
	assert_int_equal(burst_next(&b), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_for_its_part),
		cmocka_unit_test(ends_though_nobody_wants_it_any_more),
		cmocka_unit_test(a_late_one_does_not_hurry_the_next),
		cmocka_unit_test(spread_ones_see_a_fair_part),
		cmocka_unit_test(a_late_spread_one_leaves_a_period_out),
		cmocka_unit_test(nothing_is_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
