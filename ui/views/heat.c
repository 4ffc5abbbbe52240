// SPDX-License-Identifier: GPL-2.0-only
/*
 * When waits ended and how long they were, as a map: of all, or of the row that a page is about.
 * The cursor and the corner of a selection are a time and a length, not a place, so that they stay
 * with their waits while columns move. Enter leaves the map, and tables have the selected waits
 * alone.
 */
#include "kontend/engine.h"
#include "kontend/hist.h"
#include "kontend/query-heatmap.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/view.h"
#include "kontend/when.h"
#include "widgets/heatmap.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <errno.h>

enum { STATUS_LINES = 2 };

/* A cell, by what it is of. */
struct spot {
	uint64_t ns;
	unsigned bucket;
};

struct view_heat {
	struct view v;
	bool by_wait, has_cursor, selects;
	struct spot cursor, corner;
	/* As last drawn; of the map all but the cells. */
	struct query_heatmap map;
	struct heatmap_place place;
};

static struct view_heat *of_view(struct view *v)
{
	return (struct view_heat *)v;
}

static uint32_t column_of(const struct query_heatmap *h, uint64_t ns)
{
	const uint64_t at = ns > h->begin_ns ? (ns - h->begin_ns) / h->column_ns : 0;

	return at < h->columns ? (uint32_t)at : h->columns - 1;
}

static uint32_t row_of(const struct query_heatmap *h, unsigned bucket)
{
	const unsigned at = bucket > h->bucket ? (bucket - h->bucket) / h->per_row : 0;

	return at < h->rows ? at : h->rows ? h->rows - 1 : 0;
}

static struct spot spot_of(const struct query_heatmap *h, uint32_t column, uint32_t row)
{
	return (struct spot){query_heatmap_time(h, column), h->bucket + row * h->per_row};
}

/* At first where most is. */
static void place_cursor(struct view_heat *f, const struct query_heatmap *h)
{
	if (f->has_cursor || !h->n)
		return;
	for (uint32_t row = 0; row < h->rows; row++)
		for (uint32_t c = 0; c < h->columns; c++)
			if (query_heatmap_at(h, c, row)->n == h->most_n)
				f->cursor = spot_of(h, c, row);
	f->has_cursor = true;
}

static struct heatmap_range range_between(const struct query_heatmap *h, const struct spot *a,
					  const struct spot *b)
{
	const uint32_t c[] = {column_of(h, a->ns), column_of(h, b->ns)};
	const uint32_t r[] = {row_of(h, a->bucket), row_of(h, b->bucket)};

	return (struct heatmap_range){c[c[1] < c[0]], c[c[1] >= c[0]], r[r[1] < r[0]],
				      r[r[1] >= r[0]]};
}

/* The cells of a part of the waits; false: none of it is shown. */
static bool range_of_part(const struct query_heatmap *h, const struct heat_part *p,
			  struct heatmap_range *ret)
{
	const uint64_t end = query_heatmap_time(h, h->columns);
	const struct spot from = {p->from_ns, hist_bucket(p->lower_ns)};
	const struct spot to = {p->to_ns ? p->to_ns - 1 : end - 1,
				p->upper_ns ? hist_bucket(p->upper_ns - 1) : HIST_BUCKETS - 1};

	*ret = range_between(h, &from, &to);
	return heat_part_any(p) && to.ns >= h->begin_ns && from.ns < end && h->rows;
}

static struct heatmap_look look_of(struct view_heat *f, const struct query_heatmap *h)
{
	struct heatmap_look l = {.by_wait = f->by_wait,
				 .column = column_of(h, f->cursor.ns),
				 .row = f->has_cursor ? row_of(h, f->cursor.bucket) : UINT32_MAX};

	l.has_range = f->selects || range_of_part(h, app_part(f->v.app), &l.range);
	if (f->selects)
		l.range = range_between(h, &f->corner, &f->cursor);
	return l;
}

static void draw_head(struct view_heat *f, const struct query_heatmap *h, struct screen *s,
		      struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char a[UNITS_BUF], window[APP_WINDOW_TEXT];

	l.r.w -= 3 + (int)text_width(app_window_text(f->v.app, window));
	line_put(&l, ROLE_DIM, "by ");
	line_put(&l, ROLE_BOLD, f->by_wait ? "time" : "number");
	line_put(&l, ROLE_DIM, " [c]  ");
	line_printf(&l, ROLE_NORMAL, "%s waits, ", units_count(a, h->n));
	line_printf(&l, ROLE_NORMAL, "%s", units_ns(a, h->ns));
	line_whole(&l, ROLE_DIM, "  column %s", units_ns(a, h->column_ns));
	if (h->n)
		heatmap_draw_scale(&l, h, f->by_wait);
	if (*app_row_filter(f->v.app))
		line_whole(&l, ROLE_WARN, "  not of waits: %s", app_row_filter(f->v.app));
	if (h->kept_ns > h->begin_ns)
		line_whole(&l, ROLE_WARN, "  no room for the first %s",
			   units_ns(a, h->kept_ns - h->begin_ns));
	view_draw_window(&f->v, s, r);
}

