// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/units.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct whole_case {
	uint64_t value;
	const char *text;
};

struct real_case {
	double value;
	const char *text;
};

static void test_ns(void **state)
{
	static const struct whole_case cases[] = {
		{0, "0ns"},
		{95, "95ns"},
		{999, "999ns"},
		{1000, "1.00us"},
		{9994, "9.99us"},
		{9996, "10.0us"},
		{99960, "100us"},
		{870000, "870us"},
		{999499, "999us"},
		{999500, "1.00ms"},
		{999960, "1.00ms"},
		{41200000, "41.2ms"},
		{999999999, "1.00s"},
		{3210000000, "3.21s"},
		{59940000000, "59.9s"},
		{59960000000, "1m00s"},
		{84400000000, "1m24s"},
		{750000000000, "12m30s"},
		{3599400000000, "59m59s"},
		{3599500000000, "1h00m"},
		{7500000000000, "2h05m"},
		{86369000000000, "23h59m"},
		{86370000000000, "1.00d"},
		{86399000000000, "1.00d"},
		{864000000000000, "10.0d"},
		{UINT64_MAX, "585y"},
	};
	char buf[UNITS_BUF];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_ns(buf, cases[i].value), cases[i].text);
}

static void test_counts(void **state)
{
	static const struct whole_case cases[] = {
		{0, "0"},	    {41, "41"},
		{999, "999"},	    {1000, "1.00k"},
		{18240, "18.2k"},   {984242, "984k"},
		{999499, "999k"},   {999500, "1.00M"},
		{3400000, "3.40M"}, {UINT64_MAX, "18.4E"},
	};
	static const struct whole_case byte_cases[] = {
		{0, "0B"},	 {512, "512B"},	   {999, "999B"},      {1000, "0.98K"},
		{1024, "1.00K"}, {42189, "41.2K"}, {3565158, "3.40M"}, {UINT64_MAX, "16.0E"},
	};
	char buf[UNITS_BUF];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_count(buf, cases[i].value), cases[i].text);
	for (size_t i = 0; i < sizeof(byte_cases) / sizeof(byte_cases[0]); i++)
		assert_string_equal(units_bytes(buf, byte_cases[i].value), byte_cases[i].text);
}

static void test_reals(void **state)
{
	static const struct real_case rates[] = {
		{0, "0"},	{0.01, "<0.1"}, {0.5, "0.5"},	  {41.26, "41.3"},
		{99.96, "100"}, {412, "412"},	{999.7, "1.00k"}, {18240, "18.2k"},
		{-1, "-"},	{NAN, "-"},	{INFINITY, "-"},  {1e300, ">999E"},
	};
	static const struct real_case percents[] = {
		{0, "0"},	 {0.02, "<0.1"}, {0.07, "0.1"}, {59.84, "59.8"},
		{99.94, "99.9"}, {99.96, "100"}, {100, "100"},	{130, "130"},
	};
	static const struct real_case waits[] = {
		{0, "0ns"},   {1.61e9, "1.61s"}, {37.2e6, "37.2ms"},
		{0.4, "0ns"}, {NAN, "-"},	 {188e9, "3m08s"},
	};
	static const struct real_case tasks[] = {
		{0, "0"},	   {196e9, "196"},   {1.924e9, "1.92"}, {20.71e9, "20.7"},
		{0.43e9, "0.43"},  {2.1e6, "0.002"}, {43.4e6, "0.043"}, {411e3, "0.0004"},
		{949e3, "0.0009"}, {951e3, "0.001"}, {99.4e6, "0.099"}, {99.6e6, "0.10"},
		{40e3, "<.0001"},  {51e3, "0.0001"}, {9.996e9, "10.0"}, {99.96e9, "100"},
		{1234e9, "1.23k"}, {-1, "-"},	     {NAN, "-"},	{INFINITY, "-"},
	};
	char buf[UNITS_BUF];

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		assert_string_equal(units_rate(buf, rates[i].value), rates[i].text);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		assert_string_equal(units_pct(buf, percents[i].value), percents[i].text);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		assert_string_equal(units_nsrate(buf, waits[i].value), waits[i].text);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		assert_string_equal(units_tasks(buf, tasks[i].value), tasks[i].text);
}

/* No width above 6 and never four digits of a unit, around every bound and all the way up. */
static void check_shape(const char *text)
{
	size_t digits = 0;

	assert_true(strlen(text) <= 6);
	for (const char *p = text; *p; p++)
		digits += *p >= '0' && *p <= '9';
	assert_in_range(digits, 1, strpbrk(text, "mh") ? 4 : 3);
}

