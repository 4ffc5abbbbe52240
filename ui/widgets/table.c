// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draws a struct table and moves a selection on it. Between two frames only the ids of the rows are
 * known, which is enough to move; all that needs values (search, order of columns) happens at the
 * next draw. New rows glow for one tick: `known` holds the rows of the tick before, and rows that a
 * changed filter or grouping brings in between two ticks count as known.
 */
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/query-columns.h"
#include "kontend/text.h"
#include "layout.h"
#include "widget.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { CELL_TEXT = 512 };

/* Values common to all rows of one frame. */
struct frame {
	struct table_widget *w;
	struct screen *s;
	struct rect r;
	const struct table *t;
	const struct table_style *style;
	size_t heat_col;
	double heat_max;
	uint64_t series_max[32]; /* by drawn column */
};

static void find_scales(struct frame *f)
{
	const struct table *t = f->t;
	size_t first = t->window_first, end = t->n_rows;

	if (t->window_n && end > first + t->window_n)
		end = first + t->window_n;
	f->heat_col = f->style->heat ? table_column(t, f->style->heat) : SIZE_MAX;
	f->heat_max = f->heat_col != SIZE_MAX && t->most ? t->most[f->heat_col] : 0;
	for (size_t i = first; f->heat_col != SIZE_MAX && i < end; i++) {
		double x = table_number(&t->columns[f->heat_col], table_value(t, i, f->heat_col));

		f->heat_max = x > f->heat_max ? x : f->heat_max;
	}
	for (size_t c = 0; c < f->w->n_cols; c++) {
		size_t col = f->w->cols[c].col;

		if (t->columns[col].type != COLUMN_SERIES)
			continue;
		for (size_t i = first; i < end; i++) {
			const struct value *v = table_value(t, i, col);
			uint64_t max = v->known ? widget_series_max(v->series, v->n) : 0;

			if (max > f->series_max[c])
				f->series_max[c] = max;
		}
	}
}

static bool row_matches(const struct table *t, size_t row, const char *search)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		const struct value *v = table_value(t, row, c);

		if (t->columns[c].type == COLUMN_TEXT && v->known && v->s &&
		    text_contains(v->s, search))
			return true;
	}
	return false;
}

static void jump(struct table_widget *w, const struct table *t, const char *search)
{
	size_t step = w->search > 0 ? 1 : t->n_rows - 1;

	w->search = 0;
	if (!search || !*search)
		return;
	for (size_t i = 1, at = w->index; i <= t->n_rows; i++) {
		at = (at + step) % t->n_rows;
		if (row_matches(t, at, search)) {
			w->index = at;
			return;
		}
	}
}

/* Follows the selected row to where it is now. */
static void follow(struct table_widget *w, const struct table *t, const struct table_style *style)
{
	size_t row = w->has_rows ? table_row(t, w->selected) : 0;

	w->has_rows = t->n_rows > 0;
	if (!w->has_rows) {
		w->index = w->top = 0;
		w->search = 0;
		return;
	}
	if (row != SIZE_MAX)
		w->index = row;
	if (w->index >= t->n_rows)
		w->index = t->n_rows - 1;
	if (w->search)
		jump(w, t, style->search);
	w->selected = t->ids[w->index];
}

static void remember_ids(struct table_widget *w, const struct table *t)
{
	if (t->n_rows > w->cap_ids) {
		uint64_t *grown = mem_resize(w->ids, t->n_rows, sizeof(*grown));

		w->n_ids = 0;
		if (!grown)
			return;
		w->ids = grown;
		w->cap_ids = t->n_rows;
	}
	w->n_ids = t->n_rows;
	if (t->n_rows)
		memcpy(w->ids, t->ids, t->n_rows * sizeof(*t->ids));
}

/* The same for the same rows in any order. */
static uint64_t sum_of_ids(const struct table *t)
{
	uint64_t sum = t->n_rows;

	for (size_t i = 0; i < t->n_rows; i++)
		sum += hash_u64(t->ids[i]);
	return sum;
}

