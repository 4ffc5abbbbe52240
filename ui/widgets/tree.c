// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws a query_tree, which comes depth first, and folds it: a closed node hides what follows it at
 * a greater depth. The open nodes are no list but a rule and its exceptions (open_depth,
 * toggled), so nodes that appear later follow the rule, and "open all" costs nothing.
 */
#include "kontend/mem.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widget.h"
#include <errno.h>
#include <stdio.h>

static bool is_open(const struct tree_widget *w, const struct query_node *n, double limit)
{
	return (n->depth < w->open_depth && n->pct >= limit) != widget_ids_has(&w->toggled, n->id);
}

/* Fills w->rows and @node_of (indices of their nodes) with what is not hidden. */
static size_t *visible(struct tree_widget *w, const struct query_tree *t, double limit)
{
	size_t *node_of = mem_calloc(t->n ? t->n : 1, sizeof(*node_of));
	int closed_at = INT32_MAX;

	w->n_rows = 0;
	for (size_t i = 0; node_of && i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];

		if (n->depth > closed_at)
			continue;
		if (mem_grow(&w->rows, &w->cap_rows, w->n_rows, sizeof(*w->rows)) < 0)
			break;
		node_of[w->n_rows] = i;
		struct tree_row *row = &w->rows[w->n_rows++];

		row->id = n->id;
		row->depth = n->depth;
		row->has_children = n->has_children;
		row->open = n->has_children && is_open(w, n, limit);
		closed_at = row->open ? INT32_MAX : n->depth;
	}
	return node_of;
}

static void follow(struct tree_widget *w)
{
	bool had_rows = w->has_rows;

	w->has_rows = w->n_rows > 0;
	if (!w->has_rows) {
		w->index = w->top = 0;
		return;
	}
	if (w->index >= w->n_rows)
		w->index = w->n_rows - 1;
	for (size_t i = 0; had_rows && i < w->n_rows; i++) {
		if (w->rows[i].id == w->selected) {
			w->index = i;
			break;
		}
	}
	w->selected = w->rows[w->index].id;
}

static void jump(struct tree_widget *w, const struct query_tree *t, const size_t *node_of,
		 const char *search)
{
	size_t step = w->search > 0 ? 1 : w->n_rows - 1;

	w->search = 0;
	if (!search || !*search || !w->n_rows)
		return;
	for (size_t i = 1, at = w->index; i <= w->n_rows; i++) {
		at = (at + step) % w->n_rows;
		if (text_contains(t->nodes[node_of[at]].name, search)) {
			w->index = at;
			w->selected = w->rows[at].id;
			return;
		}
	}
}

static int draw_numbers(struct screen *s, struct rect r, int y, const struct query_node *n,
			bool samples, bool of_parent)
{
	double pct = of_parent ? n->pct_parent : n->pct;

	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];
	int x = 1;

	x = screen_printf(s, r, x, y, widget_heat(n->pct / 100), "%5s", units_pct(a, pct));
	if (r.w >= 40)
		x = screen_printf(s, r, x, y, ROLE_NORMAL, "  %6s", units_count(a, n->n));
	if (r.w >= 50)
		x = screen_printf(s, r, x, y, ROLE_NORMAL, "  %6s",
				  n->total_ns ? units_ns(b, n->total_ns) : "·");
	if (r.w >= 60 && !samples)
		x = screen_printf(s, r, x, y, ROLE_NORMAL, "  %6s",
				  units_ns(c, n->n ? n->total_ns / n->n : 0));
	return x + 2;
}

static void report_row(struct screen *s, const struct query_node *n, bool samples, bool of_parent)
{
	char buf[UNITS_BUF];

	screen_row_put(s, units_pct(buf, of_parent ? n->pct_parent : n->pct));
	screen_row_put(s, units_count(buf, n->n));
	screen_row_put(s, units_ns(buf, n->total_ns));
	if (!samples)
		screen_row_put(s, units_ns(buf, n->n ? n->total_ns / n->n : 0));
	screen_row_put(s, n->name);
}

static const char *title_of(const struct tree_style *style, bool of_parent)
{
	if (of_parent)
		return "  UP%";
	return !style->by_count ? "TIME%" : style->samples ? "SAMP%" : " CNT%";
}

static void draw_title(struct screen *s, struct rect r, const struct tree_style *style,
		       bool of_parent)
{
	struct rect line = {r.x, r.y, r.w, 1};
	int x = 1;

	screen_fill(s, line, ' ', ROLE_TITLE);
	x = screen_put(s, line, x, 0, ROLE_TITLE, title_of(style, of_parent));
	if (r.w >= 40)
		x = screen_printf(s, line, x, 0, ROLE_TITLE, "  %6s",
				  style->samples ? "COUNT" : "WAITS");
	if (r.w >= 50)
		x = screen_printf(s, line, x, 0, ROLE_TITLE, "  %6s",
				  style->samples ? "WAIT" : "TOTAL");
	if (r.w >= 60 && !style->samples)
		x = screen_printf(s, line, x, 0, ROLE_TITLE, "  %6s", "AVG");
	screen_put(s, line, x + 2, 0, ROLE_TITLE, "CALL PATH");
}

