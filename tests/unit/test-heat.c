// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of waits by time and length against brute force: however columns were joined, each has
 * the waits that ended in it, and without room for all it is whole from a time on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/heat.h"
#include "kontend/hist.h"
#include "kontend/mem.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
enum { CELLS = 50, WAITS = 60000 };

struct past {
	uint64_t at_ns, n, ns;
	uint32_t cell;
	unsigned bucket;
};

struct sums {
	uint64_t n[CELLS][HIST_BUCKETS], ns[CELLS][HIST_BUCKETS];
};

static void add_sum(struct sums *s, uint32_t cell, unsigned bucket, uint64_t n, uint64_t ns)
{
	s->n[cell][bucket] += n;
	s->ns[cell][bucket] += ns;
}

static unsigned longest(const struct heat *h)
{
	unsigned bits = HEAT_BASE;

	for (size_t i = 0; i < h->n_columns; i++) {
		const unsigned own = HEAT_BASE + (unsigned)h->columns[i].level;
		bits = own > bits ? own : bits;
	}
	return bits;
}

static void check_order(const struct heat *h)
{
	size_t newest = 0;

	assert_true(h->n <= h->cap);
	for (size_t i = 0; i < h->n_columns; i++) {
		assert_true(heat_end(h, i) >= h->columns[i].first);
		newest += !h->columns[i].level;
		if (i) {
			assert_true(h->columns[i].level <= h->columns[i - 1].level);
			assert_true(heat_begin_ns(&h->columns[i]) >
				    heat_begin_ns(&h->columns[i - 1]));
		}
	}
	assert_int_equal(newest, h->n_newest);
}

/* From one multiple of the longest column to the next, the log has what happened. */
static void check_all(const struct heat *h, const struct past *p, size_t n)
{
	static struct sums want, got;
	unsigned bits = longest(h);
	size_t column = 0, at = 0;

	check_order(h);
	while (at < n && p[at].at_ns < h->dropped_ns)
		at++;
	while (at < n) {
		uint64_t unit = p[at].at_ns >> bits;
		memset(&want, 0, sizeof(want));
		memset(&got, 0, sizeof(got));
		for (; at < n && p[at].at_ns >> bits == unit; at++)
			add_sum(&want, p[at].cell, p[at].bucket, p[at].n, p[at].ns);
		for (; column < h->n_columns && heat_begin_ns(&h->columns[column]) >> bits == unit;
		     column++)
			for (size_t i = h->columns[column].first; i < heat_end(h, column); i++)
				add_sum(&got, h->entries[i].cell, h->entries[i].bucket,
					h->entries[i].n, h->entries[i].ns);
		assert_memory_equal(&want, &got, sizeof(want));
	}
	assert_int_equal(column, h->n_columns);
}

static struct past random_wait(unsigned *seed, uint64_t *t)
{
	const int gap = rand_r(seed) % 1000;
	uint64_t ns = (uint64_t)rand_r(seed) << rand_r(seed) % 12;

	*t += gap == 0 ? 700 * MS : (uint64_t)(rand_r(seed) % 3000000);
	return (struct past){.at_ns = *t,
			     .n = rand_r(seed) % 50 ? 1 : (uint64_t)rand_r(seed),
			     .ns = ns,
			     .cell = (uint32_t)(rand_r(seed) % CELLS),
			     .bucket = hist_bucket(ns)};
}

