// SPDX-License-Identifier: GPL-2.0-only
/* Loading a library at run time: the table of its functions, and the errors. */
#include "kontend/library.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct libc {
	__typeof__(strlen) *length;
	int between;
	__typeof__(strcmp) *compare;
};

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct libc, length, strlen),
	LIBRARY_FUNCTION(struct libc, compare, strcmp),
};

static const struct library_function lacks_one[] = {
	LIBRARY_FUNCTION(struct libc, length, strlen),
	{.name = "kontend_no_such_function", .at = offsetof(struct libc, compare)},
};

static void test_load(void **state)
{
	static const struct library_spec spec = {"libc.so.6", functions, 2, "count bytes", "libc6"};
	struct libc lib = {.between = 7};
	struct error err = {0};

	(void)state;
	assert_int_equal(library_load(&spec, &lib, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(lib.length("four"), 4);
	assert_int_equal(lib.compare("a", "a"), 0);
	assert_int_equal(lib.between, 7);
	assert_int_equal(library_load(&spec, &lib, NULL), 0);
}

#ifndef KONTEND_PORTABLE

static void test_missing_library(void **state)
{
	static const struct library_spec spec = {"libkontend-none.so.1", functions, 2,
						 "count bytes", "libnone1"};
	struct libc lib;
	struct error err = {0};

	(void)state;
	assert_int_equal(library_load(&spec, &lib, &err), -ENOTSUP);
	assert_int_equal(err.code, -ENOTSUP);
	assert_ptr_equal(strstr(err.text, "Cannot count bytes: "), err.text);
	assert_non_null(strstr(err.text, "libkontend-none.so.1"));
	assert_string_equal(strstr(err.text, "; "), "; install libnone1");
	assert_int_equal(library_load(&spec, &lib, NULL), -ENOTSUP);
}

static void test_missing_function(void **state)
{
	static const struct library_spec spec = {"libc.so.6", lacks_one, 2, "count bytes", "libc6"};
	struct libc lib;
	struct error err = {0};

	(void)state;
	assert_int_equal(library_load(&spec, &lib, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "kontend_no_such_function"));
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load),
#ifndef KONTEND_PORTABLE
		cmocka_unit_test(test_missing_library),
		cmocka_unit_test(test_missing_function),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
