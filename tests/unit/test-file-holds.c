// SPDX-License-Identifier: GPL-2.0-only
/* The owner of each part of a file, by tries of which the tracepoints report the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/model/file-holds.h"
#include "kontend/event.h"
#include "kontend/filelock.h"

enum { A = 0x1000, B = 0x2000, C = 0x3000 };

static uint64_t file(unsigned i)
{
	return filelock_addr(FILELOCK_POSIX, 254 << 20, 12 + i);
}

static void tries(struct file_holds *h, uint64_t ns, uint64_t owner, uint64_t start, uint64_t past,
		  bool gives_back)
{
	const struct event ev = {.time = ns,
				 .pid = (int32_t)(owner >> 12),
				 .end = {.lock = file(0),
					 .owner_file = owner,
					 .start = start,
					 .past = past,
					 .gives_back = gives_back}};

	assert_int_equal(file_holds_take(h, &ev), 0);
}

/* The process because of which @owner waits, and since when that has the part; 0: none is known. */
static int holder(const struct file_holds *h, uint64_t owner, uint64_t start, uint64_t past,
		  uint64_t *ret_ns)
{
	const struct event ev = {.begin = {.lock = filelock_part(file(0), start, past),
					   .file = file(0),
					   .start = start,
					   .past = past,
					   .flags = filelock_flags(FILELOCK_POSIX, 0),
					   .owner_file = owner}};
	const struct file_hold *v = file_holds_find(h, &ev);

	*ret_ns = v ? v->since_ns : 0;
	return v ? v->pid : 0;
}

static void each_part_has_its_owner(void **state)
{
	struct file_holds h = {0};
	uint64_t ns;

	(void)state;
	assert_int_equal(holder(&h, C, 0, 10, &ns), 0);
	tries(&h, 100, A, 0, 10, false);
	tries(&h, 200, B, 10, 20, false);
	assert_int_equal(holder(&h, C, 0, 10, &ns), 1);
	assert_int_equal(ns, 100);
	assert_int_equal(holder(&h, C, 10, 11, &ns), 2);
	assert_int_equal(ns, 200);
	assert_int_equal(holder(&h, C, 20, FILELOCK_EOF, &ns), 0);
	/* Of two it is the one that has had its part for longer; none waits because of itself. */
	assert_int_equal(holder(&h, C, 0, FILELOCK_EOF, &ns), 1);
	assert_int_equal(holder(&h, A, 0, FILELOCK_EOF, &ns), 2);
	file_holds_deinit(&h);
}

static void bytes_are_given_back(void **state)
{
	struct file_holds h = {0}, copy;
	uint64_t ns;

	(void)state;
	tries(&h, 100, A, 0, 100, false);
	tries(&h, 150, A, 0, 100, false); /* it has it already */
	assert_int_equal(file_holds_copy(&copy, &h), 0);
	tries(&h, 200, A, 40, 60, true);
	assert_int_equal(holder(&h, C, 45, 50, &ns), 0);
	assert_int_equal(holder(&h, C, 39, 41, &ns), 1);
	assert_int_equal(ns, 100);
	assert_int_equal(holder(&h, C, 59, 61, &ns), 1);
	tries(&h, 300, B, 0, FILELOCK_EOF, true); /* nothing of its own */
	assert_int_equal(holder(&h, C, 0, 1, &ns), 1);
	tries(&h, 400, A, 0, FILELOCK_EOF, true);
	assert_int_equal(holder(&h, C, 0, FILELOCK_EOF, &ns), 0);
	assert_int_equal(holder(&copy, C, 45, 50, &ns), 1);
	file_holds_deinit(&copy);
	file_holds_deinit(&h);
}

static void readers_do_not_wait_for_readers(void **state)
{
	struct event ev = {
		.time = 100,
		.pid = 1,
		.end = {.lock = file(0), .owner_file = A, .past = FILELOCK_EOF, .reads = true}};
	struct file_holds h = {0};

	(void)state;
	assert_int_equal(file_holds_take(&h, &ev), 0);
	ev = (struct event){.begin = {.lock = file(0),
				      .flags = filelock_flags(FILELOCK_POSIX, 1),
				      .owner_file = B}};
	assert_null(file_holds_find(&h, &ev));
	ev.begin.flags = filelock_flags(FILELOCK_POSIX, 0);
	assert_non_null(file_holds_find(&h, &ev));
	assert_true(file_holds_find(&h, &ev)->reads);
	file_holds_deinit(&h);
}

static void where_there_are_many_the_oldest_is_forgotten(void **state)
{
	struct file_holds h = {0};
	uint64_t ns;

	(void)state;
	for (unsigned i = 0; i <= FILE_HOLD_WAYS; i++)
		tries(&h, 100 + i, A, 10ull * i, 10ull * i + 5, false);
	assert_int_equal(holder(&h, C, 0, 5, &ns), 0);
	for (unsigned i = 1; i <= FILE_HOLD_WAYS; i++) {
		assert_int_equal(holder(&h, C, 10ull * i, 10ull * i + 5, &ns), 1);
		assert_int_equal(ns, 100 + i);
	}
	file_holds_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_has_its_owner),
		cmocka_unit_test(bytes_are_given_back),
		cmocka_unit_test(readers_do_not_wait_for_readers),
		cmocka_unit_test(where_there_are_many_the_oldest_is_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
