// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/query-hist.h"
#include "kontend/query-tree.h"
#include "widgets/widget.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* a ( b ( c ) d ) e */
static struct query_node nodes[] = {
	{.name = "a", .id = 1, .n = 4, .total_ns = 80, .pct = 80, .depth = 0, .has_children = true},
	{.name = "b", .id = 2, .n = 3, .total_ns = 60, .pct = 60, .depth = 1, .has_children = true},
	{.name = "c", .id = 3, .n = 3, .total_ns = 60, .pct = 60, .depth = 2},
	{.name = "d", .id = 4, .n = 1, .total_ns = 20, .pct = 20, .depth = 1},
	{.name = "e", .id = 5, .n = 1, .total_ns = 20, .pct = 20, .depth = 0},
};

struct grove {
	struct screen s;
	struct tree_widget w;
	struct tree_style style;
};

static void tree_show(struct grove *g, size_t rows_expected)
{
	const struct query_tree t = {.nodes = nodes, .n = 5, .n_waits = 5, .total_ns = 100};

	screen_clear(&g->s);
	tree_widget_draw(&g->w, &g->s, (struct rect){0, 0, g->s.w, g->s.h}, &t, &g->style);
	assert_int_equal(g->w.n_rows, rows_expected);
}

static int tree_command(struct grove *g, enum command c)
{
	const struct command_arg none = {0};

	return tree_widget_command(&g->w, c, &none);
}

static void test_tree_folds(void **state)
{
	struct grove g = {0};
	char *text;

	(void)state;
	assert_int_equal(screen_resize(&g.s, 44, 8), 0);
	g.w.open_depth = 1;
	tree_show(&g, 4);
	assert_int_equal(screen_text(&g.s, &text), 0);
	assert_string_equal(text, " TIME%   WAITS  CALL PATH\n"
				  "› 80.0       4  ▾ a\n"
				  "  60.0       3    ▸ b\n"
				  "  20.0       1    · d\n"
				  "  20.0       1  · e\n\n\n\n");
	mem_free(text);
	tree_command(&g, CMD_DOWN);
	assert_int_equal(g.w.selected, 2);
	tree_command(&g, CMD_EXPAND);
	tree_show(&g, 5);
	assert_int_equal(g.w.selected, 2);
	tree_command(&g, CMD_COLLAPSE);
	tree_show(&g, 4);
	tree_command(&g, CMD_COLLAPSE); /* closed already: up to its parent */
	assert_int_equal(g.w.selected, 1);
	tree_command(&g, CMD_COLLAPSE);
	tree_show(&g, 2);
	tree_command(&g, CMD_EXPAND_ALL);
	tree_show(&g, 5);
	tree_command(&g, CMD_COLLAPSE_ALL);
	tree_show(&g, 2);
	assert_int_equal(tree_command(&g, CMD_ENTER), 0);
	tree_show(&g, 4);
	tree_command(&g, CMD_BOTTOM);
	assert_int_equal(tree_command(&g, CMD_ENTER), WIDGET_ENTER);
	assert_int_equal(g.w.selected, 5);
	assert_int_equal(tree_command(&g, CMD_SORT_NEXT), WIDGET_UNHANDLED);
	tree_widget_deinit(&g.w);
	screen_deinit(&g.s);
}

/* A node that is hidden leaves the selection at the row in its place. */
static void test_tree_selection_of_a_hidden_node(void **state)
{
	struct grove g = {.w = {.open_depth = UINT16_MAX}};

	(void)state;
	assert_int_equal(screen_resize(&g.s, 44, 8), 0);
	tree_show(&g, 5);
	tree_command(&g, CMD_DOWN);
	tree_command(&g, CMD_DOWN);
	assert_int_equal(g.w.selected, 3);
	tree_command(&g, CMD_COLLAPSE_ALL);
	tree_show(&g, 2);
	assert_int_equal(g.w.selected, 5);
	g.style.search = "a";
	tree_command(&g, CMD_SEARCH_NEXT);
	tree_show(&g, 2);
	assert_int_equal(g.w.selected, 1);
	for (long k = 0; k < 4; k++) {
		mem_fail_after(k);
		tree_widget_deinit(&g.w);
		tree_command(&g, CMD_EXPAND_ALL);
		screen_clear(&g.s);
		tree_widget_draw(&g.w, &g.s, (struct rect){0, 0, 44, 8},
				 &(struct query_tree){.nodes = nodes, .n = 5}, &g.style);
		tree_command(&g, CMD_TOGGLE);
		mem_fail_after(-1);
	}
	tree_widget_deinit(&g.w);
	screen_deinit(&g.s);
}

