// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/when.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define S 1000000000ull

/* 2026-11-20 23:59:30.5 UTC, two minutes long, seen half a minute in. */
static struct when night(void)
{
	return (struct when){.begin_ns = 1000 * S,
			     .end_ns = 1120 * S,
			     .now_ns = 1030 * S,
			     .clock_ns = 1000 * S,
			     .wall_ns = 1795219170ull * S + S / 2};
}

static void check(const char *text, uint64_t expected)
{
	struct when w = night();
	struct error err = {0};
	uint64_t ns;

	if (when_parse(text, &w, &ns, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	if (ns != expected)
		fail_msg("%s: %llu", text, (unsigned long long)ns);
}

static void test_ways_to_say_it(void **state)
{
	(void)state;
	check("0", 1000 * S);
	check("41", 1041 * S);
	check("41.25s", 1041 * S + S / 4);
	check("1m", 1060 * S);
	check("1:23", 1083 * S);
	check("1:23.5", 1083 * S + S / 2);
	check("  1:23", 1083 * S);
	check("+5s", 1035 * S);
	check("+0:10", 1040 * S);
	check("-10s", 1020 * S);
	check("-0.5", 1029 * S + S / 2);
	check("0%", 1000 * S);
	check("50%", 1060 * S);
	check("100%", 1120 * S);
	check("@1050.125", 1050 * S + S / 8);
	/* Alone, too, as no other time of the recording is meant by it. */
	check("1050.125", 1050 * S + S / 8);
	check("1000", 1000 * S);
	check("1120", 1120 * S);
	check("1121", 1120 * S);
	check("999", 1120 * S);
	check("23:59:31", 1000 * S + S / 2);
	check("00:00:10.5", 1040 * S); /* the next day */
	check("23:59:30", 1000 * S);   /* the second it begins in */
	check("2026-11-21 00:00:00", 1029 * S + S / 2);
	check("2026-11-21T00:00:00.5", 1030 * S);
}

static void test_beyond_the_ends(void **state)
{
	(void)state;
	check("90m", 1120 * S);
	check("+5m", 1120 * S);
	check("-5m", 1000 * S);
	check("@1", 1000 * S);
	check("@99999999", 1120 * S);
	check("500h", 1120 * S);
	check("52000000:00", 1120 * S);
}

static void check_wrong(const char *text, const char *why)
{
	struct when w = night();
	struct error err = {0};
	uint64_t ns;

	if (when_parse(text, &w, &ns, &err) != -EINVAL)
		fail_msg("%s was taken", text);
	if (!strstr(err.text, why))
		fail_msg("%s: %s", text, err.text);
}

static void test_what_says_nothing(void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"soon",
		"+",
		"-",
		"@",
		"@1x",
		"%",
		"101%",
		"-1%",
		"nan%",
		"1:60",
		"1:",
		":10",
		"1:2:3:4",
		"24:00:00",
		"12:60:00",
		"12:00:61",
		"1:23x",
		"5 m",
		"++5s",
		"2026-11-20",
		"0x10%",
		"99999999999999:00",
		"5parsec",
		"1:23:45x",
		"1.2:3",
		"@1.5.5",
		"2026-13-01 00:00:00",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		check_wrong(wrong[i], "is no time");
	check_wrong("12:00:00", "goes from 2026-11-20 23:59:30 to 2026-11-21 00:01:30");
	check_wrong("23:59:29", "goes from");
	check_wrong("2026-11-20 23:59:29", "goes from");
	check_wrong("2025-11-20 23:59:31", "goes from");
}

static void test_without_a_wall(void **state)
{
	struct when w = night();
	struct error err = {0};
	uint64_t ns;

	(void)state;
	w.wall_ns = 0;
	assert_int_equal(when_parse("23:59:31", &w, &ns, &err), -EINVAL);
	assert_non_null(strstr(err.text, "does not say when it was made"));
	assert_int_equal(when_wall_ns(&w, 1010 * S), 0);
}

static void test_ranges(void **state)
{
	static const struct {
		const char *text;
		uint64_t from, to; /* seconds; 0: wrong */
	} cases[] = {
		{"10,20", 1010, 1020},
		{"10,+5s", 1010, 1015},
		{",20", 1000, 1020},
		{"10,", 1010, 1120},
		{",", 1000, 1120},
		{"50%,75%", 1060, 1090},
		{"1:00,-5s", 0, 0},
		{"20,10", 0, 0},
		{"10,10", 0, 0},
		{"10", 0, 0},
		{"", 0, 0},
		{"10,20,30", 0, 0},
		{"soon,later", 0, 0},
		{"10,later", 0, 0},
		{"00:00:00,00:00:10", 1029, 1039},
		{"1010.5,1020.5", 1010, 1020},
		{"1010,+5s", 1010, 1015},
		{"1:50,9:00", 1110, 1120}, /* what there is of it */
		{"@1,10", 1000, 1010},
		{"9:00,10:00", 0, 0},
		{"9:00,", 0, 0},
		{",@1", 0, 0},
		{"23:00:00,23:59:00", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct when w = night();
		struct error err = {0};
		uint64_t from, to;
		int r = when_parse_range(cases[i].text, &w, &from, &to, &err);

		assert_int_equal(r, cases[i].to ? 0 : -EINVAL);
		if (r < 0) {
			assert_true(err.text[0]);
			continue;
		}
		assert_int_equal(from / S, cases[i].from);
		assert_int_equal(to / S, cases[i].to);
	}
}

static void check_no_range(const char *text, uint64_t end_ns, const char *said)
{
	struct when w = night();
	struct error err = {0};
	uint64_t from = 1, to = 2;

	w.end_ns = end_ns;
	assert_int_equal(when_parse_range(text, &w, &from, &to, &err), -EINVAL);
	assert_string_equal(err.text, said);
	assert_true(from == 1 && to == 2);
}

static void test_sentences_say_the_ends(void **state)
{
	(void)state;
	check_no_range("soon,", 1120 * S,
		       "\"soon,\" is no range: \"soon\" is no time, like +5m, -10s, "
		       "90%, 1:23 or 14:30:05; it goes from 0:00 to 2:00.000 (@1000.000000 to "
		       "@1120.000000)");
	check_no_range("20,10", 1120 * S,
		       "\"20,10\" is no range: it ends before it begins; it goes from 0:00 to "
		       "2:00.000 (@1000.000000 to @1120.000000)");
	check_no_range("5:00,6:00", 1120 * S,
		       "\"5:00,6:00\" is outside of the recording; it goes from 0:00 to 2:00.000 "
		       "(@1000.000000 to @1120.000000)");
	check_no_range("10", WHEN_UNKNOWN,
		       "\"10\" is no range: give FROM,TO, like 0:10,0:20; it begins at "
		       "@1000.000000");
}

static void test_an_end_that_is_not_known(void **state)
{
	struct when w = night();
	struct error err = {0};
	uint64_t from, to, ns;

	(void)state;
	w.end_ns = WHEN_UNKNOWN;
	assert_int_equal(when_parse("50%", &w, &ns, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is known at its end only"));
	assert_int_equal(when_parse_range("10,", &w, &from, &to, &err), 0);
	assert_true(from == 1010 * S && to == WHEN_UNKNOWN);
	assert_int_equal(when_parse_range("00:00:00,01:00:00", &w, &from, &to, &err), 0);
	assert_int_equal(to - from, 3600 * S);
	assert_int_equal(when_parse_range("5000,6000", &w, &from, &to, &err), 0);
	assert_true(from == 5000 * S && to == 6000 * S);
	err = (struct error){0};
	assert_int_equal(when_parse("2026-11-20 23:00:00", &w, &ns, &err), -EINVAL);
	assert_non_null(strstr(err.text, "this begins 2026-11-20 23:59:30"));
}

static void test_as_people_read_it(void **state)
{
	char buf[WHEN_BUF];

	(void)state;
	assert_string_equal(when_elapsed(buf, 41 * S + S / 4, 0), "0:41");
	assert_string_equal(when_elapsed(buf, 41 * S + S / 4, 1), "0:41.2");
	assert_string_equal(when_elapsed(buf, 3723 * S + 5000000, 3), "1:02:03.005");
	assert_string_equal(when_date(buf, night().wall_ns, 0), "2026-11-20 23:59:30");
	assert_string_equal(when_date(buf, night().wall_ns, 3), "2026-11-20 23:59:30.500");
	assert_string_equal(when_date(buf, 0, 3), "");
	when_elapsed(buf, UINT64_MAX, 3);
	when_date(buf, UINT64_MAX, 3);
}

static void check_start(const char *text, uint64_t expected)
{
	struct error err = {0};
	uint64_t ns;

	if (when_parse_start(text, night().wall_ns, &ns, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	if (ns != expected)
		fail_msg("%s: %llu", text, (unsigned long long)ns);
}

/* At 2026-11-20 23:59:30.5. */
static void test_starts(void **state)
{
	static const char *const wrong[] = {"",
					    "noon",
					    "14",
					    "14:60",
					    "24:00",
					    "14:30:05x",
					    "14:30:",
					    "/",
					    "/0",
					    "/1ms",
					    "/25h",
					    "/-1s",
					    "+5m",
					    "90%",
					    "2026-11-20 23:59:30",
					    "2001-01-01 12:00"};
	const uint64_t second = night().wall_ns / S * S;

	(void)state;
	check_start("23:59:31", second + S);
	check_start("23:59:30.75", second + S * 3 / 4);
	check_start("23:59:30.25", second + 86400 * S + S / 4);
	check_start("23:59", second + 86400 * S - 30 * S);
	check_start("00:00", second + 30 * S);
	check_start("2026-11-21 12:00", second + 30 * S + 43200 * S);
	check_start("2026-11-20T23:59:32", second + 2 * S);
	check_start("/1s", second + S);
	check_start("/10s", second + 10 * S);
	check_start("/1m", second + 30 * S);
	check_start("/24h", second + 30 * S);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct error err = {0};
		uint64_t ns;

		if (when_parse_start(wrong[i], night().wall_ns, &ns, &err) != -EINVAL)
			fail_msg("%s: %llu", wrong[i], (unsigned long long)ns);
		assert_true(strlen(err.text) > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways_to_say_it),
		cmocka_unit_test(test_beyond_the_ends),
		cmocka_unit_test(test_what_says_nothing),
		cmocka_unit_test(test_without_a_wall),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_sentences_say_the_ends),
		cmocka_unit_test(test_an_end_that_is_not_known),
		cmocka_unit_test(test_as_people_read_it),
		cmocka_unit_test(test_starts),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
