// SPDX-License-Identifier: GPL-2.0-only
/*
 * The common part of all views that are one table, and of pages with one that is sorted and
 * filtered. A table may have thousands of rows: it is asked for the values of those that will
 * probably be seen, and once more when it turns out while drawing that others are.
 */
#include "list.h"
#include "kontend/engine.h"

#include <errno.h>
#include <string.h>

enum { BAR_W = 120 }; /* from here on the line of keys has all */

/* A word that says what the next one is, away from what is before it. */
static void put_word(struct line *line, const char *word)
{
	line_printf(line, ROLE_DIM, "%s%s ", line->x > 1 ? "  " : "", word);
}

static void put_order(struct line *line, const struct table *t)
{
	if (t->sort_col >= t->n_columns)
		return;
	put_word(line, "sort");
	line_put(line, ROLE_BOLD, t->columns[t->sort_col].title);
	line_put(line, ROLE_NORMAL, table_rises(t) ? " ▲" : " ▼");
}

bool list_has_window(const struct list_view *l)
{
	(void)l;
	return true;
}

/* "7 of 318 rows  10s [w]" */
static const char *count_text(struct list_view *l, const struct table *t)
{
	const char *count = view_count_text(&l->v, t), *text = count;
	char window[APP_WINDOW_TEXT];

	if (l->v.ops->list->has_window && l->v.ops->list->has_window(l))
		text = arena_printf(&l->v.query->arena, "%s  %s [w]", count,
				    app_window_text(l->v.app, window));
	else if (l->v.ops->list->has_window)
		text = arena_printf(&l->v.query->arena, "%s  all", count);
	return text ? text : count;
}

/* Does the line of keys have it at any width, or the title of the table? */
static bool is_said(enum command c)
{
	return c == CMD_ENTER || c == CMD_FILTER || c == CMD_BY || c == CMD_SET || c == CMD_SORT ||
	       c == CMD_LOCK_PATHS;
}

/* "f flame  a code": what the bar at the bottom has no room for, where the view has some. */
static void put_hints(struct line *line, const struct view_ops *ops, int width)
{
	char key[16];

	for (const struct view_key *k = ops->keys; width < BAR_W && k && k->command; k++) {
		const char *name = is_said(k->command) ? NULL : view_first_key(k->command, key);

		if (name)
			line_whole(line, ROLE_DIM, "  %s %s", name, k->text);
	}
}

/* "by caller [b]  sort TOTAL ▼  filter mm", and how many rows at the right. */
static void draw_keys(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	const struct list_ops *ops = l->v.ops->list;
	const char *count = count_text(l, t), *filter = app_filter(l->v.app);
	int at = r.w - 1 - (int)strlen(count);
	struct line line = {.s = s, .r = {r.x, r.y, at > 0 ? at - 1 : r.w, 1}, .x = 1};

	if (ops->before)
		ops->before(l, &line);
	if (ops->bys) {
		line_put(&line, ROLE_DIM, "by ");
		line_put(&line, ROLE_BOLD, ops->bys[l->by]);
		line_put(&line, ROLE_DIM, " [b]");
	}
	if (ops->options)
		ops->options(l, &line);
	put_order(&line, t);
	if (ops->behind)
		ops->behind(l, &line);
	if (*filter) {
		put_word(&line, "filter");
		line_put(&line, ROLE_MATCH, filter);
	} else
		put_hints(&line, l->v.ops, r.w);
	if (t->n_total)
		screen_put(s, r, at, 0, ROLE_DIM, count);
}

static void draw_rows(struct list_view *l, struct screen *s, struct rect r, struct table *t)
{
	const struct list_ops *ops = l->v.ops->list;
	struct table_style style = {
		.columns = app_columns(l->v.app),

		.heat = ops->heat,
		.row_role = ops->row_role,
		.search = app_search(l->v.app),
		.tick = l->v.query->model->n_ticks,
	};

	if (ops->fit)
		ops->fit(l, t);
	pane_draw_list(&l->pane, s, r, t, &style);
	if (!t->n_rows)
		view_draw_text(s, layout_below(r, 2), ROLE_DIM,
			       ops->empty && !t->n_total ? ops->empty(l, t)
							 : view_empty_text(&l->v, t));
}

static int draw(struct list_view *l, struct screen *s, struct rect r, bool *ret_missed,
		struct error *err)
{
	const struct list_ops *ops = l->v.ops->list;
	struct query_spec spec = {0};
	struct table t;

	view_fill_spec(&l->v, &l->pane.table, &spec);
	pane_window(&l->pane, r.h, &spec);
	int code = ops->ask(l, &spec, &t, err);
	if (code < 0)
		return code;
	int y = ops->head ? ops->head(l, s, r, &t) : 0;
	if (y == LIST_END)
		return 0;
	if (!ops->has_no_keys)
		draw_keys(l, s, layout_below(r, y++), &t);
	if (ops->needs_looks)
		y += view_draw_no_look(&l->v, s, r, y, ops->needs_looks);
	draw_rows(l, s, layout_below(r, y), &t);
	*ret_missed = pane_missed(&l->pane, &spec);
	if (!*ret_missed && ops->drawn)
		ops->drawn(l, &t);
	return 0;
}

