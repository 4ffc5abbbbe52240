// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/screen.h"
#include "widgets/widget.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 40, COLS = 3 };

static const struct column columns[COLS] = {
	{"name", "LOCK", "", COLUMN_TEXT, 12, 0, COLUMN_SCREEN | COLUMN_WIDE},
	{"n", "NOW", "", COLUMN_COUNT, 6, 0, COLUMN_SCREEN},
	{"wait", "WAIT", "", COLUMN_NS, 6, 0, COLUMN_SCREEN},
};

/* A table whose row k has the id that the test chose. */
struct fake {
	struct table t;
	struct value values[ROWS * COLS];
	uint64_t ids[ROWS];
	char names[ROWS][16];
};

static void fill(struct fake *f, const uint64_t *ids, size_t n)
{
	*f = (struct fake){0};
	f->t = (struct table){.name = "locks",
			      .columns = columns,
			      .n_columns = COLS,
			      .values = f->values,
			      .ids = f->ids,
			      .n_rows = n,
			      .n_total = n,
			      .sort_col = 2};
	for (size_t i = 0; i < n; i++) {
		f->ids[i] = ids[i];
		snprintf(f->names[i], sizeof(f->names[i]), "lock%llu", (unsigned long long)ids[i]);
		f->values[i * COLS] = (struct value){.s = f->names[i], .known = true};
		f->values[i * COLS + 1] = (struct value){.u = ids[i], .known = true};
		f->values[i * COLS + 2] = (struct value){.u = ids[i] * 1000, .known = true};
	}
}

struct stage {
	struct screen s;
	struct table_widget w;
	struct table_style style;
	struct rect r;
};

static void begin(struct stage *st)
{
	*st = (struct stage){.r = {2, 1, 36, 6}};
	assert_int_equal(screen_resize(&st->s, 40, 10), 0);
}

static void show(struct stage *st, const struct fake *f)
{
	screen_clear(&st->s);
	table_widget_draw(&st->w, &st->s, st->r, &f->t, &st->style);
}

static void end(struct stage *st)
{
	table_widget_deinit(&st->w);
	screen_deinit(&st->s);
}

static int command(struct stage *st, enum command c)
{
	const struct command_arg none = {0};

	return table_widget_command(&st->w, c, &none);
}

static int click(struct stage *st, enum command c, int x, int y)
{
	const struct command_arg at = {.x = x, .y = y};

	return table_widget_command(&st->w, c, &at);
}

static enum role role_at(const struct screen *s, int x, int y)
{
	return s->cells[y * s->w + x].role;
}

static void test_drawn_as_stated(void **state)
{
	static const uint64_t ids[] = {100, 10, 1};
	struct stage st;
	struct fake f;
	char *text;

	(void)state;
	begin(&st);
	fill(&f, ids, 3);
	st.style.heat = "wait";
	show(&st, &f);
	assert_int_equal(screen_text(&st.s, &text), 0);
	assert_string_equal(text, "\n"
				  "   LOCK                     NOW  WAIT▼\n"
				  "  ›lock100                  100  100us\n"
				  "   lock10                    10 10.0us\n"
				  "   lock1                      1 1.00us\n"
				  "\n\n\n\n\n");
	mem_free(text);
	assert_int_equal(role_at(&st.s, 2, 1), ROLE_TITLE);
	assert_int_equal(role_at(&st.s, 37, 2), ROLE_SELECTED);
	assert_int_equal(role_at(&st.s, 36, 3), ROLE_HEAT_MID);
	assert_int_equal(role_at(&st.s, 36, 4), ROLE_HEAT_LOW);
	assert_int_equal(role_at(&st.s, 1, 2), ROLE_NORMAL); /* outside */
	st.style.unfocused = true;
	show(&st, &f);
	assert_int_equal(role_at(&st.s, 36, 2), ROLE_HEAT_HIGH);
	end(&st);
}

static void test_selection_follows_the_row(void **state)
{
	static const uint64_t a[] = {5, 6, 7, 8}, b[] = {8, 7, 6, 5}, c[] = {8, 6, 5};
	struct stage st;
	struct fake f;

	(void)state;
	begin(&st);
	fill(&f, a, 4);
	show(&st, &f);
	assert_int_equal(command(&st, CMD_DOWN), 0);
	assert_int_equal(command(&st, CMD_DOWN), 0);
	assert_int_equal(st.w.selected, 7);
	fill(&f, b, 4);
	show(&st, &f);
	assert_int_equal(st.w.selected, 7);
	assert_int_equal(role_at(&st.s, 3, 3), ROLE_SELECTED);
	fill(&f, c, 3); /* the row left: the one in its place */
	show(&st, &f);
	assert_int_equal(st.w.selected, 6);
	fill(&f, c, 0);
	show(&st, &f);
	assert_false(st.w.has_rows);
	assert_int_equal(command(&st, CMD_DOWN), 0);
	assert_int_equal(command(&st, CMD_ENTER), 0);
	fill(&f, c, 3);
	show(&st, &f);
	assert_true(st.w.has_rows);
	assert_int_equal(st.w.selected, 8);
	assert_int_equal(command(&st, CMD_ENTER), WIDGET_ENTER);
	end(&st);
}