/* Without memory nothing glows, and nothing else is lost. */
static void track_new(struct table_widget *w, const struct table *t, uint64_t tick)
{
	uint64_t sum = sum_of_ids(t);
	bool first = !w->fresh.v;

	if (!first && tick == w->tick && sum == w->ids_sum)
		return;
	if (!first && tick != w->tick) {
		struct widget_ids old = w->known;

		w->known = w->fresh;
		w->fresh = old;
		widget_ids_set(&w->fresh, t->ids, t->n_rows);
	} else if (first) {
		widget_ids_set(&w->fresh, t->ids, t->n_rows);
		widget_ids_set(&w->known, t->ids, t->n_rows);
	} else {
		for (size_t i = 0; i < t->n_rows; i++) {
			if (widget_ids_has(&w->fresh, t->ids[i]))
				continue;
			widget_ids_add(&w->fresh, t->ids[i]);
			widget_ids_add(&w->known, t->ids[i]);
		}
	}
	w->tick = tick;
	w->ids_sum = sum;
}

static void remember_names(struct table_widget *w, const struct table *t)
{
	enum { MAX = sizeof(w->names) / sizeof(w->names[0]) };

	w->n_names = t->n_columns < MAX ? t->n_columns : MAX;
	for (size_t i = 0; i < w->n_names; i++) {
		struct table_widget_name *name = &w->names[i];

		snprintf(name->key, sizeof(name->key), "%s", t->columns[i].key);
		snprintf(name->title, sizeof(name->title), "%s", t->columns[i].title);
		name->help = t->columns[i].help;
		name->type = t->columns[i].type;
		name->flags = t->columns[i].flags;
	}
}

/* Whatever rows are sorted by is shown, with room for the mark beside its title. */
static void show_sorted(struct column *c)
{
	int least = text_width(c->title) + 1;

	if (c->width < least)
		c->width = (uint8_t)least;
	c->priority = 0;
	c->flags |= COLUMN_SCREEN;
}

/* The room that rows need; columns that the user wants are there whatever is in them. */
static void see_rows(struct table_widget *w, const struct table *t, const struct table_style *style,
		     size_t page, struct layout_need *ret)
{
	bool is_other = w->name && strcmp(w->name, t->name) != 0;

	if (is_other || w->n_names != t->n_columns)
		w->seen = (struct seen){0};
	seen_rows(&w->seen, t, w->top, page, style->tick);
	memcpy(ret, w->seen.need, sizeof(w->seen.need));
	for (size_t i = 0; query_columns_find(style->columns, t->name) && i < TABLE_COLUMNS; i++)
		ret[i].empty = LAYOUT_FEW_EMPTY;
}

static void place_columns(const struct frame *f, size_t page)
{
	enum { MAX = sizeof(f->w->cols) / sizeof(f->w->cols[0]) };
	struct table_widget *w = f->w;
	const struct table *t = f->t;
	struct layout_column cols[MAX];
	struct layout_need need[TABLE_COLUMNS];
	struct column columns[sizeof(w->names) / sizeof(w->names[0])];
	const struct layout_room room = {f->r.w - 1, f->s->w, need};

	see_rows(w, t, f->style, page, need);
	remember_names(w, t);
	w->sort_col = t->sort_col;
	w->name = t->name;
	memcpy(columns, t->columns, w->n_names * sizeof(*columns));
	query_columns_apply(f->style->columns, t->name, columns, w->n_names);
	if (t->sort_col < w->n_names)
		show_sorted(&columns[t->sort_col]);
	w->n_cols = table_scroll_columns(&w->scroll, columns, w->n_names, t->sort_col, &room, cols,
					 MAX);
	w->sort_at = SIZE_MAX;
	for (size_t i = 0; i < w->n_cols; i++) {
		w->cols[i].x = cols[i].x + 1; /* the first column is the mark's */
		w->cols[i].w = cols[i].w;
		w->cols[i].col = cols[i].col;
		if (cols[i].col == t->sort_col)
			w->sort_at = i;
	}
}