static uint64_t sum_of(const struct query_heatmap *h, const struct heatmap_range *r,
		       uint64_t *ret_ns)
{
	uint64_t n = 0;

	*ret_ns = 0;
	for (uint32_t row = r->row; row <= r->last_row && row < h->rows; row++)
		for (uint32_t c = r->column; c <= r->last_column; c++) {
			n += query_heatmap_at(h, c, row)->n;
			*ret_ns += query_heatmap_at(h, c, row)->ns;
		}
	return n;
}

/* "+0:12.3, 78ms long: 12 waits of 1.02ms to 2.05ms, 18ms" */
static void draw_range(struct view_heat *f, const struct query_heatmap *h,
		       const struct heatmap_range *r, struct line *l)
{
	char a[UNITS_BUF], b[UNITS_BUF], at[WHEN_BUF];
	uint64_t ns, n = sum_of(h, r, &ns);

	line_printf(l, ROLE_BOLD, "%s",
		    app_elapsed(f->v.app, query_heatmap_time(h, r->column), at));
	line_printf(l, ROLE_DIM, " for %s  ",
		    units_ns(a, (r->last_column - r->column + 1) * h->column_ns));
	line_printf(l, ROLE_NORMAL, "%s to %s: ", units_ns(a, query_heatmap_lower(h, r->row)),
		    units_ns(b, query_heatmap_upper(h, r->last_row)));
	line_put(l, ROLE_BOLD, n ? units_count(a, n) : "·");
	line_printf(l, ROLE_NORMAL, " waits, %s", n ? units_ns(a, ns) : "·");
}

static void draw_status(struct view_heat *f, const struct query_heatmap *h,
			const struct heatmap_look *look, struct screen *s, struct rect r)
{
	struct line first = {.s = s, .r = r, .x = 1}, second = {.s = s, .r = r, .x = 1, .y = 1};
	const struct heatmap_range cursor = {look->column, look->column, look->row, look->row};

	if (!f->has_cursor || look->row >= h->rows)
		return;
	draw_range(f, h, &cursor, &first);
	if (look->has_range) {
		line_put(&second, ROLE_DIM, "selected ");
		draw_range(f, h, &look->range, &second);
	} else {
		line_put(&second, ROLE_DIM,
			 "v begins a selection; Enter: tables show these waits alone");
	}
	if (screen_row_begin(s)) {
		char a[UNITS_BUF], b[UNITS_BUF];
		const struct query_heatmap_cell *c = query_heatmap_at(h, look->column, look->row);
		screen_row_put(s, units_ns(a, query_heatmap_lower(h, look->row)));
		screen_row_put(s, units_count(a, c->n));
		screen_row_put(s, units_ns(b, c->ns));
	}
}

static const char *why_empty(struct view_heat *f, const struct query_heatmap *h)
{
	if (!h->known)
		return "nothing is kept here of when waits ended";
	return h->n_inflight ? "no wait has ended in the time shown" : view_empty_text(&f->v, NULL);
}

static void heat_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_heat *f = of_view(v);
	const int status = r.h > 3 * STATUS_LINES ? STATUS_LINES : 0;
	struct rect body = layout_below(r, 1);
	struct error err = {0};
	struct query_heatmap h;

	body.h -= status;
	f->place = heatmap_place(body, s->letters || s->ascii);
	const struct query_heatmap_spec spec = {
		.scope = v->scope,
		.columns = f->place.map.w > 0 ? (uint32_t)f->place.map.w : 1,
		.rows = f->place.map.h > 0 ? (uint32_t)f->place.map.h * f->place.per_line : 1};
	if (query_heatmap(v->query, &spec, &h) < 0) {
		error_enomem(&err, "the heat map");
		view_draw_error(s, r, &err);
		return;
	}
	place_cursor(f, &h);
	const struct heatmap_look look = look_of(f, &h);
	draw_head(f, &h, s, r);
	if (h.n)
		heatmap_draw(s, &f->place, &h, &look);
	else
		view_draw_text(s, layout_below(r, 2), ROLE_DIM, why_empty(f, &h));
	if (status && h.n)
		draw_status(f, &h, &look, s, layout_below(r, r.h - status));
	f->map = h;
	f->map.cells = NULL;
	f->map.now = NULL;
}

static int64_t clamp(int64_t v, uint32_t n)
{
	return v < 0 ? 0 : v >= (int64_t)n ? (int64_t)n - 1 : v;
}

