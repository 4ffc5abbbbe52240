// SPDX-License-Identifier: GPL-2.0-only
/* How a value looks: zero, unknown, approximate, hostile text, and lookups by key and id. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/table.h"

#include <string.h>

static const struct column count = {.key = "n", .type = COLUMN_COUNT, .flags = COLUMN_SCREEN};
static const struct column pid = {.key = "pid", .type = COLUMN_INT, .flags = COLUMN_SCREEN};
static const struct column ns = {.key = "ns", .type = COLUMN_NS, .flags = COLUMN_SCREEN};
static const struct column rate = {.key = "rate", .type = COLUMN_RATE, .flags = COLUMN_SCREEN};
static const struct column pct = {.key = "pct", .type = COLUMN_PCT, .flags = COLUMN_SCREEN};
static const struct column nsrate = {.key = "w", .type = COLUMN_NSRATE, .flags = COLUMN_SCREEN};
static const struct column nsdiff = {.key = "w", .type = COLUMN_NSDIFF, .flags = COLUMN_SCREEN};
static const struct column addr = {.key = "addr", .type = COLUMN_ADDR, .flags = COLUMN_SCREEN};
static const struct column text = {.key = "text", .type = COLUMN_TEXT, .flags = COLUMN_SCREEN};
static const struct column truth = {.key = "b", .type = COLUMN_BOOL, .flags = COLUMN_SCREEN};
static const struct column spark = {.key = "s", .type = COLUMN_SERIES, .flags = COLUMN_SCREEN};

static void check(const struct column *c, struct value v, bool ascii, const char *want)
{
	char buf[64];

	assert_string_equal(table_format(c, &v, ascii, buf, sizeof(buf)), want);
}

static void values_have_units(void **state)
{
	(void)state;
	check(&count, (struct value){.u = 18200, .known = true}, false, "18.2k");
	check(&pid, (struct value){.i = -1, .known = true}, false, "-1");
	check(&ns, (struct value){.u = 41200000, .known = true}, false, "41.2ms");
	check(&rate, (struct value){.d = 2700, .known = true}, false, "2.70k");
	check(&nsrate, (struct value){.d = 1.92e9, .known = true}, false, "1.92");
	check(&nsdiff, (struct value){.d = -1.92e6, .known = true}, false, "-1.92ms");
	check(&pct, (struct value){.d = 59.8, .known = true}, false, "59.8");
	check(&addr, (struct value){.u = 0xffff888012345678, .known = true}, false,
	      "0xffff888012345678");
	check(&truth, (struct value){.u = 1, .known = true}, false, "yes");
	check(&text, (struct value){.s = "rwsem:W", .known = true}, false, "rwsem:W");
}

static void zero_is_a_dot_but_cpu_0_is_not(void **state)
{
	const struct column *dots[] = {&count, &ns, &rate, &pct, &nsrate, &truth};

	(void)state;
	for (size_t i = 0; i < sizeof(dots) / sizeof(dots[0]); i++) {
		check(dots[i], (struct value){.known = true}, false, "·");
		check(dots[i], (struct value){.known = true}, true, ".");
	}
	check(&pid, (struct value){.i = 0, .known = true}, false, "0");
	check(&addr, (struct value){.u = 0, .known = true}, false, "0x0");
}

static void unknown_is_a_dash_never_zero(void **state)
{
	const struct column *all[] = {&count,  &pid,  &ns,   &rate, &pct,
				      &nsrate, &addr, &text, &spark};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(all[i], (struct value){.u = 7}, false, "-");
}

static void inferred_values_carry_a_tilde(void **state)
{
	(void)state;
	check(&ns, (struct value){.u = 1000, .known = true, .approx = true}, false, "~1.00us");
	check(&text, (struct value){.s = "f", .known = true, .approx = true}, false, "~f");
}

static void text_from_outside_is_cleaned_and_cut(void **state)
{
	struct value v = {.s = "a\x1b[2Jb\n\xff", .known = true};
	char buf[4];

	(void)state;
	check(&text, v, false, "a?[2Jb??");
	assert_string_equal(table_format(&text, &v, false, buf, sizeof(buf)), "a?[");
	buf[0] = 'x';
	table_format(&text, &v, false, buf, 0);
	assert_int_equal(buf[0], 'x');
	v.approx = true;
	assert_string_equal(table_format(&text, &v, false, buf, 2), "~");
	assert_string_equal(table_format(&text, &v, false, buf, 1), "");
}

static void series_are_drawn_by_their_own_scale(void **state)
{
	static const uint64_t some[] = {0, 1, 4, 8}, none[] = {0, 0};
	struct value v = {.series = some, .n = 4, .known = true};
	char buf[5];

	(void)state;
	check(&spark, v, false, " ▁▄█");
	check(&spark, v, true, " .-#");
	check(&spark, (struct value){.series = none, .n = 2, .known = true}, false, "  ");
	/* A bar of three bytes that does not fit whole is left out. */
	assert_string_equal(table_format(&spark, &v, false, buf, sizeof(buf)), " ▁");
}

static void columns_and_rows_are_found(void **state)
{
	const struct column columns[] = {pid, ns};
	uint64_t ids[] = {7, 9};
	struct table t = {.columns = columns, .n_columns = 2, .ids = ids, .n_rows = 2};

	(void)state;
	assert_int_equal(table_column(&t, "ns"), 1);
	assert_true(table_column(&t, "nope") == SIZE_MAX);
	assert_int_equal(table_row(&t, 9), 1);
	assert_true(table_row(&t, 8) == SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_units),
		cmocka_unit_test(zero_is_a_dot_but_cpu_0_is_not),
		cmocka_unit_test(unknown_is_a_dash_never_zero),
		cmocka_unit_test(inferred_values_carry_a_tilde),
		cmocka_unit_test(text_from_outside_is_cleaned_and_cut),
		cmocka_unit_test(series_are_drawn_by_their_own_scale),
		cmocka_unit_test(columns_and_rows_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