static bool is_left(const struct column *c)
{
	return c->type == COLUMN_TEXT || c->type == COLUMN_SERIES;
}

/* The title that rows are sorted by has a role of its own, and the mark after it. */
static void draw_title(const struct frame *f, struct rect line,
		       const struct table_widget_column *at)
{
	const struct column *c = &f->t->columns[at->col];
	bool is_sorted = at->col == f->t->sort_col;
	enum role role = is_sorted ? ROLE_SORTED : ROLE_TITLE;
	bool has_mark = f->w->scroll.right && at->x + at->w == f->r.w;
	int room = at->w - is_sorted - has_mark, len = text_width(c->title);

	len = len < room ? len : room;
	int x = is_left(c) ? at->x : at->x + room - len;

	widget_text(f->s, line, x, 0, room, role, c->title);
	if (is_sorted)
		screen_put(f->s, line, x + len, 0, role, table_rises(f->t) ? "▲" : "▼");
}

/* Of the mark that says that columns have no room: beside the last one that has. */
static int mark_x(const struct frame *f)
{
	const struct table_widget_column *last = &f->w->cols[f->w->n_cols - 1];

	return last->x + last->w < f->r.w ? last->x + last->w : f->r.w - 1;
}

static void draw_titles(const struct frame *f)
{
	struct rect line = {f->r.x, f->r.y, f->r.w, 1};

	screen_fill(f->s, line, ' ', ROLE_TITLE);
	for (size_t i = 0; i < f->w->n_cols; i++)
		draw_title(f, line, &f->w->cols[i]);
	if (f->w->scroll.left)
		screen_put(f->s, line, 0, 0, ROLE_TITLE, "‹");
	if (f->w->scroll.right)
		screen_put(f->s, line, mark_x(f), 0, ROLE_TITLE, "›");
}

static void draw_cell(const struct frame *f, size_t row, size_t i, int y, enum role text_role)
{
	const struct table_widget_column *at = &f->w->cols[i];
	const struct column *c = &f->t->columns[at->col];
	const struct value *v = table_value(f->t, row, at->col);
	enum role role = c->type == COLUMN_TEXT ? text_role : ROLE_NORMAL;
	char buf[CELL_TEXT];
	int len;

	if (c->type == COLUMN_SERIES && v->known) {
		struct rect cell = {f->r.x + at->x, f->r.y + y, at->w, 1};

		if (c->flags & COLUMN_SPREAD)
			widget_spread(f->s, cell, v->series, v->n, f->series_max[i]);
		else
			widget_sparkline(f->s, cell, 0, 0, at->w, v->series, v->n,
					 f->series_max[i]);
		return;
	}
	if (at->col == f->heat_col && f->heat_max > 0)
		role = widget_heat(table_number(c, v) / f->heat_max);
	if (c->type == COLUMN_TEXT && f->style->search && f->style->search[0] && v->known && v->s &&
	    text_contains(v->s, f->style->search))
		role = ROLE_MATCH;
	table_format(c, v, f->s->ascii, buf, sizeof(buf));
	len = text_width(buf);
	if (len > at->w && v->at_least) {
		/* A number without its mark says more than one that is cut. */
		struct value plain = *v;
		plain.at_least = false;
		table_format(c, &plain, f->s->ascii, buf, sizeof(buf));
		len = text_width(buf);
	}
	widget_text(f->s, f->r, is_left(c) || len > at->w ? at->x : at->x + at->w - len, y, at->w,
		    role, buf);
}

/* In front of the cell, and the cell turned round, so that it is seen without colours. */
static void draw_cursor(const struct frame *f, int y)
{
	for (size_t i = 0; f->style->cursor && i < f->w->n_cols; i++) {
		const struct table_widget_column *at = &f->w->cols[i];

		if (at->col != f->style->cursor)
			continue;
		screen_put(f->s, f->r, at->x - 1, y, ROLE_SELECTED, "›");
		for (int x = 0; x < at->w; x++)
			screen_reverse(f->s, f->r, at->x + x, y);
	}
}

