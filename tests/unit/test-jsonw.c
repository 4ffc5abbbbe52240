// SPDX-License-Identifier: GPL-2.0-only
/* The JSON writer: layout to the letter, numbers at their limits, escapes read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/jsonw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct out {
	struct jsonw j;
	char *text;
	size_t len;
};

static void out_open(struct out *o)
{
	*o = (struct out){0};
	o->j.out = open_memstream(&o->text, &o->len);
	assert_non_null(o->j.out);
}

static void out_check(struct out *o, const char *want)
{
	fclose(o->j.out);
	assert_string_equal(o->text, want);
	free(o->text);
}

static void layout_is_stable(void **state)
{
	struct out o;

	(void)state;
	out_open(&o);
	jsonw_begin(&o.j, NULL, '{', false);
	jsonw_str(&o.j, "a", "x");
	jsonw_begin(&o.j, "rows", '[', false);
	jsonw_begin(&o.j, NULL, '{', true);
	jsonw_u64(&o.j, "n", UINT64_MAX);
	jsonw_begin(&o.j, "in", '[', false);
	jsonw_i64(&o.j, NULL, INT64_MIN);
	jsonw_null(&o.j, NULL);
	jsonw_end(&o.j, ']');
	jsonw_bool(&o.j, "b", true);
	jsonw_end(&o.j, '}');
	jsonw_begin(&o.j, NULL, '{', true);
	jsonw_end(&o.j, '}');
	jsonw_end(&o.j, ']');
	jsonw_begin(&o.j, "none", '[', false);
	jsonw_end(&o.j, ']');
	jsonw_hex(&o.j, "h", 0xabc);
	jsonw_end(&o.j, '}');
	out_check(&o, "{\n  \"a\": \"x\",\n  \"rows\": [\n"
		      "    {\"n\": 18446744073709551615, \"in\": [-9223372036854775808, null], "
		      "\"b\": true},\n    {}\n  ],\n  \"none\": [],\n  \"h\": \"0xabc\"\n}\n");
}

static void check_fixed(double v, const char *want)
{
	char buf[340];

	jsonw_fixed(buf, sizeof(buf), v);
	assert_string_equal(buf, want);
}

static void doubles_have_three_decimals(void **state)
{
	(void)state;
	check_fixed(0, "0.000");
	check_fixed(1.0005, "1.001");
	check_fixed(0.9996, "1.000");
	check_fixed(-2.5, "-2.500");
	check_fixed(-0.0001, "0.000");
	check_fixed(999999999999.125, "999999999999.125");
	check_fixed(1e15, "1000000000000000");
	check_fixed(-1e18, "-1000000000000000000");
	check_fixed((double)NAN, "null");
	check_fixed((double)INFINITY, "null");
}

static void check_str(const char *s, const char *want)
{
	struct out o;

	out_open(&o);
	jsonw_begin(&o.j, NULL, '[', true);
	jsonw_str(&o.j, NULL, s);
	jsonw_end(&o.j, ']');
	out_check(&o, want);
}

static void text_is_escaped(void **state)
{
	(void)state;
	check_str(NULL, "[null]\n");
	check_str("", "[\"\"]\n");
	check_str("a\"b\\c/d", "[\"a\\\"b\\\\c/d\"]\n");
	check_str("\n\t\r\x1b\x7f", "[\"\\n\\t\\u000d\\u001b\\u007f\"]\n");
	check_str("\xc2\x9b", "[\"\\u009b\"]\n");     /* C1: CSI on some terminals */
	check_str("\xe2\x80\xae", "[\"\\u202e\"]\n"); /* right-to-left override */
	check_str("é€😀", "[\"é€😀\"]\n");
	check_str("\xff\xc3", "[\"\xef\xbf\xbd\xef\xbf\xbd\"]\n");
	check_str("\xed\xa0\x80x", "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\"]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_is_stable),
		cmocka_unit_test(doubles_have_three_decimals),
		cmocka_unit_test(text_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