static void draw_row(const struct tree_widget *w, struct screen *s, size_t i, int y,
		     const struct query_node *n, const struct tree_style *style)
{
	const struct tree_row *row = &w->rows[i];
	bool hit = style->search && style->search[0] && text_contains(n->name, style->search);
	int x = draw_numbers(s, w->rect, y, n, style->samples, w->of_parent);

	/* Deep chains lean on the right edge instead of leaving it. */
	int indent = row->depth * 2;
	int most = (w->rect.w - x) / 2;

	x += indent < most ? indent : most;
	screen_put(s, w->rect, x, y, ROLE_DIM, !row->has_children ? "·" : row->open ? "▾" : "▸");
	widget_text(s, w->rect, x + 2, y, w->rect.w - x - 2, hit ? ROLE_MATCH : ROLE_NORMAL,
		    n->name);
	if (i == w->index && !style->unfocused) {
		screen_put(s, w->rect, 0, y, ROLE_SELECTED, "›");
		screen_mark(s, w->rect, y, ROLE_SELECTED);
		if (screen_row_begin(s))
			report_row(s, n, style->samples, w->of_parent);
	}
}

void tree_widget_draw(struct tree_widget *w, struct screen *s, struct rect r,
		      const struct query_tree *t, const struct tree_style *style)
{
	size_t page = r.h > 1 ? (size_t)(r.h - 1) : 0;
	size_t *node_of = visible(w, t, style->limit);

	w->rect = r;
	follow(w);
	if (w->search && node_of)
		jump(w, t, node_of, style->search);
	if (r.h > 0 && r.w > 0) {
		draw_title(s, r, style, w->of_parent);
		if (!w->n_rows && style->empty)
			widget_text(s, r, 1, 1, r.w - 1, ROLE_DIM, style->empty);
	}
	w->top = widget_scroll(w->top, w->index, w->n_rows, page);
	for (size_t i = 0; node_of && i < page && w->top + i < w->n_rows; i++) {
		size_t row = w->top + i;

		draw_row(w, s, row, (int)i + 1, &t->nodes[node_of[row]], style);
	}
	mem_free(node_of);
}

/* Opens or closes the selected node; without memory it stays as it is. */
static int set_open(struct tree_widget *w, bool open)
{
	struct tree_row *row = w->has_rows && w->index < w->n_rows ? &w->rows[w->index] : NULL;

	if (!row || !row->has_children || row->open == open)
		return 0;
	if (widget_ids_has(&w->toggled, row->id))
		widget_ids_remove(&w->toggled, row->id);
	else if (widget_ids_add(&w->toggled, row->id) < 0)
		return -ENOMEM;
	row->open = open;
	return 0;
}

/* Closes the node; on a closed one or a leaf goes to its parent, so that `-` walks up. */
static int collapse(struct tree_widget *w)
{
	const struct tree_row *row;

	if (!w->has_rows || w->index >= w->n_rows)
		return 0;
	row = &w->rows[w->index];
	if (row->open)
		return set_open(w, false);
	for (size_t i = w->index; i-- > 0;) {
		if (w->rows[i].depth < row->depth) {
			w->index = i;
			w->selected = w->rows[i].id;
			return 0;
		}
	}
	return 0;
}

static int toggle(struct tree_widget *w)
{
	return w->has_rows && w->index < w->n_rows ? set_open(w, !w->rows[w->index].open) : 0;
}

static int enter(struct tree_widget *w)
{
	if (!w->has_rows || w->index >= w->n_rows)
		return 0;
	return w->rows[w->index].has_children ? toggle(w) : WIDGET_ENTER;
}

static int all(struct tree_widget *w, uint16_t open_depth)
{
	w->open_depth = open_depth;
	w->toggled.n = 0;
	return 0;
}

static int click(struct tree_widget *w, enum command c, const struct command_arg *arg)
{
	size_t row = widget_row_at(w->rect, arg, w->top, w->n_rows);

	if (!widget_inside(w->rect, arg))
		return WIDGET_UNHANDLED;
	if (row == SIZE_MAX)
		return 0;
	w->index = row;
	w->selected = w->rows[row].id;
	return c == CMD_DCLICK ? enter(w) : 0;
}

int tree_widget_command(struct tree_widget *w, enum command c, const struct command_arg *arg)
{
	size_t page = w->rect.h > 1 ? (size_t)(w->rect.h - 1) : 1;

	if (widget_move(c, w->n_rows, page, &w->index)) {
		if (w->n_rows)
			w->selected = w->rows[w->index].id;
		return 0;
	}
	if (widget_search(c, &w->search))
		return 0;
	switch (c) {
	case CMD_ENTER:
		return enter(w);
	case CMD_EXPAND:
		return set_open(w, true);
	case CMD_COLLAPSE:
		return collapse(w);
	case CMD_TOGGLE:
		return toggle(w);
	case CMD_PERCENT:
		w->of_parent = !w->of_parent;
		return 0;
	case CMD_EXPAND_ALL:
		return all(w, UINT16_MAX);
	case CMD_COLLAPSE_ALL:
		return all(w, 0);
	case CMD_CLICK:
	case CMD_DCLICK:
		return click(w, c, arg);
	default:
		return WIDGET_UNHANDLED;
	}
}

void tree_widget_deinit(struct tree_widget *w)
{
	mem_free(w->rows);
	widget_ids_deinit(&w->toggled);
	*w = (struct tree_widget){0};
}