/* The names in full, and no pictures. */
static void report_row(const struct frame *f, size_t row)
{
	char buf[CELL_TEXT];

	for (size_t i = 0; i < f->w->n_cols; i++) {
		const struct column *c = &f->t->columns[f->w->cols[i].col];
		const struct value *v = table_value(f->t, row, f->w->cols[i].col);
		bool is_name = c->type == COLUMN_TEXT && v->known && v->s && !v->approx;

		if (c->type != COLUMN_SERIES)
			screen_row_put(f->s,
				       is_name ? v->s
					       : table_format(c, v, f->s->ascii, buf, sizeof(buf)));
	}
}

static void draw_row(const struct frame *f, size_t row, int y)
{
	const struct table_widget *w = f->w;
	uint64_t id = f->t->ids[row];
	bool selected = row == w->index && !f->style->unfocused;
	bool is_new = widget_ids_has(&w->fresh, id) && !widget_ids_has(&w->known, id);
	enum role role = f->style->row_role ? f->style->row_role(f->t, row) : ROLE_NORMAL;

	for (size_t i = 0; i < w->n_cols; i++) {
		if (f->style->cell_role)
			role = f->style->cell_role(f->t, row, w->cols[i].col);
		draw_cell(f, row, i, y, is_new ? ROLE_NEW : role);
	}
	if (is_new)
		screen_put(f->s, f->r, 0, y, ROLE_NEW, "+");
	if (selected) {
		screen_put(f->s, f->r, 0, y, ROLE_SELECTED, "›");
		screen_mark(f->s, f->r, y, ROLE_SELECTED);
		draw_cursor(f, y);
		if (screen_row_begin(f->s))
			report_row(f, row);
	}
}

void table_widget_draw(struct table_widget *w, struct screen *s, struct rect r,
		       const struct table *t, const struct table_style *style)
{
	struct frame f = {.w = w, .s = s, .r = r, .t = t, .style = style};
	size_t page = r.h > 1 ? (size_t)(r.h - 1) : 0;

	w->rect = r;
	follow(w, t, style);
	if (!t->order || t->order != w->order || t->n_rows != w->n_ids || style->tick != w->tick) {
		remember_ids(w, t);
		track_new(w, t, style->tick);
	}
	w->order = w->n_ids == t->n_rows ? t->order : 0;
	w->top = widget_scroll(w->top, w->index, t->n_rows, page);
	place_columns(&f, page);
	find_scales(&f);
	if (r.h < 1 || r.w < 1)
		return;
	draw_titles(&f);
	if (!t->n_rows && style->empty)
		widget_text(s, r, 1, 1, r.w - 1, ROLE_DIM, style->empty);
	for (size_t i = 0; i < page && w->top + i < t->n_rows; i++)
		draw_row(&f, w->top + i, (int)i + 1);
}

static int sort_by(struct table_widget *w, size_t col)
{
	memcpy(w->sort, w->names[col].key, sizeof(w->sort));
	w->reverse = false;
	w->resorted = true;
	return 0;
}

static int sort_reverse(struct table_widget *w)
{
	w->reverse = !w->reverse;
	w->resorted = true;
	return 0;
}

static int sort_step(struct table_widget *w, int step)
{
	size_t at = w->sort_at;

	for (size_t tries = 0; tries < w->n_cols; tries++) {
		at = at == SIZE_MAX ? 0 : (at + (size_t)((int)w->n_cols + step)) % w->n_cols;
		if (w->names[w->cols[at].col].type == COLUMN_SERIES)
			continue;
		w->sort_at = at;
		return sort_by(w, w->cols[at].col);
	}
	return 0;
}

