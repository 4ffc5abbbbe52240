// SPDX-License-Identifier: GPL-2.0-only
/* Numbers in text: digits alone, their limits, and text around them. */
#include "kontend/number.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SEEN = 77 };

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t least, most;
		int code;
		uint64_t v;
	} cases[] = {
		{"0", 0, 0, 0, 0},
		{"007", 0, 7, 0, 7},
		{"1024", 1, 1024, 0, 1024},
		{"1025", 1, 1024, -ERANGE, SEEN},
		{"0", 1, 1024, -ERANGE, SEEN},
		{"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
		{"18446744073709551616", 0, UINT64_MAX, -ERANGE, SEEN},
		{"99999999999999999999999", 0, UINT64_MAX, -ERANGE, SEEN},
		{"99999999999999999999999x", 0, UINT64_MAX, -EINVAL, SEEN},
		{"9", 0, 5, -ERANGE, SEEN},
		{"", 0, 9, -EINVAL, SEEN},
		{"-1", 0, 9, -EINVAL, SEEN},
		{"+1", 0, 9, -EINVAL, SEEN},
		{" 1", 0, 9, -EINVAL, SEEN},
		{"1 ", 0, 9, -EINVAL, SEEN},
		{"1.5", 0, 9, -EINVAL, SEEN},
		{"0x1", 0, 9, -EINVAL, SEEN},
		{"1\n", 0, 9, -EINVAL, SEEN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t v = SEEN;

		if (number_parse(cases[i].text, cases[i].least, cases[i].most, &v) !=
			    cases[i].code ||
		    v != cases[i].v)
			fail_msg("'%s' is %ju", cases[i].text, (uintmax_t)v);
	}
}

static void test_part(void **state)
{
	uint64_t v = SEEN;

	(void)state;
	assert_int_equal(number_parse_n("12,13", 2, 0, 99, &v), 0);
	assert_int_equal(v, 12);
	assert_int_equal(number_parse_n("123", 2, 0, 999, &v), -EINVAL);
	assert_int_equal(number_parse_n("1,3", 2, 0, 999, &v), -EINVAL);
	assert_int_equal(number_parse_n("1", 0, 0, 999, &v), -EINVAL);
}

static void test_take(void **state)
{
	const char *at = "12:345", *begin = at;
	uint64_t v = 0;

	(void)state;
	assert_int_equal(number_take(&at, 11, &v), -ERANGE);
	assert_ptr_equal(at, begin);
	assert_int_equal(number_take(&at, 12, &v), 0);
	assert_int_equal(v, 12);
	assert_string_equal(at, ":345");
	assert_int_equal(number_take(&at, 12, &v), -EINVAL);
	assert_string_equal(at, ":345");
	at++;
	assert_int_equal(number_take(&at, UINT64_MAX, &v), 0);
	assert_int_equal(v, 345);
	assert_string_equal(at, "");
}

static void test_hex(void **state)
{
	static const struct {
		const char *text, *rest;
		int code;
		uint64_t v;
	} cases[] = {
		{"0xfF90 t", " t", 0, 0xff90},
		{"ffffffff812f3a10 t", " t", 0, 0xffffffff812f3a10},
		{"0X1g", "g", 0, 1},
		{"0", "", 0, 0},
		{"0x", "0x", -EINVAL, SEEN},
		{"0xg", "0xg", -EINVAL, SEEN},
		{"-1", "-1", -EINVAL, SEEN},
		{"", "", -EINVAL, SEEN},
		{"1ffffffffffffffff", "1ffffffffffffffff", -ERANGE, SEEN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *at = cases[i].text;
		uint64_t v = SEEN;

		if (number_take_hex(&at, &v) != cases[i].code || v != cases[i].v ||
		    strcmp(at, cases[i].rest) != 0)
			fail_msg("'%s' is %jx, then '%s'", cases[i].text, (uintmax_t)v, at);
	}
}

static void test_any(void **state)
{
	const char *at = "0x2000,8192,0x";
	uint64_t v = 0;

	(void)state;
	assert_int_equal(number_take_any(&at, &v), 0);
	assert_int_equal(v, 0x2000);
	at++;
	assert_int_equal(number_take_any(&at, &v), 0);
	assert_int_equal(v, 8192);
	at++;
	assert_int_equal(number_take_any(&at, &v), -EINVAL);
	assert_string_equal(at, "0x");
}

static void test_decimal(void **state)
{
	static const struct {
		const char *text, *rest;
		int code;
		double v;
	} cases[] = {
		{"12", "", 0, 12},
		{"0.5%", "%", 0, 0.5},
		{".25", "", 0, 0.25},
		{"5.", "", 0, 5},
		{"1.2.3", ".3", 0, 1.2},
		{"1e3", "e3", 0, 1},
		{"inf", "inf", -EINVAL, SEEN},
		{"-1", "-1", -EINVAL, SEEN},
		{".", ".", -EINVAL, SEEN},
		{"", "", -EINVAL, SEEN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *at = cases[i].text;
		double v = SEEN;

		assert_int_equal(number_take_decimal(&at, &v), cases[i].code);
		assert_true(v == cases[i].v);
		assert_string_equal(at, cases[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_part),
		cmocka_unit_test(test_take),  cmocka_unit_test(test_hex),
		cmocka_unit_test(test_any),   cmocka_unit_test(test_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
