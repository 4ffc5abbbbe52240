// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for texts, also when memory is short. */
#include "kontend/mem.h"
#include "kontend/stringtable.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 3000 };

static void test_numbers(void **state)
{
	struct stringtable t = {0};
	char text[] = "mmap_lock";

	(void)state;
	assert_int_equal(stringtable_get(&t, ""), 0);
	assert_int_equal(stringtable_get(&t, text), 1);
	assert_int_equal(stringtable_get(&t, "i_rwsem"), 2);
	assert_int_equal(stringtable_get(&t, "mmap_lock"), 1);
	text[0] = 'x'; /* the table has a copy */
	assert_string_equal(t.list[1], "mmap_lock");
	assert_int_equal(t.n, 3);
	stringtable_deinit(&t);
	assert_int_equal(t.n, 0);
	assert_int_equal(mem_live(), 0);
}

static void test_many(void **state)
{
	struct stringtable t = {0};
	char text[20];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(text, sizeof(text), "text%u", i);
			assert_int_equal(stringtable_get(&t, text), i);
			assert_string_equal(t.list[i], text);
		}
	assert_int_equal(t.n, MANY);
	stringtable_deinit(&t);
}

static void test_no_memory(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct stringtable t = {0};

		mem_fail_after(n);
		uint32_t number = stringtable_get(&t, "text");
		mem_fail_after(-1);
		assert_int_equal(stringtable_get(&t, "text"), 0);
		assert_int_equal(t.n, 1);
		stringtable_deinit(&t);
		assert_int_equal(mem_live(), 0);
		if (number == 0)
			break;
		assert_int_equal(number, UINT32_MAX);
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