/* One column, if there are more that way. */
static int scroll(struct table_widget *w, bool right)
{
	if (!w->scroll.left && !w->scroll.right)
		return WIDGET_UNHANDLED;
	if (right && w->scroll.right)
		w->scroll.shift++;
	else if (!right && w->scroll.shift)
		w->scroll.shift--;
	return 0;
}

/* Wherever it is, it comes into view. */
static int sort_shown(struct table_widget *w, size_t col)
{
	w->scroll.shift = 0;
	return sort_by(w, col);
}

static int sort_named(struct table_widget *w, const char *name)
{
	for (size_t i = 0; name && i < w->n_names; i++)
		if (!strcasecmp(w->names[i].key, name) || !strcasecmp(w->names[i].title, name))
			return sort_shown(w, i);
	return WIDGET_UNHANDLED;
}

static int click_title(struct table_widget *w, int x)
{
	if ((w->scroll.left && x == 0) || (w->scroll.right && x == w->rect.w - 1))
		return scroll(w, x > 0);
	for (size_t i = 0; i < w->n_cols; i++) {
		if (x < w->cols[i].x || x > w->cols[i].x + w->cols[i].w)
			continue;
		if (w->sort_at == i)
			sort_reverse(w);
		else if (w->names[w->cols[i].col].type != COLUMN_SERIES)
			sort_by(w, w->cols[i].col);
		return 0;
	}
	return 0;
}

static int click(struct table_widget *w, enum command c, const struct command_arg *arg)
{
	size_t row = widget_row_at(w->rect, arg, w->top, w->n_ids);

	if (!widget_inside(w->rect, arg))
		return WIDGET_UNHANDLED;
	if (arg->y == w->rect.y)
		return click_title(w, arg->x - w->rect.x);
	if (row == SIZE_MAX)
		return 0;
	w->index = row;
	w->selected = w->ids[row];
	return c == CMD_DCLICK ? WIDGET_ENTER : 0;
}

int table_widget_command(struct table_widget *w, enum command c, const struct command_arg *arg)
{
	size_t page = w->rect.h > 1 ? (size_t)(w->rect.h - 1) : 1;

	if (widget_move(c, w->n_ids, page, &w->index)) {
		if (w->n_ids)
			w->selected = w->ids[w->index];
		return 0;
	}
	if (widget_search(c, &w->search))
		return 0;
	switch (c) {
	case CMD_ENTER:
		return w->has_rows ? WIDGET_ENTER : 0;
	case CMD_SORT_NEXT:
		return sort_step(w, 1);
	case CMD_SORT_PREV:
		return sort_step(w, -1);
	case CMD_SORT_REVERSE:
		return sort_reverse(w);
	case CMD_SORT:
		return sort_named(w, arg->text);
	case CMD_SCROLL_LEFT:
	case CMD_SCROLL_RIGHT:
		return scroll(w, c == CMD_SCROLL_RIGHT);
	case CMD_CLICK:
	case CMD_DCLICK:
		return click(w, c, arg);
	default:
		return WIDGET_UNHANDLED;
	}
}

bool table_widget_choice(const struct table_widget *w, size_t column,
			 struct table_widget_choice *ret)
{
	if (column >= w->n_names)
		return false;
	const struct table_widget_name *name = &w->names[column];
	*ret = (struct table_widget_choice){
		.key = name->key,
		.title = name->title,
		.help = name->help,
		.sorts = name->type != COLUMN_SERIES,
		.is_sorted = column == w->sort_col,
		.will_sort = *w->sort ? !strcmp(name->key, w->sort) : column == w->sort_col,
	};
	for (size_t i = 0; i < w->n_cols; i++)
		ret->is_shown |= w->cols[i].col == column;
	return name->flags & COLUMN_SCREEN || ret->is_sorted || ret->will_sort;
}

void table_widget_deinit(struct table_widget *w)
{
	mem_free(w->ids);
	widget_ids_deinit(&w->known);
	widget_ids_deinit(&w->fresh);
	*w = (struct table_widget){0};
}
