// SPDX-License-Identifier: GPL-2.0-only
/* Functions that interpreters run, as frames of call chains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/codes.h"
#include "kontend/mem.h"

#include <stdio.h>
#include <string.h>

static void a_function_has_one_number(void **state)
{
	struct codes *c = codes_new(), *copy;

	(void)state;
	assert_non_null(c);
	uint64_t frame = codes_frame(c, "commit", "db.py", 412);
	assert_true(map_frame_is_code(frame));
	assert_false(map_frame_is_kernel(frame));
	assert_false(map_frame_is_mark(frame));
	assert_int_equal(map_code_line(frame), 412);
	assert_string_equal(codes_get(c, frame)->function, "commit");
	assert_string_equal(codes_get(c, frame)->file, "db.py");
	/* Lines differ, the function does not; another file has another one. */
	uint64_t later = codes_frame(c, "commit", "db.py", 413);
	assert_int_not_equal(later, frame);
	assert_int_equal(map_code_number(later), map_code_number(frame));
	assert_int_not_equal(map_code_number(codes_frame(c, "commit", "log.py", 412)),
			     map_code_number(frame));
	/* A line that has no room is not known. */
	assert_int_equal(map_code_line(codes_frame(c, "commit", "db.py", MAP_LINES + 1)), 0);
	copy = codes_ref(c);
	codes_unref(c);
	assert_string_equal(codes_get(copy, frame)->function, "commit");
	assert_null(codes_get(copy, map_code_frame(99, 1)));
	assert_null(codes_get(copy, map_code_frame(0, 1)));
	assert_null(codes_get(copy, 0x401000));
	codes_unref(copy);
	codes_unref(NULL);
	assert_int_equal(mem_live(), 0);
}

static void there_is_an_end(void **state)
{
	struct codes *c = codes_new();
	uint64_t first, frame = 0;
	char name[32];

	(void)state;
	assert_non_null(c);
	first = codes_frame(c, "first", "f", 1);
	for (int i = 0; i < CODES_MOST + 5; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		frame = codes_frame(c, name, "f", 1);
	}
	assert_int_equal(frame, 0);
	assert_int_equal(codes_frame(c, "first", "f", 1), first);
	assert_true(codes_bytes(c) > CODES_MOST);
	codes_unref(c);
	assert_int_equal(mem_live(), 0);
}

static void without_memory_there_is_no_frame(void **state)
{
	(void)state;
	for (int n = 0; n < 12; n++) {
		mem_fail_after(n);
		struct codes *c = codes_new();
		uint64_t frame = c ? codes_frame(c, "commit", "db.py", 1) : 0;
		mem_fail_after(-1);
		if (frame)
			assert_string_equal(codes_get(c, frame)->file, "db.py");
		codes_unref(c);
		assert_int_equal(mem_live(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_one_number),
		cmocka_unit_test(there_is_an_end),
		cmocka_unit_test(without_memory_there_is_no_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