static void assert_line(const struct screen *s, const char *expected)
{
	char *text;

	assert_int_equal(screen_text(s, &text), 0);
	assert_string_equal(text, expected);
	mem_free(text);
}

static void test_shapes(void **state)
{
	static const uint64_t v[] = {0, 1, 50, 100, 1000};
	struct screen s = {0};
	const struct rect r = {0, 0, 10, 1};

	(void)state;
	assert_int_equal(screen_resize(&s, 10, 1), 0);
	widget_sparkline(&s, r, 0, 0, 8, v, 5, 0);
	assert_line(&s, "    ▁▁▁█\n"); /* zero is blank, little is something */
	screen_clear(&s);
	widget_sparkline(&s, r, 0, 0, 3, v, 5, 100);
	assert_line(&s, "▄██\n");
	screen_clear(&s);
	widget_sparkline(&s, r, 0, 0, 3, v, 1, 0);
	assert_line(&s, "\n");
	widget_bar(&s, r, 1, 0, 4, 0.5, ROLE_GRAPH);
	assert_line(&s, " ██\n");
	screen_clear(&s);
	widget_bar(&s, r, 0, 0, 4, 0.0001, ROLE_GRAPH);
	assert_line(&s, "▏\n");
	screen_clear(&s);
	widget_bar(&s, r, 0, 0, 4, 17, ROLE_GRAPH);
	assert_line(&s, "████\n");
	screen_clear(&s);
	widget_bar(&s, r, 0, 0, 4, 0, ROLE_GRAPH);
	widget_bar(&s, r, 0, 0, 4, -1, ROLE_GRAPH);
	assert_line(&s, "\n");
	assert_int_equal(widget_heat(0.049), ROLE_HEAT_LOW);
	assert_int_equal(widget_heat(0.05), ROLE_HEAT_MID);
	assert_int_equal(widget_heat(0.2), ROLE_HEAT_HIGH);
	screen_deinit(&s);
}

static void test_histogram(void **state)
{
	struct query_bar bars[] = {{1024, 2048, 1, 10}, {2048, 4096, 4, 40}, {4096, 8192, 5, 50}};
	struct query_hist h = {.bars = bars,
			       .n = 3,
			       .n_waits = 10,
			       .p50_ns = 3000,
			       .p90_ns = 5000,
			       .p99_ns = 8000,
			       .max_ns = 8100};
	struct screen s = {0};

	(void)state;
	assert_int_equal(screen_resize(&s, 60, 3), 0);
	widget_hist(&s, (struct rect){0, 0, 60, 3}, &h);
	assert_line(&s, " 1.02us       1  ██████▎\n"
			" 2.05us       4  ████████████████████████▊ p50 3.00us\n"
			" 4.10us       5  ███████████████████████████████  p90 5.00us\n");
	screen_clear(&s);
	widget_hist(&s, (struct rect){0, 0, 60, 1}, &h); /* joined in one line */
	assert_int_equal(s.cells[14].ch, '0');
	assert_int_equal(s.cells[13].ch, '1');
	screen_deinit(&s);
}

/* Small ones are closed at first, whatever is open, and can be opened by hand. */
static void test_small_nodes_stay_closed(void **state)
{
	struct grove g = {.style.limit = 70};

	(void)state;
	assert_int_equal(screen_resize(&g.s, 44, 8), 0);
	g.w.open_depth = UINT16_MAX;
	tree_show(&g, 4);
	tree_command(&g, CMD_DOWN);
	tree_command(&g, CMD_EXPAND);
	tree_show(&g, 5);
	tree_widget_deinit(&g.w);
	screen_deinit(&g.s);
}

static void test_percent_of_parent(void **state)
{
	struct grove g = {0};
	char *text;

	(void)state;
	assert_int_equal(screen_resize(&g.s, 44, 8), 0);
	nodes[1].pct_parent = 75;
	tree_command(&g, CMD_EXPAND_ALL);
	tree_command(&g, CMD_PERCENT);
	tree_show(&g, 5);
	assert_int_equal(screen_text(&g.s, &text), 0);
	assert_non_null(strstr(text, "   UP%   WAITS"));
	assert_non_null(strstr(text, "  75.0       3    ▾ b"));
	mem_free(text);
	tree_widget_deinit(&g.w);
	screen_deinit(&g.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree_folds),
		cmocka_unit_test(test_small_nodes_stay_closed),
		cmocka_unit_test(test_percent_of_parent),
		cmocka_unit_test(test_tree_selection_of_a_hidden_node),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
