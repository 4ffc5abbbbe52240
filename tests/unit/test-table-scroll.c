// SPDX-License-Identifier: GPL-2.0-only
/* Sideways scrolling: every column can be seen, in order, and what stays does not move. */
#include "kontend/query.h"
#include "kontend/tables.h"
#include "widgets/layout.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = TABLE_COLUMNS };

struct seen {
	struct layout_column cols[MOST];
	size_t n;
	struct table_scroll scroll;
};

/* Of a wide screen: texts of many lengths, columns that have nothing to show. */
static struct layout_need need[MOST];
static int screen_w;

static struct seen draw_at(const struct table_kind *kind, size_t shift, int width)
{
	struct seen v = {.scroll.shift = shift};

	const struct layout_room room = {width, screen_w, need};

	v.n = table_scroll_columns(&v.scroll, kind->columns, kind->n_columns, SIZE_MAX, &room,
				   v.cols, MOST);
	return v;
}

static void check_places(const struct seen *v, int width)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct layout_column *c = &v->cols[i];

		assert_true(c->w > 0);
		assert_true(c->x >= 0 && c->x + c->w <= width);
		assert_true(!i || c->x > v->cols[i - 1].x + v->cols[i - 1].w);
	}
}

static void walk(const struct table_kind *kind, int width)
{
	const struct seen first = draw_at(kind, 0, width);
	bool found[TABLE_COLUMNS] = {false};
	size_t shift = 0;

	assert_true(kind->n_columns <= TABLE_COLUMNS);
	for (;; shift++) {
		struct seen v = draw_at(kind, shift, width);

		assert_true(v.n > 0);
		assert_int_equal(v.scroll.shift, shift);
		assert_int_equal(v.scroll.left, shift > 0);
		assert_int_equal(v.cols[0].col, first.cols[0].col);
		check_places(&v, width);
		for (size_t i = 0; i < v.n; i++)
			found[v.cols[i].col] = true;
		if (!v.scroll.right)
			break;
		assert_true(shift < kind->n_columns);
	}
	for (size_t i = 0; i < kind->n_columns; i++)
		if (found[i] != ((kind->columns[i].flags & COLUMN_SCREEN) != 0))
			fail_msg("%s at %d: column %s is %s", kind->name, width,
				 kind->columns[i].key, found[i] ? "shown" : "not shown");
	/* There is no further. */
	assert_int_equal(draw_at(kind, shift + 7, width).scroll.shift, shift);
}

static void all_columns_can_be_seen(void **state)
{
	(void)state;
	for (const struct table_def *t = table_defs; t->kind; t++)
		for (int width = 20; width < 420; width += 7)
			walk(t->kind, width);
}

static void all_columns_of_a_wide_screen_can_be_seen(void **state)
{
	(void)state;
	screen_w = LAYOUT_SIDE_W;
	for (size_t i = 0; i < MOST; i++)
		need[i] = (struct layout_need){(uint16_t)(i * 37 % 130), i % 3};
	all_columns_can_be_seen(state);
	screen_w = 0;
}

/* Where all have room nothing is scrolled, however far that was before. */
static void wide_is_as_ever(void **state)
{
	struct layout_column plain[MOST];
	const struct seen v = draw_at(&query_cpus_kind, 3, 300);
	size_t n = layout_columns(query_cpus_kind.columns, query_cpus_kind.n_columns,
				  &(struct layout_room){300, screen_w, need}, plain, MOST);

	(void)state;
	assert_int_equal(v.scroll.shift, 0);
	assert_false(v.scroll.right);
	assert_int_equal(v.n, n);
	assert_memory_equal(v.cols, plain, n * sizeof(*plain));
}

/* The mark at the right has a cell of its own, in the last title or beside it. */
static void titles_leave_a_cell(void **state)
{
	const struct table_kind *kind = &query_locks_kind;

	(void)state;
	for (int width = 60; width < 200; width++) {
		const struct seen v = draw_at(kind, 0, width);
		const struct layout_column *last = &v.cols[v.n - 1];

		if (v.scroll.right && last->x + last->w == width)
			assert_true((int)strlen(kind->columns[last->col].title) < last->w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_columns_can_be_seen),
		cmocka_unit_test(all_columns_of_a_wide_screen_can_be_seen),
		cmocka_unit_test(wide_is_as_ever),
		cmocka_unit_test(titles_leave_a_cell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
