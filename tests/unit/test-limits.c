// SPDX-License-Identifier: GPL-2.0-only
/* Limits for a number of bytes: never below those for 0, and more bytes keep more rows apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cell.h"
#include "kontend/limits.h"
#include "kontend/model.h"

static void no_less_than_the_least(void **state)
{
	struct model_limits none = model_limits_of(0), few = model_limits_of(1 << 20);

	(void)state;
	assert_memory_equal(&none, &few, sizeof(none));
	assert_int_equal(none.cells, 65536);
	assert_int_equal(none.tasks, 32768);
}

static void more_in_more(void **state)
{
	struct model_limits before = model_limits_of(0);

	(void)state;
	for (uint64_t bytes = 1 << 20; bytes < 1ull << 45; bytes *= 2) {
		struct model_limits l = model_limits_of(bytes);
		assert_true(l.cells >= before.cells && l.hist_groups >= before.hist_groups);
		assert_true(l.locks >= before.locks && l.stacks >= before.stacks);
		assert_true(l.tasks >= before.tasks);
		before = l;
	}
	assert_true(before.cells <= 1 << 26);
}

/* Two million cells, with their tables, in a gigabyte. */
static void what_a_gigabyte_holds(void **state)
{
	struct model_limits l = model_limits_of(1 << 30);

	(void)state;
	assert_true(l.cells > 2000000);
	assert_true(l.locks > 200000 && l.tasks > 200000 && l.stacks > 200000);
	assert_true(l.cells * (uint64_t)sizeof(struct cell) < 1ull << 30);
}

/* A live session has room for all that is alive, and all else has a part of what is given. */
static void what_a_screen_keeps(void **state)
{
	struct model_limits l = model_limits_live(18 << 20), more = model_limits_live(1 << 30);

	(void)state;
	assert_int_equal(l.tasks, 32768);
	assert_true(l.locks < 16384 && l.stacks < 16384 && l.cells < 65536);
	assert_true(l.samples == 2 * l.sample_stacks && l.sample_stacks >= 8192);
	assert_true(l.recent && l.held && l.blame && l.heat);
	assert_true(more.locks > l.locks && more.cells > l.cells && more.samples > l.samples);
	assert_true(model_limits_live(1ull << 40).sample_stacks < 1 << 18);
}

/* A recorder has no windows of time to show, and as much room for the rest. */
static void what_a_recorder_keeps(void **state)
{
	struct model_limits l = model_limits_watch(32 << 20), screen = model_limits_live(32 << 20);

	(void)state;
	assert_int_equal(l.tasks, 32768);
	assert_false(l.recent || l.held || l.blame || l.heat);
	assert_true(l.cells >= screen.cells && l.locks >= screen.locks);
	assert_int_equal(l.samples, screen.samples);
	assert_true(l.hist_groups < model_limits_of(0).hist_groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_less_than_the_least), cmocka_unit_test(more_in_more),
		cmocka_unit_test(what_a_gigabyte_holds),  cmocka_unit_test(what_a_screen_keeps),
		cmocka_unit_test(what_a_recorder_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