static void test_moves_and_scrolls(void **state)
{
	uint64_t ids[ROWS];
	struct stage st;
	struct fake f;

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		ids[i] = 1000 - i;
	begin(&st);
	fill(&f, ids, ROWS);
	show(&st, &f);
	command(&st, CMD_UP);
	assert_int_equal(st.w.selected, 1000);
	command(&st, CMD_PGDN); /* 5 rows are visible: a page keeps one */
	assert_int_equal(st.w.selected, 996);
	show(&st, &f);
	assert_int_equal(st.w.top, 0);
	command(&st, CMD_DOWN);
	show(&st, &f);
	assert_int_equal(st.w.top, 1);
	command(&st, CMD_BOTTOM);
	show(&st, &f);
	assert_int_equal(st.w.selected, 961);
	assert_int_equal(st.w.top, 35);
	command(&st, CMD_PGUP);
	show(&st, &f);
	assert_int_equal(st.w.top, 35);
	command(&st, CMD_TOP);
	show(&st, &f);
	assert_int_equal(st.w.top, 0);
	/* A taller window shows no blanks below the last row while there are rows above. */
	command(&st, CMD_BOTTOM);
	show(&st, &f);
	st.r.h = 9;
	show(&st, &f);
	assert_int_equal(st.w.top, 32);
	end(&st);
}

static void test_sort_commands(void **state)
{
	static const uint64_t ids[] = {3, 2, 1};
	const struct command_arg avg = {.text = "wAiT"}, bad = {.text = "colour"};
	struct stage st;
	struct fake f;

	(void)state;
	begin(&st);
	fill(&f, ids, 3);
	show(&st, &f);
	assert_string_equal(st.w.sort, "");
	command(&st, CMD_SORT_PREV);
	assert_string_equal(st.w.sort, "n");
	command(&st, CMD_SORT_PREV);
	assert_string_equal(st.w.sort, "name");
	command(&st, CMD_SORT_PREV);
	assert_string_equal(st.w.sort, "wait");
	command(&st, CMD_SORT_NEXT);
	assert_string_equal(st.w.sort, "name");
	command(&st, CMD_SORT_REVERSE);
	assert_true(st.w.reverse);
	assert_int_equal(table_widget_command(&st.w, CMD_SORT, &avg), 0);
	assert_string_equal(st.w.sort, "wait");
	assert_false(st.w.reverse);
	assert_int_equal(table_widget_command(&st.w, CMD_SORT, &bad), WIDGET_UNHANDLED);
	assert_string_equal(st.w.sort, "wait");
	end(&st);
}

static void test_clicks(void **state)
{
	static const uint64_t ids[] = {3, 2, 1};
	struct stage st;
	struct fake f;

	(void)state;
	begin(&st);
	fill(&f, ids, 3);
	show(&st, &f);
	assert_int_equal(click(&st, CMD_CLICK, 10, 3), 0);
	assert_int_equal(st.w.selected, 2);
	assert_int_equal(click(&st, CMD_DCLICK, 10, 4), WIDGET_ENTER);
	assert_int_equal(st.w.selected, 1);
	assert_int_equal(click(&st, CMD_CLICK, 10, 6), 0); /* below the rows */
	assert_int_equal(st.w.selected, 1);
	assert_int_equal(click(&st, CMD_CLICK, 10, 7), WIDGET_UNHANDLED);
	assert_int_equal(click(&st, CMD_CLICK, 1, 3), WIDGET_UNHANDLED);
	assert_int_equal(click(&st, CMD_CLICK, 36, 1), 0); /* WAIT, the order already */
	assert_string_equal(st.w.sort, "");
	assert_true(st.w.reverse);
	assert_int_equal(click(&st, CMD_CLICK, 29, 1), 0);
	assert_string_equal(st.w.sort, "n");
	assert_false(st.w.reverse);
	end(&st);
}

