// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/cursor.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint8_t bytes[] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9};

static void test_reads_in_turn(void **state)
{
	struct cursor c = cursor_make(bytes, sizeof(bytes));
	uint32_t one;
	uint64_t two;

	(void)state;
	memcpy(&one, bytes, 4);
	memcpy(&two, bytes + 4, 8);
	assert_int_equal(cursor_u32(&c), one);
	assert_int_equal(cursor_left(&c), 11);
	assert_int_equal(cursor_u64(&c), two);
	assert_ptr_equal(cursor_bytes(&c, 3), bytes + 12);
	assert_int_equal(cursor_left(&c), 0);
	assert_non_null(cursor_bytes(&c, 0));
	assert_false(c.bad);
}

static void test_bad_stays_bad(void **state)
{
	struct cursor c = cursor_make(bytes, 6);

	(void)state;
	assert_int_equal(cursor_u64(&c), 0);
	assert_true(c.bad);
	/* There are 6 bytes, but a decoder that went wrong reads nothing more. */
	assert_int_equal(cursor_u32(&c), 0);
	assert_null(cursor_bytes(&c, 1));
	assert_true(c.bad);
}

static void test_huge_length(void **state)
{
	struct cursor c = cursor_make(bytes, sizeof(bytes));

	(void)state;
	assert_null(cursor_bytes(&c, SIZE_MAX));
	assert_true(c.bad);
	c = cursor_make(bytes, 0);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_in_turn),
		cmocka_unit_test(test_bad_stays_bad),
		cmocka_unit_test(test_huge_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
