// SPDX-License-Identifier: GPL-2.0-only
/* Messages of a build without libdebuginfod, or without libdw. */
#include "../../src/sym/optional.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_says_so(void **state)
{
	const char *why = debuginfod_missing();

	(void)state;
	if (!why || strcmp(why, "debuginfod is not built in") != 0) {
		printf("skipped: libdw is not built in\n");
		skip();
	}
	assert_true(debuginfod_find("00", 1, (char[64]){0}, 64) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_so)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
