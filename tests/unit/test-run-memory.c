// SPDX-License-Identifier: GPL-2.0-only
/* Memory that a run may take to keep waits apart: while measuring, less than for a recording. */
#include "kontend/run.h"
#include "kontend/sysinfo.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void what_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(run_memory(5 << 20, true), 5 << 20);
	assert_int_equal(run_memory(5 << 20, false), 5 << 20);
}

static void what_it_has_otherwise(void **state)
{
	(void)state;
	assert_int_equal(run_memory(0, false), 128 << 20);
	assert_int_equal(run_memory(0, true), sysinfo_memory() / 4);
}

/* The time before incidents has a quarter of the memory of a recorder, which has 64M. */
static void what_a_backlog_has(void **state)
{
	(void)state;
	assert_int_equal(run_backlog(0), 16 << 20);
	assert_int_equal(run_backlog(40 << 20), 10 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_asked_for),
		cmocka_unit_test(what_it_has_otherwise),
		cmocka_unit_test(what_a_backlog_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
