// SPDX-License-Identifier: GPL-2.0-only
/* UTF-8 is not lost where the locale that was asked for is not installed. */
#include "kontend/codeset.h"
#include <langinfo.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_utf8(const char *all, const char *ctype, const char *lang)
{
	setenv("LC_ALL", all, 1);
	setenv("LC_CTYPE", ctype, 1);
	setenv("LANG", lang, 1);
	setlocale(LC_CTYPE, "C");
	codeset_set();
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void test_utf8(void **state)
{
	(void)state;
	setenv("LOCPATH", "/nonexistent", 1); /* none is installed but what is in the library */
	if (!is_utf8("", "", "C.UTF-8"))
		skip(); /* a C library that has no locale of its own */
	assert_true(is_utf8("", "", "xx_YY.UTF-8"));
	assert_true(is_utf8("", "xx_YY.utf8", "C"));
	assert_true(is_utf8("xx_YY.utf8@euro", "C", "C"));
}

static void test_others(void **state)
{
	(void)state;
	assert_false(is_utf8("", "", ""));
	assert_false(is_utf8("", "", "C"));
	assert_false(is_utf8("", "", "xx_YY"));
	assert_false(is_utf8("", "", "xx_YY.ISO-8859-1"));
	assert_false(is_utf8("C", "", "xx_YY.UTF-8"));
	assert_false(is_utf8("xx_YY.KOI8-R", "xx_YY.UTF-8", "xx_YY.UTF-8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
