// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/arena.h"
#include "kontend/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void test_blocks_do_not_overlap(void **state)
{
	struct arena a = {0};
	unsigned char *p[500];
	long live = mem_live();

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		p[i] = arena_alloc(&a, i);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)(i & 0xff), i);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], i & 0xff);
	assert_true(p[0] != p[1]);
	assert_true(a.used_bytes >= 500 * 499 / 2);
	arena_deinit(&a);
	assert_int_equal(a.used_bytes, 0);
	assert_int_equal(mem_live(), live);
	arena_deinit(&a);
}

static void arrays_grow_by_doubling(void **state)
{
	struct arena a = {0};
	uint32_t *items = NULL, *before;
	size_t cap = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		before = items;
		assert_int_equal(arena_grow(&a, &items, &cap, i, sizeof(*items)), 0);
		assert_true(items == before || i == 0 || (i >= 64 && !(i & (i - 1))));
		assert_int_equal(items[i], 0);
		items[i] = i + 1;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i + 1);
	assert_int_equal(cap, 1024);
	before = items;
	assert_true(arena_grow(&a, &items, &cap, cap, SIZE_MAX / 1024) < 0);
	assert_true(items == before && cap == 1024);
	arena_deinit(&a);
}

static void test_large_block(void **state)
{
	struct arena a = {0};
	unsigned char *small = arena_alloc(&a, 1), *p = arena_alloc(&a, 5 << 20);

	(void)state;
	assert_non_null(small);
	assert_non_null(p);
	p[0] = p[(5 << 20) - 1] = 1;
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, PTRDIFF_MAX));
	arena_deinit(&a);
}

static void test_what_moves_stays_where_it_is(void **state)
{
	struct arena from = {0}, to = {0};
	long live = mem_live();
	char *old = arena_strndup(&to, "old", 3), *fresh = arena_strndup(&from, "fresh", 5);

	(void)state;
	arena_move(&to, &from);
	assert_null(from.head);
	assert_int_equal(from.used_bytes, 0);
	assert_int_equal(to.used_bytes, 32);
	assert_string_equal(arena_strndup(&from, "next", 4), "next");
	arena_deinit(&from);
	arena_move(&to, &from);
	assert_string_equal(old, "old");
	assert_string_equal(fresh, "fresh");
	arena_deinit(&to);
	assert_int_equal(mem_live(), live);
}

static void test_reset_wipes_and_keeps_what_it_takes(void **state)
{
	struct arena a = {0};
	long live = mem_live();

	(void)state;
	arena_reset(&a);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 200; i++) {
			unsigned char *p = arena_alloc(&a, 100);
			for (int k = 0; k < 100; k++)
				assert_int_equal(p[k], 0);
			memset(p, 0xee, 100);
		}
		arena_reset(&a);
		assert_int_equal(a.used_bytes, 0);
		/* The first time it is in several chunks, then always in the same one. */
		assert_int_equal(mem_live(), round ? live + 1 : live);
		mem_fail_after(round ? 0 : -1);
	}
	mem_fail_after(-1);
	arena_deinit(&a);
	assert_int_equal(mem_live(), live);
}

/* Memory that was needed once is not held for ever. */
static void test_reset_gives_much_back(void **state)
{
	struct arena a = {0};
	long live = mem_live();

	(void)state;
	assert_non_null(arena_alloc(&a, 1));
	assert_non_null(arena_alloc(&a, 300 << 20));
	arena_reset(&a);
	assert_int_equal(mem_live(), live);
	assert_true(a.first <= 1 << 20);
	arena_deinit(&a);
}

/* One frame that needed much does not make all others hold as much. */
static void test_little_use_shrinks_it(void **state)
{
	struct arena a = {0};

	(void)state;
	assert_non_null(arena_alloc(&a, 4 << 20));
	for (int i = 0; i < 8; i++) {
		arena_reset(&a);
		assert_non_null(arena_alloc(&a, 3 << 20));
		assert_non_null(a.head);
	}
	arena_reset(&a);
	for (int i = 0; i < 100 && a.head; i++) {
		assert_non_null(arena_alloc(&a, 1000));
		arena_reset(&a);
	}
	assert_null(a.head);
	assert_true(a.first <= 4096);
	assert_non_null(arena_alloc(&a, 1000));
	arena_reset(&a);
	assert_non_null(a.head);
	arena_deinit(&a);
}

/* Pages of @p that are in memory. */
static size_t resident(const unsigned char *p, size_t len)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)p & ~(page - 1);
	size_t n = ((uintptr_t)p + len - at + page - 1) / page, ret = 0;
	unsigned char *in = calloc(n, 1);

	assert_non_null(in);
	assert_int_equal(mincore((void *)at, n * page, in), 0);
	for (size_t i = 0; i < n; i++)
		ret += in[i] & 1;
	free(in);
	return ret * page;
}

/* A chunk that stays, as it was used well, keeps its place, not its pages. */
static void test_reset_gives_pages_back(void **state)
{
	const size_t len = 16 << 20;
	struct arena a = {0};
	unsigned char *p = arena_alloc(&a, len);

	(void)state;
	assert_non_null(p);
	memset(p, 0xee, len);
	assert_true(resident(p, len) >= len);
	for (int round = 0; round < 3; round++) {
		arena_reset(&a);
		assert_true(resident(p, len) <= 4 << 20);
		assert_ptr_equal(arena_alloc(&a, len), p);
		for (size_t i = 0; i < len; i++)
			if (p[i])
				fail_msg("byte %zu is not zero", i);
		memset(p, 0xee, len);
	}
	arena_deinit(&a);
}

static void test_text(void **state)
{
	struct arena a = {0};

	(void)state;
	assert_string_equal(arena_strndup(&a, "mutex_lock", 5), "mutex");
	assert_string_equal(arena_strndup(&a, "ab\0cd", 5), "ab");
	assert_string_equal(arena_strndup(&a, "", 0), "");
	assert_string_equal(arena_printf(&a, "%s/%d", "mm", 5214), "mm/5214");
	arena_deinit(&a);
}

static void test_out_of_memory(void **state)
{
	struct arena a = {0};

	(void)state;
	mem_fail_after(0);
	assert_null(arena_alloc(&a, 1));
	mem_fail_after(0);
	assert_null(arena_strndup(&a, "x", 1));
	mem_fail_after(0);
	assert_null(arena_printf(&a, "x"));
	mem_fail_after(-1);
	assert_int_equal(a.used_bytes, 0);
	assert_non_null(arena_alloc(&a, 1));
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_do_not_overlap),
		cmocka_unit_test(arrays_grow_by_doubling),
		cmocka_unit_test(test_large_block),
		cmocka_unit_test(test_what_moves_stays_where_it_is),
		cmocka_unit_test(test_reset_wipes_and_keeps_what_it_takes),
		cmocka_unit_test(test_little_use_shrinks_it),
		cmocka_unit_test(test_reset_gives_much_back),
		cmocka_unit_test(test_reset_gives_pages_back),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