void list_draw(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};
	bool missed = false;
	int code = draw(list_of(v), s, r, &missed, &err);

	if (code == 0 && missed)
		code = draw(list_of(v), s, r, &missed, &err);
	if (code < 0)
		view_draw_error(s, r, &err);
}

static int part_ask(struct list_part *p)
{
	struct pane *pane = &p->set->panes[p->pane];

	p->spec = (struct query_spec){0};
	view_fill_spec(p->v, &pane->table, &p->spec);
	pane_window(pane, p->lines, &p->spec);
	int r = p->ask(p->v, &p->spec, &p->table, &p->wrong);
	if (r == 0 && p->fit)
		p->fit(p->v, &p->table);
	return r;
}

int list_part_ask(struct list_part *p, struct error *err)
{
	int r = part_ask(p);

	if (r < 0 && r != -EINVAL)
		*err = p->wrong;
	return r == -EINVAL ? 0 : r;
}

const char *list_part_title(struct list_part *p, const char *what)
{
	const char *filter = app_filter(p->v->app), *text = what;

	if (*filter)
		text = arena_printf(&p->v->query->arena, "%s, filter %s%s%s", what, filter,
				    p->wrong.code ? "" : ": ",
				    p->wrong.code ? "" : view_count_text(p->v, &p->table));
	return text ? text : what;
}

void list_part_draw(struct list_part *p, struct screen *s, struct rect r, const char *title,
		    const struct table_style *style, const char *empty)
{
	if (p->wrong.code) {
		widget_rule(s, r, 0, title);
		view_draw_error(s, layout_below(r, 1), &p->wrong);
		return;
	}
	pane_draw_table(p->set, p->pane, s, r, title, &p->table, style);
	if (pane_missed(&p->set->panes[p->pane], &p->spec) && part_ask(p) == 0)
		pane_draw_table(p->set, p->pane, s, r, title, &p->table, style);
	if (!p->table.n_rows && empty)
		view_draw_text(s, layout_below(r, 2), ROLE_DIM, empty);
}

/* Other rows: the selection and the place are reset, the order that the user chose stays. */
static void set_by(struct list_view *l, unsigned by)
{
	const struct list_ops *ops = l->v.ops->list;
	struct table_widget fresh = {0};

	if (!ops->sorts || ops->sorts(by, l->pane.table.sort)) {
		memcpy(fresh.sort, l->pane.table.sort, sizeof(fresh.sort));
		fresh.reverse = l->pane.table.reverse;
	}
	table_widget_deinit(&l->pane.table);
	l->pane.table = fresh;
	l->pane.moved = false;
	l->by = by;
}

/* "memcg" and "cgroup" are said of the same. */
static bool is_called(const char *by, const char *name)
{
	return !strcmp(by, name) || (!strcmp(by, "memcg") && !strcmp(name, "cgroup")) ||
	       (!strcmp(by, "cgroup") && !strcmp(name, "memcg"));
}

static int set_by_name(struct list_view *l, const char *name)
{
	const char *const *bys = l->v.ops->list->bys;
	unsigned by = 0;

	while (bys[by] && !(name && is_called(bys[by], name)))
		by++;
	if (bys[by])
		set_by(l, by);
	else
		view_say_names(&l->v, name, "", bys);
	return 0;
}

/* @forward or to the one before, round and round. */
static void step_by(struct list_view *l, bool forward)
{
	const struct list_ops *ops = l->v.ops->list;
	unsigned by = l->by, n = 0;

	while (ops->bys[n])
		n++;
	do
		by = (by + (forward ? 1 : n - 1)) % n;
	while (ops->skips && ops->skips(l, by));
	set_by(l, by);
}

static void list_bys(struct view *v, struct view_bys *ret)
{
	struct list_view *l = list_of(v);
	const struct list_ops *ops = v->ops->list;

	for (unsigned by = 0; ops->bys && ops->bys[by]; by++) {
		if (by == l->by)
			ret->now = ret->n;
		if (by == l->by || !ops->skips || !ops->skips(l, by))
			ret->names[ret->n++] = ops->bys[by];
	}
}

static struct table_widget *list_table(struct view *v)
{
	return &list_of(v)->pane.table;
}

const struct view_choices list_choices = {list_bys, list_table};

int list_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct list_view *l = list_of(v);
	const struct list_ops *ops = v->ops->list;
	int code = ops->command ? ops->command(l, c, arg) : VIEW_UNHANDLED;

	if (code != VIEW_UNHANDLED)
		return code;
	if (ops->bys && c == CMD_BY)
		return set_by_name(l, arg->text);
	if (ops->bys && (c == CMD_BY_NEXT || c == CMD_BY_PREV)) {
		step_by(l, c == CMD_BY_NEXT);
		return 0;
	}
	code = pane_list_command(&l->pane, c, arg);
	if (code != WIDGET_ENTER)
		return code;
	if (ops->open)
		return ops->open(l);
	return ops->page ? ops->page(l) : 0;
}

int list_page(struct view *v)
{
	struct list_view *l = list_of(v);

	return l->pane.table.has_rows ? v->ops->list->page(l) : VIEW_UNHANDLED;
}

void list_deinit(struct view *v)
{
	pane_deinit(&list_of(v)->pane);
}

void list_select(struct list_view *l, uint64_t row)
{
	l->pane.table.selected = row;
	l->pane.table.has_rows = true;
	l->pane.moved = true;
}
