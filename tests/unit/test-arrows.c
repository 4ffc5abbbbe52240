// SPDX-License-Identifier: GPL-2.0-only
/* Lines of jumps beside a listing: which lane each gets, and what is drawn of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "views/arrows.h"

#include <errno.h>
#include <string.h>

enum { ROWS = 64 };

static int lane_of(const struct arrows *a, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->items[i].from == from && a->items[i].to == to)
			return a->items[i].lane;
	return -1;
}

/* Rows @top to @top + @h - 1, with a line break after each. */
static void expect(const struct arrows *a, size_t top, size_t h, size_t chosen, const char *want)
{
	uint8_t cells[ROWS * (ARROW_LANES + 2)] = {0};
	char got[4096] = "";
	unsigned w = arrows_width(a);

	arrows_draw(a, top, h, chosen, cells);
	for (size_t y = 0; y < h; y++) {
		for (unsigned x = 0; x < w; x++)
			strcat(got, arrows_glyph(cells[y * w + x]));
		strcat(got, "\n");
	}
	assert_string_equal(got, want);
}

static struct arrows place(struct arena *arena, struct arrow *items, size_t n, size_t reach,
			   unsigned lanes)
{
	struct arrows a = {.items = items, .n = n};

	assert_int_equal(arrows_place(&a, arena, ROWS, reach, lanes), 0);
	return a;
}

static void test_the_inner_one_is_next_to_the_text(void **state)
{
	struct arrow items[] = {{0, 5, 0}, {4, 1, 0}, {2, 3, 0}};
	struct arena arena = {0};

	(void)state;
	struct arrows a = place(&arena, items, 3, 20, 4);
	assert_int_equal(lane_of(&a, 2, 3), 0);
	assert_int_equal(lane_of(&a, 4, 1), 1);
	assert_int_equal(lane_of(&a, 0, 5), 2);
	assert_false(a.left_out);
	expect(&a, 0, 6, SIZE_MAX, "┌───\n│┌─→\n││┌─\n││└→\n│└──\n└──→\n");
	/* The part that is seen, with ends outside. */
	expect(&a, 2, 2, SIZE_MAX, "││┌─\n││└→\n");
	arena_deinit(&arena);
}

static void test_jumps_to_one_place_share_a_lane(void **state)
{
	struct arrow items[] = {{0, 4, 0}, {2, 4, 0}, {5, 4, 0}};
	struct arena arena = {0};

	(void)state;
	struct arrows a = place(&arena, items, 3, 20, 4);
	assert_int_equal(a.lanes, 1);
	expect(&a, 0, 6, SIZE_MAX, "┌─\n│ \n├─\n│ \n├→\n└─\n");
	arena_deinit(&arena);
}

static void test_lines_that_must_cross_run_below_each_other(void **state)
{
	struct arrow items[] = {{0, 2, 0}, {1, 4, 0}};
	struct arena arena = {0};

	(void)state;
	struct arrows a = place(&arena, items, 2, 20, 4);
	assert_int_equal(lane_of(&a, 0, 2), 0);
	expect(&a, 0, 5, SIZE_MAX, " ┌─\n┌│─\n│└→\n│  \n└─→\n");
	arena_deinit(&arena);
}

static void test_a_jump_to_itself_and_one_row_for_both(void **state)
{
	struct arrow items[] = {{1, 1, 0}, {3, 2, 0}, {2, 5, 0}};
	struct arena arena = {0};

	(void)state;
	struct arrows a = place(&arena, items, 3, 20, 4);
	expect(&a, 1, 5, SIZE_MAX, " ─→\n┌┬→\n│└─\n│  \n└─→\n");
	arena_deinit(&arena);
}

static void test_what_has_no_room_is_drawn_when_it_is_chosen(void **state)
{
	struct arrow items[] = {{0, 40, 0}, {2, 5, 0}, {3, 6, 0}};
	struct arena arena = {0};

	(void)state;
	struct arrows a = place(&arena, items, 3, 20, 1);
	assert_true(a.left_out);
	assert_int_equal(lane_of(&a, 0, 40), ARROW_NO_LANE);
	assert_int_equal(lane_of(&a, 3, 6), ARROW_NO_LANE);
	assert_int_equal(arrows_width(&a), 3);
	expect(&a, 0, 4, SIZE_MAX, "   \n   \n ┌─\n │ \n");
	expect(&a, 0, 4, 0, "┌──\n│  \n│┌─\n││ \n");
	expect(&a, 39, 2, 0, "│  \n└─→\n");
	expect(&a, 0, 0, 0, "");
	arena_deinit(&arena);
}

static void test_none(void **state)
{
	struct arrows a = {0};
	struct arena arena = {0};

	(void)state;
	assert_int_equal(arrows_place(&a, &arena, 0, 20, 4), 0);
	assert_int_equal(arrows_width(&a), 0);
	arrows_draw(&a, 0, 0, 0, NULL);
	mem_fail_after(0);
	int r = arrows_place(&a, &arena, 1 << 20, 20, 4);
	mem_fail_after(-1);
	assert_int_equal(r, -ENOMEM);
	arena_deinit(&arena);
}

/* Two lines with different targets never share a cell of a lane. */
static void check_lanes(const struct arrows *a)
{
	for (size_t i = 0; i < a->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct arrow *x = &a->items[i], *y = &a->items[k];
			uint32_t xl = x->from < x->to ? x->from : x->to, xh = x->from + x->to - xl;
			uint32_t yl = y->from < y->to ? y->from : y->to, yh = y->from + y->to - yl;

			if (x->lane == y->lane && x->lane != ARROW_NO_LANE && x->to != y->to)
				assert_true(xh < yl || yh < xl);
		}
	}
}

static uint32_t below(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static void test_any_jumps(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint8_t cells[ROWS * (ARROW_LANES + 2)] = {0};
		struct arrow items[40];
		struct arena arena = {0};
		size_t n = below(&seed, 40);
		for (size_t i = 0; i < n; i++)
			items[i] = (struct arrow){below(&seed, ROWS), below(&seed, ROWS), 0};
		struct arrows a = place(&arena, items, n, 1 + below(&seed, ROWS),
					below(&seed, ARROW_LANES + 4));
		assert_true(arrows_width(&a) <= ARROW_LANES + 2);
		check_lanes(&a);
		arrows_draw(&a, below(&seed, ROWS), ROWS, below(&seed, ROWS), cells);
		arena_deinit(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_inner_one_is_next_to_the_text),
		cmocka_unit_test(test_jumps_to_one_place_share_a_lane),
		cmocka_unit_test(test_lines_that_must_cross_run_below_each_other),
		cmocka_unit_test(test_a_jump_to_itself_and_one_row_for_both),
		cmocka_unit_test(test_what_has_no_room_is_drawn_when_it_is_chosen),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_any_jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
