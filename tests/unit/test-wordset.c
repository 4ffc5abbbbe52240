// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for runs of words, also when memory is short. */
#include "kontend/mem.h"
#include "kontend/wordset.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 5000 };

static void test_numbers(void **state)
{
	static const uint64_t ab[] = {7, 9}, ba[] = {9, 7};
	struct wordset s = {0};

	(void)state;
	assert_int_equal(wordset_find(&s, ab, 2), 0);
	assert_int_equal(wordset_get(&s, ab, 2), 1);
	assert_int_equal(wordset_get(&s, ba, 2), 2);
	assert_int_equal(wordset_get(&s, ab, 1), 3); /* a shorter run is another one */
	assert_int_equal(wordset_get(&s, ab, 0), 4);
	assert_int_equal(wordset_get(&s, ab, 2), 1);
	assert_int_equal(wordset_find(&s, ba, 2), 2);
	assert_memory_equal(wordset_words(&s, 2), ba, sizeof(ba));
	wordset_deinit(&s);
	assert_int_equal(s.n, 0);
	assert_int_equal(wordset_get(&s, ba, 2), 1);
	wordset_deinit(&s);
	assert_int_equal(mem_live(), 0);
}

static void test_many(void **state)
{
	struct wordset s = {0};

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(wordset_get(&s, (uint64_t[]){i, i >> 3, 1}, 3), i + 1);
	for (uint64_t i = 0; i < MANY; i++) {
		assert_int_equal(wordset_find(&s, (uint64_t[]){i, i >> 3, 1}, 3), i + 1);
		assert_int_equal(wordset_words(&s, i + 1)[0], i);
	}
	assert_int_equal(wordset_find(&s, (uint64_t[]){MANY, 0, 1}, 3), 0);
	wordset_deinit(&s);
}

static void test_no_memory(void **state)
{
	static const uint64_t run[] = {1, 2, 3};

	(void)state;
	for (long n = 0;; n++) {
		struct wordset s = {0};

		mem_fail_after(n);
		uint32_t number = wordset_get(&s, run, 3);
		mem_fail_after(-1);
		assert_int_equal(wordset_find(&s, run, 3), number);
		assert_int_equal(wordset_get(&s, run, 3), 1);
		wordset_deinit(&s);
		assert_int_equal(mem_live(), 0);
		if (number)
			break;
		assert_true(n < 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