static void test_search_jumps_and_marks(void **state)
{
	static const uint64_t ids[] = {11, 20, 21, 30};
	struct stage st;
	struct fake f;

	(void)state;
	begin(&st);
	fill(&f, ids, 4);
	st.style.search = "LOCK2";
	show(&st, &f);
	assert_int_equal(st.w.selected, 11);
	assert_int_equal(role_at(&st.s, 3, 3), ROLE_MATCH);
	assert_int_equal(role_at(&st.s, 3, 5), ROLE_NORMAL);
	command(&st, CMD_SEARCH_NEXT);
	show(&st, &f);
	assert_int_equal(st.w.selected, 20);
	command(&st, CMD_SEARCH_NEXT);
	show(&st, &f);
	command(&st, CMD_SEARCH_NEXT); /* over the end */
	show(&st, &f);
	assert_int_equal(st.w.selected, 20);
	command(&st, CMD_SEARCH_PREV);
	show(&st, &f);
	assert_int_equal(st.w.selected, 21);
	st.style.search = "nothing has this";
	command(&st, CMD_SEARCH_NEXT);
	show(&st, &f);
	assert_int_equal(st.w.selected, 21);
	end(&st);
}

static bool glows(struct stage *st, int row)
{
	return st->s.cells[(st->r.y + 1 + row) * st->s.w + st->r.x].ch == '+';
}

static void test_new_rows_glow_for_one_tick(void **state)
{
	static const uint64_t a[] = {1, 2}, b[] = {1, 2, 3}, c[] = {1, 2, 3, 4};
	struct stage st;
	struct fake f;

	(void)state;
	begin(&st);
	fill(&f, a, 2);
	st.style.tick = 1;
	show(&st, &f);
	assert_false(glows(&st, 1)); /* the first frame is not news */
	fill(&f, b, 3);
	st.style.tick = 2;
	show(&st, &f);
	assert_true(glows(&st, 2));
	show(&st, &f);
	assert_true(glows(&st, 2)); /* still the same tick */
	fill(&f, c, 4);
	show(&st, &f);
	assert_true(glows(&st, 2));
	assert_false(glows(&st, 3)); /* brought by a filter, not by time */
	st.style.tick = 3;
	show(&st, &f);
	assert_false(glows(&st, 2));
	end(&st);
}

static void test_without_memory_it_still_draws(void **state)
{
	static const uint64_t ids[] = {1, 2, 3};
	struct fake f;

	(void)state;
	for (long k = 0; k < 8; k++) {
		struct stage st;

		begin(&st);
		fill(&f, ids, 3);
		mem_fail_after(k);
		show(&st, &f);
		st.style.tick++;
		show(&st, &f);
		mem_fail_after(-1);
		assert_int_equal(st.s.cells[2 * 40 + 3].ch, 'l');
		command(&st, CMD_DOWN);
		show(&st, &f);
		command(&st, CMD_DOWN);
		end(&st);
	}
}

/* The row @y of the screen as text, of plain letters, without the blanks at its end. */
static const char *row_of(const struct screen *s, int y, char *ret)
{
	int n = 0;

	for (int x = 0; x < s->w; x++) {
		uint32_t ch = s->cells[y * s->w + x].ch;
		ret[x] = ch > 0x7e ? '~' : ch < ' ' ? ' ' : (char)ch;
		n = ret[x] == ' ' ? n : x + 1;
	}
	ret[n] = '\0';
	return ret;
}

/* A bracket that has no room is left out whole; without one the text is cut as ever. */
static void test_half_a_bracket_is_not_drawn(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"writes >=19/s (many)", "writes >=19/s (many)"},
		{"writes >=19/s (several tasks)", "writes >=19/s"},
		{"writes >=19/s (several), asleep", "writes >=19/s"},
		{"by (sure) one (several tasks)", "by (sure) one"},
		{"writes in locks_start for long", "writes in locks_sta~"},
	};
	struct screen s = {0};
	char row[32];

	(void)state;
	assert_int_equal(screen_resize(&s, 20, 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct line l = {.s = &s, .r = {0, 0, 20, 1}};
		screen_clear(&s);
		line_put_brackets(&l, ROLE_NORMAL, cases[i].text);
		assert_string_equal(row_of(&s, 0, row), cases[i].shown);
	}
	screen_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn_as_stated),
		cmocka_unit_test(test_selection_follows_the_row),
		cmocka_unit_test(test_moves_and_scrolls),
		cmocka_unit_test(test_sort_commands),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_search_jumps_and_marks),
		cmocka_unit_test(test_new_rows_glow_for_one_tick),
		cmocka_unit_test(test_without_memory_it_still_draws),
		cmocka_unit_test(test_half_a_bracket_is_not_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
