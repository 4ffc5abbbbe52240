// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/strpool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_equal_text_is_one_address(void **state)
{
	struct strpool p = {0};
	const char *first[3000];
	char text[32];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "task/%d", i);
		first[i] = strpool_intern(&p, text);
		assert_string_equal(first[i], text);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "task/%d", i);
		assert_ptr_equal(strpool_intern(&p, text), first[i]);
		assert_string_equal(first[i], text);
	}
	assert_int_equal(p.count, 3000);
	strpool_deinit(&p);
	strpool_deinit(&p);
}

static void test_lengths(void **state)
{
	struct strpool p = {0};
	assert_null(strpool_find(&p, "mm", 2));
	const char *mm = strpool_intern(&p, "mm");

	(void)state;
	assert_ptr_equal(strpool_find(&p, "mmap", 2), mm);
	assert_null(strpool_find(&p, "mmap", 4));
	assert_ptr_equal(strpool_intern_n(&p, "mmap", 2), mm);
	assert_ptr_equal(strpool_intern_n(&p, "mm\0ap", 5), mm);
	assert_true(strpool_intern(&p, "mmap") != mm);
	assert_true(strpool_intern(&p, "m") != mm);
	assert_string_equal(strpool_intern(&p, "m"), "m");
	assert_string_equal(strpool_intern(&p, ""), "");
	assert_ptr_equal(strpool_intern_n(&p, "x", 0), strpool_intern(&p, ""));
	assert_int_equal(p.count, 4);
	strpool_deinit(&p);
}

/* Texts that begin alike, in few slots: equal as far as the shorter one goes is not equal. */
static void test_prefixes(void **state)
{
	enum { N = 200 };
	struct strpool p = {0};
	char text[N + 1];

	(void)state;
	memset(text, 'a', N);
	text[N] = '\0';
	for (size_t len = N; len > 0; len--)
		assert_int_equal(strlen(strpool_intern_n(&p, text, len)), len);
	assert_int_equal(p.count, N);
	strpool_deinit(&p);
}

static void test_out_of_memory(void **state)
{
	long live = mem_live();

	(void)state;
	for (long n = 0;; n++) {
		struct strpool p = {0};
		size_t good = 0;
		char text[64];

		mem_fail_after(n);
		for (int i = 0; i < 300; i++) {
			snprintf(text, sizeof(text), "a rather long text to fill chunks %d", i);
			good += strpool_intern(&p, text) != NULL;
		}
		long made = mem_count();
		mem_fail_after(-1);
		assert_int_equal(p.count, good);
		for (int i = 0; i < 300; i++) {
			snprintf(text, sizeof(text), "a rather long text to fill chunks %d", i);
			assert_string_equal(strpool_intern(&p, text), text);
		}
		assert_int_equal(p.count, 300);
		strpool_deinit(&p);
		assert_int_equal(mem_live(), live);
		if (made <= n) {
			assert_int_equal(good, 300);
			break;
		}
		assert_true(good < 300);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_text_is_one_address),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