static void run(uint32_t max, unsigned seed)
{
	struct past *p = calloc(WAITS, sizeof(*p));
	struct heat h = {.max = max, .each = HEAT_EACH};
	uint64_t t = 10000 * MS;

	assert_non_null(p);
	for (size_t i = 0; i < WAITS; i++) {
		p[i] = random_wait(&seed, &t);
		heat_add(&h, p[i].cell, p[i].bucket, p[i].n, p[i].ns, t);
		assert_true(h.n <= max);
		if (i % 9973 == 0)
			check_all(&h, p, i + 1);
	}
	check_all(&h, p, WAITS);
	assert_int_equal(h.n_lost, 0);
	/* As many as an octave of age has, for each octave. */
	assert_true(h.n_columns < 2 * HEAT_EACH * 12);
	if (max >= 1 << 20) {
		struct heat copy;
		assert_int_equal(h.dropped_ns, 0);
		assert_int_equal(h.each, HEAT_EACH);
		assert_int_equal(heat_copy(&copy, &h), 0);
		for (size_t i = 0; i < 3000; i++)
			heat_add(&copy, 0, 0, 1, 1, t + i * 5 * MS);
		check_order(&copy);
		heat_deinit(&copy);
	}
	heat_deinit(&h);
	free(p);
}

static void columns_have_what_ended_in_them(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 4; seed++)
		run(1 << 20, seed);
}

static void what_has_no_room_is_the_oldest(void **state)
{
	(void)state;
	run(20000, 7);
	run(3000, 8);
}

static void indices_change(void **state)
{
	uint32_t map[4] = {2, 2, 0, 1};
	struct heat h = {.max = 100, .each = HEAT_EACH};
	uint64_t n[4] = {0};

	(void)state;
	for (uint32_t cell = 0; cell < 4; cell++)
		heat_add(&h, cell, 8, 1 + cell, 4, 5 * MS);
	heat_remap(&h, map);
	heat_add(&h, 2, 8, 10, 4, 5 * MS);
	for (size_t i = 0; i < h.n; i++)
		n[h.entries[i].cell] += h.entries[i].n;
	assert_int_equal(n[0], 3);
	assert_int_equal(n[1], 4);
	assert_int_equal(n[2], 13);
	heat_remap(&h, NULL);
	assert_int_equal(h.n_columns, 0);
	assert_true(h.dropped_ns > 5 * MS);
	heat_clear(&h);
	assert_int_equal(h.dropped_ns, 0);
	heat_deinit(&h);
}

/* Clocks that jump, one that goes back, numbers that have no room in a word. */
static void odd_times_and_numbers(void **state)
{
	static const uint64_t times[] = {0, UINT64_MAX / 2, 7,	      UINT64_MAX, UINT64_MAX,
					 1, UINT64_MAX,	    5000 * MS};
	struct heat h = {.max = 1000, .each = HEAT_EACH};
	uint64_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		heat_add(&h, 1, HIST_BUCKETS - 1, UINT64_MAX / 16, UINT64_MAX / 16, times[i]);
	for (size_t i = 0; i < h.n; i++)
		n += h.entries[i].n;
	assert_true(n == 8 * (UINT64_MAX / 16));
	assert_int_equal(h.n_columns, 3);
	heat_deinit(&h);
	h = (struct heat){0};
	heat_add(&h, 1, 1, 1, 1, 1);
	assert_int_equal(h.n + h.n_columns + h.n_lost, 0);
}

static void no_memory_is_counted(void **state)
{
	(void)state;
	for (long k = 0; k < 3; k++) {
		struct heat h = {.max = 1000, .each = HEAT_EACH};
		mem_fail_after(k);
		heat_add(&h, 1, 1, 3, 3, 5 * MS);
		mem_fail_after(-1);
		assert_int_equal(h.n_lost, 3);
		heat_add(&h, 1, 1, 4, 4, 5 * MS);
		assert_int_equal(h.n, 1);
		assert_int_equal(h.entries[0].n, 4);
		struct heat copy;
		mem_fail_after(k);
		int r = heat_copy(&copy, &h);
		mem_fail_after(-1);
		assert_int_equal(r < 0, k < 2);
		heat_deinit(&copy);
		heat_deinit(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_what_ended_in_them),
		cmocka_unit_test(what_has_no_room_is_the_oldest),
		cmocka_unit_test(indices_change),
		cmocka_unit_test(odd_times_and_numbers),
		cmocka_unit_test(no_memory_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
