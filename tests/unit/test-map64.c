// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/map64.h"
#include "kontend/mem.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* xorshift64*: without the product, bits of successive numbers depend on each other. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed * 0x2545f4914f6cdd1du >> 8;
}

/* 0 when @key is absent; tests store no 0. */
static uint32_t value_of(const struct map64 *m, uint64_t key)
{
	const uint32_t *v = map64_get(m, key);

	return v ? *v : 0;
}

static void test_empty(void **state)
{
	struct map64 m = {0};

	(void)state;
	assert_null(map64_get(&m, 0));
	assert_false(map64_del(&m, 0));
	map64_clear(&m);
	map64_deinit(&m);
}

static void test_zero_and_replace(void **state)
{
	struct map64 m = {0};

	(void)state;
	assert_int_equal(map64_put(&m, 0, 7), 0);
	assert_int_equal(map64_put(&m, UINT64_MAX, 8), 0);
	assert_int_equal(value_of(&m, 0), 7);
	assert_int_equal(map64_put(&m, 0, 9), 0);
	assert_int_equal(m.count, 2);
	assert_int_equal(value_of(&m, 0), 9);
	assert_int_equal(value_of(&m, UINT64_MAX), 8);
	assert_true(map64_del(&m, 0));
	assert_false(map64_del(&m, 0));
	assert_null(map64_get(&m, 0));
	assert_int_equal(value_of(&m, UINT64_MAX), 8);
	map64_clear(&m);
	assert_int_equal(m.count, 0);
	assert_null(map64_get(&m, UINT64_MAX));
	map64_deinit(&m);
}

/* Random puts and dels over few keys, each step checked against a plain array. */
static void test_against_array(void **state)
{
	enum { KEYS = 512, STEPS = 200000 };
	static uint32_t truth[KEYS];
	static uint64_t keys[KEYS];
	struct map64 m = {0};
	uint64_t seed = 88172645463325252u;
	size_t count = 0, deleted = 0;

	(void)state;
	for (size_t i = 0; i < KEYS; i++)
		keys[i] = i % 2 ? next_random(&seed) : 0xffff888000000000u + i * 64;
	for (size_t step = 0; step < STEPS; step++) {
		size_t k = next_random(&seed) % KEYS;

		if (next_random(&seed) % 2) {
			uint32_t value = (uint32_t)step + 1;
			count += !truth[k];
			truth[k] = value;
			assert_int_equal(map64_put(&m, keys[k], value), 0);
		} else {
			assert_int_equal(map64_del(&m, keys[k]), truth[k] != 0);
			count -= truth[k] != 0;
			deleted += truth[k] != 0;
			truth[k] = 0;
		}
		assert_int_equal(m.count, count);
		assert_true(m.count <= (m.mask + 1) / 4 * 3);
		size_t at = next_random(&seed) % KEYS;
		assert_int_equal(value_of(&m, keys[at]), truth[at]);
	}
	for (size_t i = 0; i < KEYS; i++)
		assert_int_equal(value_of(&m, keys[i]), truth[i]);
	assert_true(deleted > STEPS / 5);
	map64_deinit(&m);
}

static void test_out_of_memory(void **state)
{
	struct map64 m = {0};
	uint64_t n = 0;

	(void)state;
	mem_fail_after(0);
	assert_int_equal(map64_put(&m, 1, 1), -ENOMEM);
	mem_fail_after(-1);
	assert_null(map64_get(&m, 1));
	/* Fill it until it must grow; the failed put leaves all others in place. */
	mem_fail_after(1);
	while (map64_put(&m, n, (uint32_t)n + 1) == 0)
		n++;
	mem_fail_after(-1);
	assert_true(n > 1);
	assert_int_equal(m.count, n);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(value_of(&m, i), i + 1);
	assert_int_equal(map64_put(&m, n, 5), 0);
	assert_int_equal(value_of(&m, n), 5);
	map64_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_zero_and_replace),
		cmocka_unit_test(test_against_array),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