/* "m" is a letter of "ms", and of minutes beside hours or seconds: nowhere does it stand alone. */
static void check_minutes(const char *text)
{
	const char *m = strchr(text, 'm');

	if (!m || m[1] == 's')
		return;
	assert_true(strchr(text, 'h') || text[strlen(text) - 1] == 's');
}

static void test_shape_everywhere(void **state)
{
	char buf[UNITS_BUF];

	(void)state;
	for (uint64_t v = 1; v < UINT64_MAX / 3; v += v / 997 + 1) {
		check_shape(units_ns(buf, v));
		check_minutes(buf);
		check_shape(units_count(buf, v));
		check_shape(units_bytes(buf, v));
		check_shape(units_rate(buf, (double)v / 1000));
		check_shape(units_nsrate(buf, (double)v / 1000));
	}
}

static void test_order_is_kept(void **state)
{
	double last = 0;
	char buf[UNITS_BUF];

	(void)state;
	for (uint64_t v = 1; v < 7200000000000; v += v / 4999 + 1) {
		uint64_t back;
		assert_int_equal(units_parse_ns(units_ns(buf, v), &back), 0);
		assert_true((double)back >= last);
		assert_true(fabs((double)back - (double)v) <= (double)v * 0.0085);
		last = (double)back;
	}
}

static void test_parse_ns(void **state)
{
	static const struct whole_case good[] = {
		{10000000, "10ms"},
		{2500000000, "2.5s"},
		{500000, "500us"},
		{90000000000, "90"},
		{0, "0"},
		{7, "7ns"},
		{120000000000, "2m"},
		{5400000000000, "1.5h"},
		{84000000000, "1m24s"},
		{84500000000, "1m24.5s"},
		{7500000000000, "2h05m"},
		{3661000000000, "1h1m1s"},
		{129600000000000, "1d12h"},
		{1123456789, "1.123456789s"},
		{1, "1.9ns"},
		{1000000000, "1.00000000000000000"},
	};
	static const char *const bad[] = {
		"",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1 s",
		".5",
		"5.",
		"5.s",
		"abc",
		"1x",
		"1e3",
		"0x10",
		"inf",
		"nan",
		"1s1",
		"1s1m",
		"1h1d",
		"1.5m3s",
		"1m24",
		"1 m3s",
		"5000000h9999999999m",
		"1.2.3s",
		"1S",
		"18446744073709551616ns",
		"18446744074s",
		"6000000h",
		"99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t v = 1234;
		assert_int_equal(units_parse_ns(good[i].text, &v), 0);
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t v = 1234;
		assert_int_equal(units_parse_ns(bad[i], &v), -EINVAL);
		assert_int_equal(v, 1234);
	}
}

static void test_parse_bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0},	       {"512", 512},	   {"4k", 4096},      {"4K", 4096},
		    {"1.5M", 3 << 19}, {"2G", 2ull << 30}, {"1T", 1ull << 40}};
	static const char *const bad[] = {"", "1.5", "2KiB", "5P", "-1", "M"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(units_parse_bytes(good[i].text, &v), 0);
		assert_int_equal(v, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(units_parse_bytes(bad[i], &v), -EINVAL);
	assert_int_equal(units_parse_bytes("99999999T", &v), -ERANGE);
}

static void test_parse_count(void **state)
{
	static const struct whole_case good[] = {
		{0, "0"},	    {42, "42"},	    {UINT64_MAX, "18446744073709551615"},
		{10000, "10k"},	    {10000, "10K"}, {1500000, "1.5M"},
		{2000000000, "2G"},
	};
	static const struct {
		int answer;
		const char *text;
	} bad[] = {
		{-EINVAL, ""},
		{-EINVAL, "-1"},
		{-EINVAL, "1.5"},
		{-EINVAL, "1kk"},
		{-EINVAL, "1T"},
		{-EINVAL, "k"},
		{-EINVAL, " 1"},
		{-EINVAL, "1.k"},
		{-ERANGE, "18446744073709551616"},
		{-ERANGE, "18446744073709551615k"},
		{-ERANGE, "20000000000G"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t v = 1234;
		assert_int_equal(units_parse_count(good[i].text, &v), 0);
		assert_int_equal(v, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t v = 1234;
		assert_int_equal(units_parse_count(bad[i].text, &v), bad[i].answer);
		assert_int_equal(v, 1234);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_shape_everywhere),
		cmocka_unit_test(test_order_is_kept),
		cmocka_unit_test(test_parse_ns),
		cmocka_unit_test(test_parse_count),
		cmocka_unit_test(test_parse_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
