// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_zeroed_and_checked(void **state)
{
	long live = mem_live();
	char *p = mem_calloc(3, 100);

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
	assert_int_equal(mem_live(), live + 1);
	assert_null(mem_calloc(SIZE_MAX / 2, 3));
	unsigned long failures = mem_failures();
	assert_null(mem_resize(NULL, SIZE_MAX / 2, 3));
	assert_int_equal(mem_failures(), failures + 1);
	assert_null(mem_resize(NULL, PTRDIFF_MAX, 2));
	assert_int_equal(mem_live(), live + 1);
	mem_free(p);
	mem_free(NULL);
	assert_int_equal(mem_live(), live);
}

static void test_empty_is_no_failure(void **state)
{
	void *p = mem_calloc(0, 8), *q = mem_resize(NULL, 0, 8);

	(void)state;
	assert_non_null(p);
	assert_non_null(q);
	p = mem_resize(p, 0, 1);
	assert_non_null(p);
	mem_free(p);
	mem_free(q);
}

/* Such as lie in large pages, where there are any. */
static void test_large(void **state)
{
	enum { SMALL = 6 << 20, LARGE = 13 << 20 };
	unsigned char *p = mem_calloc(SMALL, 1);

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < SMALL; i += 1000) {
		assert_int_equal(p[i], 0);
		p[i] = (unsigned char)(i / 1000);
	}
	p = mem_resize(p, LARGE, 1);
	assert_non_null(p);
	memset(p + SMALL, 1, LARGE - SMALL);
	for (size_t i = 0; i < SMALL; i += 1000)
		assert_int_equal(p[i], (unsigned char)(i / 1000));
	mem_free(p);
}

static void test_strdup(void **state)
{
	char *s = mem_strdup("kernel"), *e = mem_strdup("");

	(void)state;
	assert_string_equal(s, "kernel");
	assert_string_equal(e, "");
	mem_free(s);
	mem_free(e);
}

static void test_fails_once(void **state)
{
	void *p[4];

	(void)state;
	mem_fail_after(2);
	p[0] = mem_calloc(1, 1);
	p[1] = mem_resize(NULL, 1, 1);
	p[2] = mem_strdup("x");
	p[3] = mem_calloc(1, 1);
	assert_int_equal(mem_count(), 4);
	mem_fail_after(-1);
	assert_int_equal(mem_count(), 0);
	assert_non_null(p[0]);
	assert_non_null(p[1]);
	assert_null(p[2]);
	assert_non_null(p[3]);
	for (int i = 0; i < 4; i++)
		mem_free(p[i]);
}

static void test_grow(void **state)
{
	uint64_t *items = NULL;
	size_t cap = 0;

	(void)state;
	for (size_t n = 0; n < 1000; n++) {
		assert_int_equal(mem_grow(&items, &cap, n, sizeof(*items)), 0);
		assert_true(cap > n);
		items[n] = n;
	}
	for (size_t n = 0; n < 1000; n++)
		assert_int_equal(items[n], n);
	assert_int_equal(cap, 1024);

	uint64_t *before = items;
	mem_fail_after(0);
	assert_int_equal(mem_grow(&items, &cap, cap, sizeof(*items)), -ENOMEM);
	mem_fail_after(-1);
	assert_ptr_equal(items, before);
	assert_int_equal(cap, 1024);
	assert_int_equal(items[999], 999);

	size_t huge = SIZE_MAX / 2 + 1;
	assert_int_equal(mem_grow(&items, &huge, huge, 1), -ENOMEM);
	assert_ptr_equal(items, before);
	mem_free(items);
}

enum { THREAD_ROUNDS = 20000 };

static void *allocate_often(void *arg)
{
	for (int i = 0; i < THREAD_ROUNDS; i++) {
		void *p = mem_calloc(1, 16);
		if (!p)
			++*(long *)arg;
		mem_free(p);
	}
	return NULL;
}

static void test_two_threads_one_failure(void **state)
{
	pthread_t thread[2];
	long failed[2] = {0}, live = mem_live();

	(void)state;
	mem_fail_after(THREAD_ROUNDS);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, allocate_often, &failed[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(mem_count(), 2 * THREAD_ROUNDS);
	mem_fail_after(-1);
	assert_int_equal(failed[0] + failed[1], 1);
	assert_int_equal(mem_live(), live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeroed_and_checked),
		cmocka_unit_test(test_empty_is_no_failure),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_strdup),
		cmocka_unit_test(test_fails_once),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_two_threads_one_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
