// SPDX-License-Identifier: GPL-2.0-only
/* The tests' JSON reader: a reader that lets errors pass would make every report test worthless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

static void values_are_read(void **state)
{
	static const char text[] =
		" {\"a\": [1, -2.5e3, 0, 18446744073709551615], \"b\\n\": "
		"\"\\u00e9\\ud83d\\ude00\\/x\","
		"\"c\": {\"d\": {\"e\": true}}, \"f\": null, \"g\": [], \"h\": {}} \n";
	const struct json *root, *a;
	struct json_doc doc;
	size_t at = 0;

	(void)state;
	assert_int_equal(json_parse(&doc, text, strlen(text), &at), 0);
	root = json_root(&doc);
	a = json_get(root, "a");
	assert_int_equal(json_len(root), 6);
	assert_int_equal(json_len(a), 4);
	assert_int_equal(json_u64(json_at(a, 0)), 1);
	assert_true(json_number(json_at(a, 1)) == -2500.0);
	assert_true(json_u64(json_at(a, 3)) == UINT64_MAX);
	assert_null(json_at(a, 4));
	assert_string_equal(json_text(json_get(root, "b\n")), "\xc3\xa9\xf0\x9f\x98\x80/x");
	assert_true(json_path(root, "c.d.e")->truth);
	assert_null(json_path(root, "c.x.e"));
	assert_true(json_is(json_get(root, "f"), JSON_NULL));
	assert_true(json_is(json_get(root, "g"), JSON_ARRAY));
	json_deinit(&doc);
}

static void wrong_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[",
		"[1,]",
		"[1 2]",
		"{\"a\":1,}",
		"{\"a\" 1}",
		"{a:1}",
		"{\"a\":1,\"a\":2}",
		"01",
		"1.",
		".5",
		"+1",
		"-",
		"1e",
		"nan",
		"NaN",
		"Infinity",
		"nul",
		"truex",
		"1 1",
		"\"a",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\\ud800\"",
		"\"\\udc00\"",
		"\"\\u0000\"",
		"\"\n\"",
		"\"\x80\"",
		"\"\xc3\"",
		"[1]]",
		"'a'",
		"// x\n1",
		"{\"a\":}",
		"\"\\",
		"\"\\u",
	};

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		struct json_doc doc;
		size_t at = 12345;

		if (json_parse(&doc, bad[k], strlen(bad[k]), &at) != -EINVAL)
			fail_msg("accepted: %s", bad[k]);
		assert_true(at <= strlen(bad[k]));
		assert_null(doc.nodes);
	}
}

static void embedded_nuls_are_refused(void **state)
{
	static const char *const bad[] = {"\0", "1\0", "\"a\0\"", "[\0]"};
	static const size_t len[] = {1, 2, 4, 3};

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		struct json_doc doc;
		size_t at;

		assert_int_equal(json_parse(&doc, bad[k], len[k], &at), -EINVAL);
	}
}

static void depth_is_bounded(void **state)
{
	char text[2001];
	struct json_doc doc;
	size_t at;

	(void)state;
	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	text[2000] = '\0';
	assert_int_equal(json_parse(&doc, text, 2000, &at), -EINVAL);
}

static void every_prefix_is_refused(void **state)
{
	static const char text[] = "{\"k\":[{\"x\":\"\\u00e9\",\"y\":-1.5e+3},null,true]}";

	(void)state;
	for (size_t len = 0; len < strlen(text); len++) {
		struct json_doc doc;
		size_t at;

		assert_int_equal(json_parse(&doc, text, len, &at), -EINVAL);
	}
}

static void failed_allocations_leave_nothing(void **state)
{
	(void)state;
	for (long n = 0; n < 2; n++) {
		struct json_doc doc;
		size_t at;

		mem_fail_after(n);
		assert_int_equal(json_parse(&doc, "[1]", 3, &at), -ENOMEM);
		assert_null(doc.nodes);
	}
	mem_fail_after(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(wrong_texts_are_refused),
		cmocka_unit_test(embedded_nuls_are_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(every_prefix_is_refused),
		cmocka_unit_test(failed_allocations_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
