// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/screen.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_text(const struct screen *s, const char *expected)
{
	char *text;

	assert_int_equal(screen_text(s, &text), 0);
	assert_string_equal(text, expected);
	mem_free(text);
}

static struct rect whole(const struct screen *s)
{
	return (struct rect){0, 0, s->w, s->h};
}

static const struct display_cell *at(const struct screen *s, int x, int y)
{
	return &s->cells[y * s->w + x];
}

static void test_text_is_clipped_to_the_rectangle(void **state)
{
	struct screen s = {0};
	const struct rect r = {2, 1, 4, 1};

	(void)state;
	assert_int_equal(screen_resize(&s, 10, 3), 0);
	assert_int_equal(screen_put(&s, r, 1, 0, ROLE_BOLD, "abcdef"), 7);
	assert_text(&s, "\n   ab…\n\n");
	assert_int_equal(at(&s, 3, 1)->role, ROLE_BOLD);
	assert_int_equal(at(&s, 6, 1)->role, ROLE_NORMAL);
	screen_put(&s, r, -2, 0, ROLE_NORMAL, "uvwx");
	assert_text(&s, "\n  wxb…\n\n");
	screen_put(&s, r, 0, 1, ROLE_NORMAL, "below");
	screen_put(&s, r, 0, -1, ROLE_NORMAL, "above");
	assert_text(&s, "\n  wxb…\n\n");
	screen_deinit(&s);
}

/* A part of a figure is another figure; a part of a name with a mark is none. */
static void test_figures_are_whole_or_absent(void **state)
{
	static const struct {
		const char *text, *seen, *seen_of_name;
	} cases[] = {
		{"p99 140ms", "p99 …", "p99 …"},
		{"p99 14ms", "p99 14ms", "p99 14ms"},
		{"p99 14ms x", "p99 14ms", "p99 14ms"},
		{"p9 14ms xy", "p9 14ms", "p9 14ms…"},
		{"mm/12345678", "mm/1234…", "mm/1234…"},
		{"x ~12.34ms", "x …", "x …"},
		{"0xffff8888", "0xffff8…", "0xffff8…"},
		{"+1:23 to +2:34", "+1:23 to", "+1:23 t…"},
		{"waiting n o", "waiting", "waiting…"},
		{"12345678 x", "12345678", "12345678"},
		{"123456789", "…", "…"},
		{"callers x y", "callers", "callers…"},
		{"call by us", "call by", "call by…"},
		{"callback by", "callback", "callbac…"},
	};
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 12, 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rect r = {2, 0, 8, 1};
		char want[80];

		screen_clear(&s);
		screen_put(&s, r, 0, 0, ROLE_NORMAL, cases[i].text);
		snprintf(want, sizeof(want), "  %s\n", cases[i].seen);
		assert_text(&s, want);
		screen_clear(&s);
		screen_put_name(&s, r, 0, 0, ROLE_NORMAL, cases[i].text);
		snprintf(want, sizeof(want), "  %s\n", cases[i].seen_of_name);
		assert_text(&s, want);
	}
	screen_deinit(&s);
}

static void test_rectangles_outside_the_grid(void **state)
{
	static const struct rect odd[] = {
		{-5, -5, 100, 100}, {9, 2, 5, 5}, {50, 50, 3, 3}, {2, 2, -4, -4}, {-9, 0, 3, 1}};
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 10, 3), 0);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		screen_fill(&s, odd[i], 'x', ROLE_BAR);
		for (int y = -3; y < 6; y++) {
			screen_put(&s, odd[i], -1, y, ROLE_NORMAL, "text longer than the grid");
			screen_mark(&s, odd[i], y, ROLE_SELECTED);
			screen_reverse(&s, odd[i], y, y);
		}
	}
	screen_deinit(&s);
}

static void test_wide_characters(void **state)
{
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 6, 1), 0);
	assert_int_equal(screen_put(&s, whole(&s), 0, 0, ROLE_NORMAL, "日本"), 4);
	assert_int_equal(at(&s, 1, 0)->ch, 0);
	assert_text(&s, "日本\n");
	/* Overwriting one half blanks the other one. */
	screen_put(&s, whole(&s), 1, 0, ROLE_NORMAL, "x");
	assert_text(&s, " x本\n");
	screen_put(&s, whole(&s), 2, 0, ROLE_NORMAL, "y");
	assert_text(&s, " xy\n");
	/* One that does not fit whole is a mark at the right edge, a blank at the left one. */
	screen_clear(&s);
	screen_put(&s, whole(&s), 5, 0, ROLE_NORMAL, "日");
	assert_text(&s, "     …\n");
	screen_clear(&s);
	screen_put(&s, whole(&s), -1, 0, ROLE_NORMAL, "日z");
	assert_text(&s, " z\n");
	screen_deinit(&s);
}

static void test_no_cell_ever_is_half_a_character(void **state)
{
	static const char *const texts[] = {"日本語", "a", "x日", "ab語c", " "};
	struct screen s = {0};
	uint32_t seed = 1;

	(void)state;
	assert_int_equal(screen_resize(&s, 9, 1), 0);
	for (int i = 0; i < 20000; i++) {
		seed = seed * 1664525 + 1013904223;
		screen_put(&s, (struct rect){(int)(seed >> 8 & 3), 0, 6, 1},
			   (int)(seed >> 12 & 7) - 2, 0, ROLE_NORMAL, texts[(seed >> 20) % 5]);
		for (int x = 0; x < s.w; x++) {
			bool wide = at(&s, x, 0)->ch > 0x2e80;

			if (at(&s, x, 0)->ch == 0)
				assert_true(x > 0 && at(&s, x - 1, 0)->ch > 0x2e80);
			if (wide)
				assert_true(x + 1 < s.w && at(&s, x + 1, 0)->ch == 0);
		}
	}
	screen_deinit(&s);
}

static void test_control_characters_never_arrive(void **state)
{
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 20, 1), 0);
	screen_put(&s, whole(&s), 0, 0, ROLE_NORMAL, "a\033[31mb\nc\177\302\233");
	assert_text(&s, "a?[31mb?c??\n");
	screen_deinit(&s);
}

static void test_ascii_keeps_every_column(void **state)
{
	struct screen s = {.ascii = true};

	(void)state;
	assert_int_equal(screen_resize(&s, 30, 1), 0);
	screen_put(&s, whole(&s), 0, 0, ROLE_NORMAL, "─│▼▲›…·▁▂▃▄▅▆▇█é語|");
	assert_text(&s, "-|v^>~._.-=+*%#??|\n");
	screen_deinit(&s);
}

static void test_resize_clears_and_survives_no_memory(void **state)
{
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 4, 2), 0);
	screen_put(&s, whole(&s), 0, 0, ROLE_NORMAL, "abcd");
	mem_fail_after(0);
	assert_int_equal(screen_resize(&s, 8, 8), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(s.w, 4);
	assert_text(&s, "abcd\n\n");
	assert_int_equal(screen_resize(&s, 0, -3), 0);
	assert_int_equal(s.w, 1);
	assert_int_equal(s.h, 1);
	assert_text(&s, "\n");
	screen_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_clipped_to_the_rectangle),
		cmocka_unit_test(test_figures_are_whole_or_absent),
		cmocka_unit_test(test_rectangles_outside_the_grid),
		cmocka_unit_test(test_wide_characters),
		cmocka_unit_test(test_no_cell_ever_is_half_a_character),
		cmocka_unit_test(test_control_characters_never_arrive),
		cmocka_unit_test(test_ascii_keeps_every_column),
		cmocka_unit_test(test_resize_clears_and_survives_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
