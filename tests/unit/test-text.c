// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_every_character_survives(void **state)
{
	(void)state;
	for (uint32_t ch = 1; ch <= 0x10ffff; ch++) {
		char buf[5] = {0};
		uint32_t back;

		if (ch >= 0xd800 && ch <= 0xdfff)
			continue;
		size_t len = text_encode(buf, ch);
		assert_in_range(len, 1, 4);
		assert_int_equal(strlen(buf), len);
		assert_int_equal(text_decode(buf, &back), len);
		assert_int_equal(back, ch);
	}
}

static void test_encode_never_makes_bad_text(void **state)
{
	static const uint32_t bad[] = {0xd800, 0xdfff, 0x110000, UINT32_MAX};
	char buf[4];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(text_encode(buf, bad[i]), 3);
		assert_memory_equal(buf, "\xef\xbf\xbd", 3);
	}
}

static void test_bad_bytes_cost_one(void **state)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xf0\x80\x80\x80",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff",
		"\xf9\x90\x80\x80",
		"\xc3",
		"\xe2\x82",
		"\xf0\x9f\x98",
		"\xc3(",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint32_t ch = 0;
		assert_int_equal(text_decode(bad[i], &ch), 1);
		assert_int_equal(ch, 0xfffd);
	}
	uint32_t ch = 1;
	assert_int_equal(text_decode("", &ch), 0);
	assert_int_equal(ch, 0);
}

static void test_clean(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"kworker/0:1", "kworker/0:1"},
		{"", ""},
		{"a\x1b[31mred\n\t\r\x7f", "a?[31mred????"},
		{"\xc2\x9b"
		 "31m",
		 "?31m"},
		{"na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac", "na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac"},
		{"cut\xe6\x97", "cut??"},
		{"a\xe2\x80\xae"
		 "b\xe2\x81\xa6"
		 "c\xe2\x80\xa8",
		 "a?b?c?"},
		{"\xef\xbf\xbd", "\xef\xbf\xbd"},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(text_clean(buf, sizeof(buf), cases[i].in), cases[i].out);
		/* The same in place, and clean text stays as it is. */
		strcpy(buf, cases[i].in);
		assert_string_equal(text_clean(buf, sizeof(buf), buf), cases[i].out);
		assert_string_equal(text_clean(buf, sizeof(buf), buf), cases[i].out);
	}
}

static void test_clean_cuts_whole_characters(void **state)
{
	char buf[16];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	assert_string_equal(text_clean(buf, 5,
				       "ab\xe6\x97\xa5"
				       "c"),
			    "ab");
	assert_int_equal(buf[5], 'x');
	assert_string_equal(text_clean(buf, 6,
				       "ab\xe6\x97\xa5"
				       "c"),
			    "ab\xe6\x97\xa5");
	assert_string_equal(text_clean(buf, 1, "abc"), "");
	strcpy(buf, "old");
	assert_ptr_equal(text_clean(buf, 0, "abc"), buf);
	assert_string_equal(buf, "old");
}

static void test_width(void **state)
{
	static const struct {
		uint32_t ch;
		int width;
	} cases[] = {
		{'a', 1},      {0xe9, 1},    {0xad, 1},	   {0x301, 0},	 {0x200b, 0},
		{0x200d, 0},   {0x1100, 2},  {0x1161, 0},  {0x2500, 1},	 {0x2588, 1},
		{0x25a0, 1},   {0x2581, 1},  {0x65e5, 2},  {0xac00, 2},	 {0xff21, 2},
		{0xff71, 1},   {0x1f600, 2}, {0x20000, 2}, {0xe0100, 0}, {0xfffd, 1},
		{0x10ffff, 1}, {0xfe0f, 0},  {0x3000, 2},  {0x2026, 1},	 {0xb7, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(text_char_width(cases[i].ch), cases[i].width);
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("mm/5214"), 7);
	assert_int_equal(text_width("\xe6\x97\xa5\xe6\x9c\xac"
				    "e\xcc\x81"),
			 5);
	assert_int_equal(text_width("\xff"), 1);
}

static void test_contains(void **state)
{
	(void)state;
	assert_true(text_contains("rwsem:W mmap_lock", "MMAP"));
	assert_true(text_contains("aab", "ab"));
	assert_true(text_contains("x", ""));
	assert_true(text_contains("", ""));
	assert_false(text_contains("", "a"));
	assert_false(text_contains("mmap", "mmapx"));
	assert_false(text_contains("[", "{"));
	assert_true(text_contains("end", "end"));
}

/* Wherever a task's name is cut its id stays, and what is written is never wider than asked for. */
static void test_keep_id(void **state)
{
	static const struct {
		const char *text;
		int width;
		const char *kept; /* NULL: as it is */
	} rows[] = {
		{"demo-inode-h/14259", 18, NULL},
		{"demo-inode-h/14259", 17, "demo-inode…/14259"},
		{"demo-inode-h/14259", 10, "dem…/14259"},
		{"demo-inode-h/14259", 9, NULL},
		{"demo-inode-h/14259 W", 18, "demo-inod…/14259 W"},
		{"demo-inode-h/14259 W 3ms ago", 18, "demo-inode…/14259 W 3ms ago"},
		{"command/812@host", 13, "com…/812@host"},
		{"command/812@host", 12, NULL},
		{"mmap_lock mysqld/800", 18, "mmap_lock mys…/800"},
		{"ä日本語/17", 8, "ä日…/17"},
		{"/123", 2, NULL},
		{"i_rwsem /var/x.img", 18, NULL},
		{"i_rwsem /var/x.img", 17, "i_rwsem /v…/x.img"},
		{"i_rwsem /var/x.img", 10, "i_r…/x.img"},
		{"i_rwsem /var/x.img", 9, NULL},
		{"/var/lib/some/x.img", 12, "/var/…/x.img"},
		{"i_rwsem /data", 10, NULL},
		{"/var/lib/name with blanks", 12, NULL},
		{"task_struct:try_to_wake_up …356c", 32, NULL},
		{"task_struct:try_to_wake_up …356c", 31, "task_struct:try_to_wake_up…356c"},
		{"task_struct:try_to_wake_up …356c", 20, "task_struct:try…356c"},
		{"pipe_read …4f00", 9, "pipe…4f00"},
		{"pipe_read …4f00", 8, NULL},
		{"Lock:tuple 5/16384 (0,1) postgres/812", 19, "Lock:tuple 5/1…/812"},
		{"Lock:tuple 5/16384 (0,1) postgres/812", 36,
		 "Lock:tuple…/16384 (0,1) postgres/812"},
		{"        lock(u) Lock:tuple 5/16384 (0,1) postgres/812", 28,
		 "        lock(u) Lock:tu…/812"},
		{"a/12b/345 cpu 1", 12, "a/12b/345 cpu 1"},
	};
	char kept[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is = text_keep_id(kept, sizeof(kept), rows[i].text, rows[i].width);

		assert_int_equal(is, rows[i].kept != NULL);
		if (is)
			assert_string_equal(kept, rows[i].kept);
	}
	assert_false(text_keep_id(kept, 12, "demo-inode-h/14259", 17));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_character_survives),
		cmocka_unit_test(test_encode_never_makes_bad_text),
		cmocka_unit_test(test_bad_bytes_cost_one),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_cuts_whole_characters),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_contains),
		cmocka_unit_test(test_keep_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