/* Nowhere before the first frame that has waits. */
static void step(struct view_heat *f, int64_t columns, int64_t rows)
{
	const struct query_heatmap *h = &f->map;

	if (!h->rows || !f->has_cursor)
		return;
	f->cursor = spot_of(h, (uint32_t)clamp(column_of(h, f->cursor.ns) + columns, h->columns),
			    (uint32_t)clamp(row_of(h, f->cursor.bucket) + rows, h->rows));
}

static bool move(struct view_heat *f, enum command c)
{
	const int64_t far = f->map.columns, page = f->map.rows > 4 ? f->map.rows / 4 : 1;

	switch (c) {
	case CMD_LEFT:
	case CMD_RIGHT:
		step(f, c == CMD_RIGHT ? 1 : -1, 0);
		return true;
	case CMD_SCROLL_LEFT:
	case CMD_SCROLL_RIGHT:
		step(f, (c == CMD_SCROLL_RIGHT ? 1 : -1) * (far / 8 + 1), 0);
		return true;
	case CMD_UP:
	case CMD_DOWN:
		step(f, 0, c == CMD_UP ? 1 : -1);
		return true;
	case CMD_PGUP:
	case CMD_PGDN:
		step(f, 0, c == CMD_PGUP ? page : -page);
		return true;
	case CMD_TOP:
	case CMD_BOTTOM:
		step(f, c == CMD_BOTTOM ? far : -far, 0);
		return true;
	default:
		return false;
	}
}

static int apply(struct view_heat *f)
{
	const struct query_heatmap *h = &f->map;

	if (!h->rows || !f->has_cursor) {
		app_say(f->v.app, ROLE_DIM, "There is nothing to select");
		return 0;
	}
	const struct heatmap_range r =
		range_between(h, f->selects ? &f->corner : &f->cursor, &f->cursor);
	const unsigned end = h->bucket + (r.last_row + 1) * h->per_row;
	const struct heat_part p = {.from_ns = query_heatmap_time(h, r.column),
				    .to_ns = query_heatmap_time(h, r.last_column + 1),
				    .lower_ns = query_heatmap_lower(h, r.row),
				    .upper_ns = end < HIST_BUCKETS ? hist_lower(end) : 0};
	app_select_part(f->v.app, &p); /* which closes this view */
	return 0;
}

static int leave(struct view_heat *f)
{
	if (!f->selects)
		return VIEW_UNHANDLED;
	f->selects = false;
	return 0;
}

static void begin_selection(struct view_heat *f)
{
	f->selects = !f->selects && f->has_cursor;
	f->corner = f->cursor;
}

static int click(struct view_heat *f, enum command c, const struct command_arg *arg)
{
	uint32_t column, row;

	if (!heatmap_cell_at(&f->place, &f->map, arg->x, arg->y, &column, &row))
		return VIEW_UNHANDLED;
	f->cursor = spot_of(&f->map, column, row);
	f->has_cursor = true;
	return c == CMD_DCLICK ? apply(f) : 0;
}

static int heat_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_heat *f = of_view(v);

	if (move(f, c))
		return 0;
	switch (c) {
	case CMD_ENTER:
		return apply(f);
	case CMD_BACK:
		return leave(f);
	case CMD_SET:
		begin_selection(f);
		return 0;
	case CMD_COUNT_WAIT:
		f->by_wait = !f->by_wait;
		return 0;
	case CMD_CLICK:
	case CMD_DCLICK:
		return click(f, c, arg);
	default:
		return VIEW_UNHANDLED;
	}
}

static const struct view_key keys[] = {
	{CMD_ENTER, "show these"}, {CMD_SET, "select"},	   {CMD_COUNT_WAIT, "number/time"},
	{CMD_WINDOW, "window"},	   {CMD_FILTER, "filter"}, {CMD_NONE, NULL},
};

const struct view_ops view_heat = {
	.keys = keys,
	.name = "heat",
	.title = "heat map",
	.help = "When waits ended and how long they were: time from left to right, longer waits "
		"above shorter ones, the brighter or darker the more waits, or with c the more "
		"time. "
		"So it shows what an average hides: waits of two kinds, some that come at "
		"intervals, a moment from which all are longer. At the right is how many still "
		"wait, beside the length of their waits so far. The arrows go from cell to cell, "
		"Home and End to the first and last column; v begins a selection, Enter leaves the "
		"map, and locks, waiters and flame graphs have the selected waits alone until Esc. "
		"Lengths are within a quarter of an octave. Where there are few colours, letters "
		"stand for them: . : - = * #.",
	.tables = "heat",
	.size = sizeof(struct view_heat),
	.draw = heat_draw,
	.command = heat_command,
};
