// SPDX-License-Identifier: GPL-2.0-only
/* Hashes: values that must not change, as ids in files have them, and how they spread. */
#include "kontend/hash.h"
#include "kontend/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The published values of FNV-1a. */
static void test_fnv(void **state)
{
	(void)state;
	assert_true(hash_text(HASH_START, "") == 0xcbf29ce484222325ull);
	assert_true(hash_text(HASH_START, "a") == 0xaf63dc4c8601ec8cull);
	assert_true(hash_text(HASH_START, "foobar") == 0x85944171f73967e8ull);
	assert_true(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8ull);
	assert_true(hash_text(hash_bytes(HASH_START, "foo", 3), "bar") == 0x85944171f73967e8ull);
	assert_true(text_hash("foobar") == 0x85944171f73967e8ull);
	assert_true(text_hash(NULL) == HASH_START);
	assert_true(hash_text(HASH_START, "\xff") == hash_bytes(HASH_START, "\xff", 1));
}

static void test_numbers(void **state)
{
	(void)state;
	assert_true(hash_u64(0) == 0);
	assert_true(hash_u64(1) == (0x9e3779b97f4a7c15ull ^ 0x9e3779b97f4a7c15ull >> 29));
	assert_true(hash_add(hash_add(0, 1), 2) != hash_add(hash_add(0, 2), 1));
}

/* Addresses that differ in few bits spread over the slots: none has a fourth of all. */
static void test_slots(void **state)
{
	enum { BITS = 6, N = 1 << 12 };
	unsigned direct[1 << BITS] = {0}, mixed[1 << BITS] = {0};

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t addr = 0xffff888100000000ull + i * 256;

		direct[hash_slot(addr, BITS)]++;
		mixed[hash_u64(addr) % (1 << BITS)]++;
	}
	for (int i = 0; i < 1 << BITS; i++) {
		assert_in_range(direct[i], 1, N / 4);
		assert_in_range(mixed[i], 1, N / 4);
	}
	assert_int_equal(hash_slot(UINT64_MAX, 1) & ~1u, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fnv),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
