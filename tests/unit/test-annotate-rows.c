// SPDX-License-Identifier: GPL-2.0-only
/* Rows of a function's listing: positions of source lines, and the order of hot lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/arena.h"
#include "kontend/mem.h"
#include "views/annotate.h"

#include <errno.h>
#include <string.h>

static const struct srclines_place first = {1, {{"down_read", "kernel/locking/rwsem.c", 1273}}};
static const struct srclines_place again = {1, {{"down_read", "kernel/locking/rwsem.c", 1273}}};
static const struct srclines_place inner = {
	2, {{"cmpxchg", "atomic.h", 20}, {"down_read", "kernel/locking/rwsem.c", 1273}}};
static const struct srclines_place unsaid = {1, {{"", "", 0}}};

static struct query_code_line lines[] = {
	{.offset = 0, .place = &first, .weight = 3, .samples = 1},
	{.offset = 2, .place = &again},
	{.offset = 4,
	 .place = &inner,
	 .weight = 9,
	 .samples = 1,
	 .source_text = "\tx = 1;\t/* y */"},
	{.offset = 8, .place = NULL, .weight = 3, .samples = 2},
	{.offset = 9, .place = &unsaid, .wait_ns = 5},
	{.offset = 10, .place = &first},
};
enum { LINES = sizeof(lines) / sizeof(*lines) };

static const struct query_annotate function = {.lines = lines, .n = LINES};

static void test_a_line_of_the_source_stands_where_it_begins(void **state)
{
	static const struct annotate_row want[] = {{0, true},  {0, false}, {1, false},
						   {2, true},  {2, false}, {3, false},
						   {4, false}, {5, true},  {5, false}};
	struct arena arena = {0};
	struct annotate_rows rows;

	(void)state;
	assert_int_equal(annotate_rows(&function, true, &arena, &rows), 0);
	assert_int_equal(rows.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(rows.items[i].line, want[i].line);
		assert_int_equal(rows.items[i].is_source, want[i].is_source);
	}
	for (uint32_t i = 0; i < LINES; i++)
		assert_true(rows.items[rows.of_line[i]].line == i &&
			    !rows.items[rows.of_line[i]].is_source);
	assert_int_equal(annotate_rows(&function, false, &arena, &rows), 0);
	assert_int_equal(rows.n, LINES);
	assert_int_equal(rows.of_line[5], 5);
	arena_deinit(&arena);
	mem_fail_after(0);
	int r = annotate_rows(&function, true, &arena, &rows);
	mem_fail_after(-1);
	assert_int_equal(r, -ENOMEM);
	arena_deinit(&arena);
}

static void test_what_is_said_of_the_source(void **state)
{
	char buf[ANNOTATE_SOURCE], text[2 * ANNOTATE_SOURCE];
	struct query_code_line l = {.place = &first, .source_text = text};

	(void)state;
	assert_string_equal(annotate_source(&lines[0], buf), "rwsem.c:1273");
	assert_string_equal(annotate_source(&lines[2], buf),
			    "atomic.h:20 in cmpxchg  x = 1;    /* y */");
	assert_string_equal(annotate_source(&lines[3], buf), "");
	/* However long it is. */
	memset(text, '\t', sizeof(text) - 1);
	text[0] = '{';
	text[sizeof(text) - 1] = '\0';
	assert_true(strlen(annotate_source(&l, buf)) < ANNOTATE_SOURCE);
}

static void test_hot_lines_have_an_order(void **state)
{
	const struct query_annotate none = {0};
	struct annotate_rank r = annotate_rank(&function, ANNOTATE_PCT, 0);

	(void)state;
	assert_int_equal(annotate_hottest(&function, ANNOTATE_PCT), 2);
	/* Of equal ones the first in the code is the hotter one. */
	assert_int_equal(r.n, 3);
	assert_int_equal(r.rank, 2);
	assert_int_equal(r.next, 3);
	assert_int_equal(r.prev, 2);
	/* Round the ends. */
	assert_int_equal(annotate_rank(&function, ANNOTATE_PCT, 3).next, 2);
	assert_int_equal(annotate_rank(&function, ANNOTATE_PCT, 2).prev, 3);
	/* From one that is not hot, to the hottest. */
	r = annotate_rank(&function, ANNOTATE_PCT, 1);
	assert_int_equal(r.rank, 0);
	assert_int_equal(r.next, 2);
	assert_int_equal(annotate_hottest(&function, ANNOTATE_SAMPLES), 3);
	assert_int_equal(annotate_hottest(&function, ANNOTATE_WAIT), 4);
	r = annotate_rank(&function, ANNOTATE_WAIT, 4);
	assert_int_equal(r.rank, 1);
	assert_int_equal(r.next, 4);
	assert_int_equal(annotate_hottest(&none, ANNOTATE_PCT), SIZE_MAX);
	assert_int_equal(annotate_line_at(&none, 5), 0);
	assert_int_equal(annotate_line_at(&function, 5), 2);
	assert_int_equal(annotate_line_at(&function, 100), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_of_the_source_stands_where_it_begins),
		cmocka_unit_test(test_what_is_said_of_the_source),
		cmocka_unit_test(test_hot_lines_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
