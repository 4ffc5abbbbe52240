// SPDX-License-Identifier: GPL-2.0-only
/* Places of the overview's parts, at every size and for tables of many lengths. */
#include "views/overview-place.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PARTS = 5, TITLES = 2, TALL_H = 31, SHORT_H = 27, PERIOD = 32 };

static const struct overview_place_rows contents[] = {
	{0, 0, 0, 0, 0},   {2, 2, 5, 0, 1},	{4, 2, 9, 3, 0},      {5, 64, 10, 0, 1},
	{7, 2, 30, 22, 1}, {12, 2, 200, 20, 0}, {11, 128, 1, 500, 1}, {1, 1, 1, 1, 0},
};

enum { CONTENTS = sizeof(contents) / sizeof(*contents) };

static bool overlap(struct rect a, struct rect b)
{
	return a.w > 0 && a.h > 0 && b.w > 0 && b.h > 0 && a.x < b.x + b.w && b.x < a.x + a.w &&
	       a.y < b.y + b.h && b.y < a.y + a.h;
}

static void check_rects(struct rect r, const struct overview_place *p)
{
	const struct rect parts[PARTS] = {p->now, p->types, p->cpus, p->locks, p->waiters};

	for (int i = 0; i < PARTS; i++) {
		assert_true(parts[i].w >= 0 && parts[i].h >= 0);
		if (!parts[i].w || !parts[i].h)
			continue;
		assert_true(parts[i].x >= r.x && parts[i].x + parts[i].w <= r.x + r.w);
		assert_true(parts[i].y >= r.y && parts[i].y + parts[i].h <= r.y + r.h);
		for (int k = 0; k < i; k++)
			assert_false(overlap(parts[i], parts[k]));
	}
}

/* With the titles; a table without rows has a sentence, of so many lines. */
static int height_of(size_t rows, int sentence)
{
	return (int)rows < sentence ? sentence + TITLES : (int)rows + TITLES;
}

/* Where there is room for all rows, below each other, none is cut. */
static void check_cuts(struct rect r, const struct overview_place_rows *rows,
		       const struct overview_place *p)
{
	bool tall = r.h >= TALL_H;
	int types = height_of(rows->types, 1), cpus = height_of(rows->cpus, 1);
	int locks = height_of(rows->locks, 2), waiters = tall ? height_of(rows->waiters, 1) : 0;
	int need = OVERVIEW_PLACE_ALL + (int)rows->places + types + cpus + locks + waiters;

	if (r.h < SHORT_H || need > r.h)
		return;
	assert_true(p->types.h >= types && p->cpus.h >= cpus);
	assert_true(p->locks.h >= locks && p->waiters.h >= waiters);
}

static void test_every_size(void **state)
{
	(void)state;
	for (int w = 59; w <= 300; w += 3)
		for (int h = 8; h <= 110; h++)
			for (int i = 0; i < CONTENTS; i++) {
				const struct rect r = {0, 2, w, h};
				struct overview_place p = overview_place(r, &contents[i]);

				check_rects(r, &p);
				check_cuts(r, &contents[i], &p);
				assert_int_equal(p.has_places, contents[i].places && h >= 15);
				assert_int_equal(p.now.h, OVERVIEW_PLACE_ALL + p.has_places);
			}
}

/* A window of 80x24 leaves 21 lines: ten locks, however many types and CPUs there are. */
static void test_ten_locks(void **state)
{
	(void)state;
	for (int h = OVERVIEW_PLACE_ALL + 1 + OVERVIEW_PLACE_LOCKS + TITLES; h < SHORT_H; h++)
		for (int w = 60; w < 150; w++)
			for (int i = 0; i < CONTENTS; i++) {
				const struct overview_place_rows *rows = &contents[i];
				struct overview_place p =
					overview_place((struct rect){0, 0, w, h}, rows);

				if (rows->locks >= OVERVIEW_PLACE_LOCKS)
					assert_true(p.locks.h >= OVERVIEW_PLACE_LOCKS + TITLES);
				else
					assert_true(p.types.h >= 3 && p.cpus.h >= 3);
			}
}

static void check_rows(struct overview_place_rows a, struct overview_place_rows b)
{
	assert_int_equal(a.types, b.types);
	assert_int_equal(a.cpus, b.cpus);
	assert_int_equal(a.locks, b.locks);
	assert_int_equal(a.waiters, b.waiters);
	assert_int_equal(a.places, b.places);
}

static void test_tables_keep_their_room(void **state)
{
	const struct rect r = {0, 0, 120, 60}, other = {0, 0, 119, 60};
	const struct overview_place_rows many = {7, 2, 30, 22, 0}, few = {3, 2, 31, 0, 1};
	struct overview_place_seen s = {0};
	uint64_t tick = 2 * PERIOD + 1;

	(void)state;
	check_rows(overview_place_see(&s, r, &many, tick++), many);
	for (; tick < 4 * PERIOD; tick++)
		check_rows(overview_place_see(&s, r, &few, tick),
			   (struct overview_place_rows){7, 2, 31, 22, 1});
	check_rows(overview_place_see(&s, r, &few, tick), few);
	/* After a jump in time, and in a window of another size, only the rows there are count. */
	check_rows(overview_place_see(&s, r, &many, tick + 9 * PERIOD), many);
	check_rows(overview_place_see(&s, r, &few, tick), few);
	check_rows(overview_place_see(&s, r, &many, tick),
		   (struct overview_place_rows){7, 2, 31, 22, 1});
	check_rows(overview_place_see(&s, other, &few, tick), few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_ten_locks),
		cmocka_unit_test(test_tables_keep_their_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
