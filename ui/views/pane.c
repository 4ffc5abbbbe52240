// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages made of several tables and trees. Panes are reached by Tab, and by the arrows: a move that
 * leaves the selection where it was has met the pane's end, and goes on in the next pane that has
 * rows. A click takes the focus to where it is. Panes keep the
 * rectangles of the last frame; commands come between frames, about what was seen there.
 */
#include "pane.h"
#include "kontend/mem.h"
#include "kontend/query-tree.h"
#include "widgets/layout.h"

#include <stdio.h>

static bool pane_shown(const struct pane *p)
{
	return p->rect.h > 0;
}

static bool pane_has_rows(const struct pane *p)
{
	return pane_shown(p) && (p->is_tree ? p->tree.has_rows : p->table.has_rows);
}

static uint64_t pane_selected(const struct pane *p)
{
	return p->is_tree ? p->tree.selected : p->table.selected;
}

static bool pane_covers(const struct pane *p, int x, int y)
{
	return x >= p->rect.x && x < p->rect.x + p->rect.w && y >= p->rect.y &&
	       y < p->rect.y + p->rect.h;
}

int pane_list_command(struct pane *p, enum command c, const struct command_arg *arg)
{
	if (c == CMD_TOP)
		p->moved = false;
	else if (c >= CMD_UP && c <= CMD_ENTER)
		p->moved = true;
	else if (c == CMD_CLICK || c == CMD_DCLICK || c == CMD_SEARCH_NEXT || c == CMD_SEARCH_PREV)
		p->moved = true;
	if (c == CMD_SEARCH_NEXT || c == CMD_SEARCH_PREV)
		p->searching = true;
	if (c == CMD_SORT && !pane_shown(p) && arg->text) {
		/* From the command line: the widget knows no columns yet; the query checks it. */
		snprintf(p->table.sort, sizeof(p->table.sort), "%s", arg->text);
		return 0;
	}
	if (p->is_tree)
		return tree_widget_command(&p->tree, c, arg);
	return table_widget_command(&p->table, c, arg);
}

void pane_window(const struct pane *p, int lines, struct query_spec *spec)
{
	size_t page = lines > 1 ? (size_t)lines : 1;
	size_t top = p->moved ? p->table.top : 0;

	if (p->searching)
		return;
	if (p->moved && p->table.index < top)
		top = p->table.index;
	if (p->moved && p->table.index >= top + page)
		top = p->table.index - page + 1;
	spec->window_first = top > page ? top - page : 0;
	spec->window_n = 3 * page;
}

bool pane_missed(const struct pane *p, const struct query_spec *spec)
{
	size_t page = p->rect.h > 1 ? (size_t)p->rect.h - 1 : 0;
	size_t end = p->table.top + page;

	if (end > p->table.n_ids)
		end = p->table.n_ids;
	return spec->window_n &&
	       (p->table.top < spec->window_first || end > spec->window_first + spec->window_n);
}

void pane_draw_list(struct pane *p, struct screen *s, struct rect r, const struct table *t,
		    const struct table_style *style)
{
	struct table kept = *t;

	/* The widget reads the columns again when a key comes, maybe after the query forgot them.
	 */
	view_fit_columns(&kept, &p->columns, NULL, 0);
	p->rect = r;
	p->is_tree = false;
	if (!p->moved)
		p->table.has_rows = false; /* the widget then selects the first row */
	table_widget_draw(&p->table, s, r, &kept, style);
	p->searching = false;
}

/* The focus goes where it can be seen. */
static void pane_hide(struct pane_set *set, size_t i)
{
	set->panes[i].rect = (struct rect){0};
	for (size_t k = 0; k < set->n && set->focus == i; k++)
		if (k != i && pane_shown(&set->panes[k]))
			set->focus = k;
}

static bool pane_frame(struct pane_set *set, size_t i, struct screen *s, struct rect r,
		       const char *title)
{
	if (r.h < 2) {
		pane_hide(set, i);
		return false;
	}
	widget_rule(s, r, 0, title);
	return true;
}

void pane_draw_table(struct pane_set *set, size_t i, struct screen *s, struct rect r,
		     const char *title, const struct table *t, const struct table_style *style)
{
	struct table_style st = *style;

	if (!pane_frame(set, i, s, r, title))
		return;
	st.unfocused = set->focus != i;
	pane_draw_list(&set->panes[i], s, layout_below(r, 1), t, &st);
}

void pane_draw_tree(struct pane_set *set, size_t i, struct screen *s, struct rect r,
		    const char *title, const struct query_tree *t, const struct tree_style *style)
{
	struct tree_style st = *style;

	if (!pane_frame(set, i, s, r, title))
		return;
	st.unfocused = set->focus != i;
	set->panes[i].is_tree = true;
	set->panes[i].rect = layout_below(r, 1);
	tree_widget_draw(&set->panes[i].tree, s, layout_below(r, 1), t, &st);
}

static bool pane_step(struct pane_set *set, int by, enum command end)
{
	struct command_arg none = {0};

	for (size_t i = set->focus + (size_t)by; i < set->n; i += (size_t)by) {
		if (!pane_has_rows(&set->panes[i]))
			continue;
		set->focus = i;
		pane_list_command(&set->panes[i], end, &none);
		return true;
	}
	return false;
}

static int pane_click(struct pane_set *set, enum command c, const struct command_arg *arg)
{
	for (size_t i = 0; i < set->n; i++) {
		struct pane *p = &set->panes[i];
		if (!pane_shown(p) || !pane_covers(p, arg->x, arg->y))
			continue;
		if (pane_has_rows(p))
			set->focus = i;
		return pane_list_command(p, c, arg);
	}
	return 0;
}

/* To the next pane that has rows; after the last one only where @wraps, else there is no more. */
static int pane_tab(struct pane_set *set, bool forward, bool wraps)
{
	size_t n = set->n, at = set->focus;

	for (size_t tries = 0; tries + 1 < n; tries++) {
		if (!wraps && at == (forward ? n - 1 : 0))
			break;
		at = (at + (forward ? 1 : n - 1)) % n;
		if (!pane_has_rows(&set->panes[at]))
			continue;
		set->focus = at;
		return 0;
	}
	return WIDGET_UNHANDLED;
}

int pane_command(struct pane_set *set, enum command c, const struct command_arg *arg)
{
	if (c == CMD_VIEW_NEXT || c == CMD_VIEW_PREV)
		return pane_tab(set, c == CMD_VIEW_NEXT, arg->n);
	if (c == CMD_CLICK || c == CMD_DCLICK)
		return pane_click(set, c, arg);

	struct pane *p = &set->panes[set->focus];
	bool down = c == CMD_DOWN || c == CMD_PGDN;
	bool up = c == CMD_UP || c == CMD_PGUP;
	bool had_rows = pane_has_rows(p);
	uint64_t before = pane_selected(p);
	int r = pane_list_command(p, c, arg);

	if (!down && !up)
		return r;
	if (!had_rows || pane_selected(p) == before) {
		if (down)
			pane_step(set, 1, CMD_TOP);
		else
			pane_step(set, -1, CMD_BOTTOM);
	}
	return 0;
}

struct table_widget *pane_focused_table(struct pane_set *set)
{
	struct pane *p = &set->panes[set->focus];

	return p->is_tree ? NULL : &p->table;
}

void pane_deinit(struct pane *p)
{
	table_widget_deinit(&p->table);
	tree_widget_deinit(&p->tree);
}

void pane_set_deinit(struct pane_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		pane_deinit(&set->panes[i]);
}
