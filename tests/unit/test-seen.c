// SPDX-License-Identifier: GPL-2.0-only
/* Columns of a wide table stay where they are from one refresh to the next. */
#include "widgets/seen.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NAME, NOW, AT, COLUMNS, ROWS = 6, PERIOD = 32, AGAINST = 8 };

static const struct column columns[COLUMNS] = {
	[NAME] = {"name", "NAME", "", COLUMN_TEXT, 10, 0, COLUMN_SCREEN | COLUMN_WIDE},
	[NOW] = {"now", "NOW", "", COLUMN_COUNT, 4, 1, COLUMN_SCREEN},
	[AT] = {"at", "AT", "", COLUMN_TEXT, 8, 2, COLUMN_SCREEN},
};

static struct value values[ROWS * COLUMNS];

/* Row i is the one that has @first + i of these names, and has figures if i < @full. */
static struct table rows_of(size_t first, size_t full)
{
	static const char *const names[ROWS] = {
		"mmap_lock mysqld/800", "rq_lock cpu 1", "a", "b", "i_rwsem /srv/pg/d/base", "c"};

	for (size_t i = 0; i < ROWS; i++) {
		struct value *v = &values[i * COLUMNS];

		v[NAME] = (struct value){.s = names[(first + i) % ROWS], .known = true};
		v[NOW] = (struct value){.u = i < full ? first + 1 : 0, .known = true};
		v[AT] = (struct value){.s = i < full ? "db.c:412" : "-", .known = i < full};
	}
	return (struct table){.name = "t",
			      .columns = columns,
			      .n_columns = COLUMNS,
			      .values = values,
			      .n_rows = ROWS};
}

static int screen_w = LAYOUT_SIDE_W;

static size_t place(const struct seen *s, struct layout_column *ret)
{
	const struct layout_room room = {screen_w == LAYOUT_SIDE_W ? 60 : 30, screen_w, s->need};

	return layout_columns(columns, COLUMNS, &room, ret, COLUMNS);
}

static void test_places_of_the_same_rows(void **state)
{
	struct layout_column first[COLUMNS], now[COLUMNS];
	struct seen s = {0};
	struct table t = rows_of(0, ROWS);

	(void)state;
	seen_rows(&s, &t, 0, ROWS, 1);
	memset(first, 0, sizeof(first));
	memset(now, 0, sizeof(now));
	size_t n = place(&s, first);
	assert_int_equal(n, COLUMNS);
	assert_int_equal(first[NAME].w, 22);
	for (uint64_t tick = 2; tick < 3 * PERIOD; tick++) {
		t = rows_of(tick % ROWS, ROWS / 2 + tick % (ROWS / 2));
		seen_rows(&s, &t, 0, ROWS, tick);
		assert_int_equal(place(&s, now), n);
		assert_memory_equal(first, now, sizeof(first));
	}
}

static uint64_t seed = 1;

static size_t draw_number(size_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (size_t)(seed >> 33) % below;
}

/*
 * Any rows of a few, most of them with figures, on a narrow screen and on a wide one: columns move
 * while names are new, and then no more, but that a period in which a long name was not there may
 * be over, and that name come back.
 */
static void test_places_of_any_rows(void **state)
{
	enum { PERIODS = 40, PAGE = 3 };

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct layout_column before[COLUMNS] = {0}, now[COLUMNS];
		struct seen s = {0};
		unsigned moves = 0;

		screen_w = wide ? LAYOUT_SIDE_W : 80;
		for (uint64_t tick = 1; tick < PERIODS * PERIOD; tick++) {
			struct table t = rows_of(draw_number(ROWS), ROWS - draw_number(2));

			memset(now, 0, sizeof(now));
			seen_rows(&s, &t, draw_number(ROWS - PAGE + 1), PAGE, tick);
			assert_int_equal(place(&s, now), COLUMNS);
			moves += tick > PERIOD && memcmp(before, now, sizeof(now)) != 0;
			memcpy(before, now, sizeof(now));
		}
		assert_int_equal(moves, 0);
	}
	screen_w = LAYOUT_SIDE_W;
}

static void test_long_texts_stay_for_a_period(void **state)
{
	struct seen s = {0};
	struct table t = rows_of(0, ROWS);
	uint64_t tick = PERIOD;

	(void)state;
	seen_rows(&s, &t, 0, ROWS, tick);
	assert_int_equal(s.need[NAME].width, 22);
	for (size_t i = 0; i < ROWS; i++)
		values[i * COLUMNS + NAME].s = "short";
	for (; tick < 3 * PERIOD; tick++) {
		seen_rows(&s, &t, 0, ROWS, tick);
		assert_int_equal(s.need[NAME].width, 22);
	}
	seen_rows(&s, &t, 0, ROWS, tick);
	assert_int_equal(s.need[NAME].width, 5);
	values[NAME].s = "a longer one, at once";
	seen_rows(&s, &t, 0, ROWS, tick);
	assert_int_equal(s.need[NAME].width, 21);
}

static void test_empty_columns(void **state)
{
	struct seen s = {0};
	struct table t = rows_of(0, 2);
	uint64_t tick = 1;

	(void)state;
	seen_rows(&s, &t, 0, ROWS, tick++);
	assert_int_equal(s.need[NAME].empty, LAYOUT_FEW_EMPTY);
	assert_true(s.need[NOW].empty && s.need[AT].empty);
	/* Other rows now and then, or more frames of the same tick, change nothing. */
	for (int i = 0; i < 3 * AGAINST; i++) {
		t = rows_of(0, i % AGAINST == AGAINST - 1 ? 2 : ROWS);
		seen_rows(&s, &t, 0, ROWS, tick);
		seen_rows(&s, &t, 0, ROWS, tick++);
		assert_true(s.need[NOW].empty && s.need[AT].empty);
	}
	for (int i = 0; i < AGAINST; i++) {
		assert_true(s.need[NOW].empty);
		t = rows_of(0, ROWS);
		seen_rows(&s, &t, 0, ROWS, tick++);
	}
	assert_false(s.need[NOW].empty || s.need[AT].empty);
	/* No rows say nothing; after a jump in time the next rows decide. */
	seen_rows(&s, &t, ROWS, 5, tick + 100);
	assert_int_equal(s.need[NOW].empty, LAYOUT_FEW_EMPTY);
	t = rows_of(0, 0);
	seen_rows(&s, &t, 0, ROWS, tick + 100);
	assert_int_equal(s.need[NOW].empty, LAYOUT_ALL_EMPTY);
	t = rows_of(0, ROWS);
	seen_rows(&s, &t, 0, ROWS, 3);
	assert_int_equal(s.need[NOW].empty, LAYOUT_FEW_EMPTY);
}

static void test_rows_on_the_screen(void **state)
{
	struct seen s = {0};
	struct table t = rows_of(0, 1);

	(void)state;
	seen_rows(&s, &t, 2, 2, 1);
	assert_int_equal(s.need[NAME].width, 1);
	assert_int_equal(s.need[NOW].empty, LAYOUT_ALL_EMPTY);
	seen_rows(&s, &t, 3, 2, 2);
	assert_int_equal(s.need[NAME].width, 22);
	s = (struct seen){0};
	seen_rows(&s, &t, 0, 1, 1);
	assert_int_equal(s.need[NOW].empty, LAYOUT_FEW_EMPTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_of_the_same_rows),
		cmocka_unit_test(test_places_of_any_rows),
		cmocka_unit_test(test_long_texts_stay_for_a_period),
		cmocka_unit_test(test_empty_columns),
		cmocka_unit_test(test_rows_on_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
