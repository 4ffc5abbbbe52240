// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/error.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_first_error_wins(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(error_set(&err, -EINVAL, "cannot open %s", "x"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "cannot open x");
	assert_int_equal(error_set(&err, -ENOMEM, "later"), -ENOMEM);
	assert_int_equal(error_errno(&err, -EPERM, "later"), -EPERM);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "cannot open x");
}

static void test_null_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(error_errno(NULL, -EIO, "x"), -EIO);
}

static void test_errno_text(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(error_errno(&err, -EACCES, "cannot read %d files", 3), -EACCES);
	assert_string_equal(err.text, "cannot read 3 files: Permission denied");
	err = (struct error){0};
	assert_int_equal(error_errno(&err, -KERNEL_ENOTSUPP, "cannot attach"), -KERNEL_ENOTSUPP);
	assert_string_equal(err.text, "cannot attach: Operation not supported");
}

static void test_no_memory(void **state)
{
	struct error err = {0};
	char longer[1000];

	(void)state;
	assert_int_equal(error_enomem(NULL, "x"), -ENOMEM);
	assert_int_equal(error_enomem(&err, "%u CPUs", 4u), -ENOMEM);
	assert_int_equal(err.code, -ENOMEM);
	assert_string_equal(err.text, "No memory for 4 CPUs: end other programs");
	assert_int_equal(error_enomem(&err, "later"), -ENOMEM);
	assert_string_equal(err.text, "No memory for 4 CPUs: end other programs");

	/* A long name leaves room for the advice. */
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err = (struct error){0};
	error_enomem(&err, "%s", longer);
	assert_non_null(strstr(err.text, "aaa: end other programs"));
}

static void test_text_is_bounded_and_clean(void **state)
{
	struct error err = {0};
	char longer[2000];

	(void)state;
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[3] = '\n';
	longer[4] = '\033';
	error_set(&err, -EINVAL, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "aaa??aaa", 8);

	/* A long head does not write past the end when the reason is added. */
	err = (struct error){0};
	error_errno(&err, -EINVAL, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_error_wins),
		cmocka_unit_test(test_null_is_allowed),
		cmocka_unit_test(test_errno_text),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_text_is_bounded_and_clean),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
