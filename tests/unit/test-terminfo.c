// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of terminals that are in the program, where the machine has none. */
#include "term/tty.h"
#include <curses.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include <cmocka.h>

/* TERMINFO alone, unset or empty, would have curses look in its own places: it is another thing
 * there. */
static const char nowhere[] = "/nonexistent";

static bool is_known(const char *name)
{
	int found;
	bool ret = setupterm(name, STDOUT_FILENO, &found) == OK;

	ret = ret && cursor_address && clear_screen;
	if (cur_term)
		del_curterm(cur_term);
	return ret;
}

/* A name that no machine has: its description is that of another, and curses takes it all the same.
 */
static void test_own(void **state)
{
	struct terminfo t;

	(void)state;
	setenv("TERMINFO", nowhere, 1);
	assert_false(is_known("kontend-test-term"));
	assert_true(terminfo_begin(&t, "kontend-test-term"));
	assert_true(is_known("kontend-test-term"));

	terminfo_end(&t);
	assert_string_equal(getenv("TERMINFO"), nowhere);
	assert_false(is_known("kontend-test-term"));
}

static void test_unset(void **state)
{
	struct terminfo t;

	(void)state;
	unsetenv("TERMINFO");
	assert_true(terminfo_begin(&t, "kontend-test-term"));
	assert_non_null(getenv("TERMINFO"));
	terminfo_end(&t);
	assert_null(getenv("TERMINFO"));
	terminfo_end(&t); /* does nothing */
}

static void test_unknown(void **state)
{
	struct terminfo t;

	(void)state;
	setenv("TERMINFO", nowhere, 1);
	assert_false(terminfo_begin(&t, "nosuchterm"));
	assert_string_equal(getenv("TERMINFO"), nowhere);
	terminfo_end(&t);
	assert_string_equal(getenv("TERMINFO"), nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_unset),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
