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
		cmocka_unit_test(nothing_is_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
