// SPDX-License-Identifier: GPL-2.0-only
/*
 * The merge sort against what a sort must be: in order, with nothing lost, and stable; and both
 * bisections against a count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/bisect.h"
#include "kontend/sort.h"

enum { MOST = 300 };

struct item {
	uint32_t key, place;
	char pad[5]; /* a size that is no power of two */
};

static int before(const void *a, const void *b)
{
	return ((const struct item *)a)->key < ((const struct item *)b)->key;
}

static void check(uint32_t n, uint32_t keys, uint32_t seed)
{
	static struct item items[MOST], room[MOST];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		items[i] = (struct item){.key = (seed >> 16) % keys, .place = i};
		sum += i;
	}
	sort_merge(items, room, n, sizeof(items[0]), before);
	for (uint32_t i = 0; i < n; i++) {
		sum -= items[i].place;
		if (i == 0)
			continue;
		assert_false(before(&items[i], &items[i - 1]));
		if (items[i].key == items[i - 1].key)
			assert_true(items[i - 1].place < items[i].place);
	}
	assert_int_equal(sum, 0);
}

static void sorts_any_number_and_keeps_equals_in_order(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < MOST; n++) {
		check(n, 7, n);
		check(n, UINT32_MAX, n + 1);
		check(n, 1, n);
	}
}

/* As the other sort does it. */
static void check_radix(uint32_t n, uint64_t mask, uint64_t seed)
{
	static struct sort_item items[MOST], room[MOST];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		items[i] = (struct sort_item){(seed ^ seed >> 32) & mask, i};
		sum += i;
	}
	sort_radix(items, room, n);
	for (uint32_t i = 0; i < n; i++) {
		sum -= items[i].at;
		if (i == 0)
			continue;
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i].key == items[i - 1].key)
			assert_true(items[i - 1].at < items[i].at);
	}
	assert_int_equal(sum, 0);
}

static void sorts_numbers_byte_by_byte(void **state)
{
	static const uint64_t masks[] = {0, 7, 0xff00, 0xff000000000000ff, 3ull << 62, UINT64_MAX};

	(void)state;
	for (uint32_t n = 0; n < MOST; n++)
		for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++)
			check_radix(n, masks[i], n + 1);
}

static int compare_keys(const void *item, const void *key)
{
	uint64_t a = *(const uint64_t *)item, b = *(const uint64_t *)key;

	return (a > b) - (a < b);
}

static void bisections_count_what_is_not_after(void **state)
{
	uint64_t sorted[MOST];

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		sorted[i] = 3 * (i / 4);
	for (size_t n = 0; n < MOST; n += 7) {
		for (uint64_t key = 0; key < MOST; key++) {
			size_t count = 0;

			while (count < n && sorted[count] <= key)
				count++;
			assert_int_equal(bisect_by(sorted, n, sizeof(key), &key, compare_keys),
					 count);
			assert_int_equal(bisect_at(sorted, n, sizeof(key), 0, key), count);
		}
	}
	assert_int_equal(bisect_by(NULL, 0, 8, &state, compare_keys), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_any_number_and_keeps_equals_in_order),
		cmocka_unit_test(sorts_numbers_byte_by_byte),
		cmocka_unit_test(bisections_count_what_is_not_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
