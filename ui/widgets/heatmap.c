// SPDX-License-Identifier: GPL-2.0-only
/*
 * A heat map in cells of the screen. A line has two rows of it, the longer waits above: a half
 * block has the colour of one in front and that of the other behind it. Where there are no colours,
 * or too few, a line is one row, and the more there is the darker is its letter. The cursor has
 * marks at the left and below, so that it is seen without colours as well.
 */
#include "heatmap.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "layout.h"
#include "widget.h"

enum { LENGTH_W = 8, NOW_W = 7, NOW_FROM = 60, LEAST_W = 4, TICK = 12 };
enum { HEAT = MAP_LEVELS - 2, MARKED = MAP_LEVELS - 1 };

static const char *const letters[MAP_LEVELS] = {" ", ".", ":", "-", "=", "*", "#", "_"};

struct heatmap_place heatmap_place(struct rect r, bool use_letters)
{
	struct heatmap_place p = {.per_line = use_letters ? 1 : 2};
	const int now = r.w >= NOW_FROM ? NOW_W : 0, w = r.w - LENGTH_W - now;

	if (w < LEAST_W || r.h < 2)
		return p;
	p.lengths = (struct rect){r.x, r.y, LENGTH_W, r.h - 1};
	p.map = (struct rect){r.x + LENGTH_W, r.y, w, r.h - 1};
	p.now = (struct rect){r.x + LENGTH_W + w, r.y, now, r.h - 1};
	p.times = (struct rect){r.x, r.y + r.h - 1, r.w, 1};
	return p;
}

static bool is_in(const struct heatmap_look *l, uint32_t column, uint32_t row)
{
	const struct heatmap_range *r = &l->range;

	return l->has_range && column >= r->column && column <= r->last_column && row >= r->row &&
	       row <= r->last_row;
}

static unsigned level_at(const struct query_heatmap *h, const struct heatmap_look *l,
			 uint32_t column, uint32_t row)
{
	if (row >= h->rows)
		return 0;
	const unsigned level =
		query_heatmap_cell_level(h, query_heatmap_at(h, column, row), l->by_wait, HEAT);
	return !level && is_in(l, column, row) ? MARKED : level;
}

static enum role map_role(unsigned front, unsigned back)
{
	return (enum role)(ROLE_MAP + front * MAP_LEVELS + back);
}

static void put_halves(struct screen *s, struct rect r, int x, int y, unsigned upper,
		       unsigned lower)
{
	if (upper == lower)
		screen_put(s, r, x, y, map_role(upper, 0), upper ? "█" : " ");
	else if (!upper)
		screen_put(s, r, x, y, map_role(lower, 0), "▄");
	else
		screen_put(s, r, x, y, map_role(upper, lower), "▀");
}

/* The row in the lower part of line @y. */
static uint32_t row_of(const struct heatmap_place *p, int y)
{
	return (uint32_t)(p->map.h - 1 - y) * p->per_line;
}

static void draw_line(struct screen *s, const struct heatmap_place *p,
		      const struct query_heatmap *h, const struct heatmap_look *l, int y)
{
	const uint32_t row = row_of(p, y);

	for (uint32_t c = 0; c < h->columns && row < h->rows; c++) {
		const unsigned lower = level_at(h, l, c, row);
		if (p->per_line == 1)
			screen_put(s, p->map, (int)c, y, map_role(lower, 0), letters[lower]);
		else
			put_halves(s, p->map, (int)c, y, level_at(h, l, c, row + 1), lower);
	}
}

/* Of its half of the line alone, so that it says which row it is. */
static void draw_cursor(struct screen *s, const struct heatmap_place *p,
			const struct query_heatmap *h, const struct heatmap_look *l)
{
	const int x = (int)l->column, y = p->map.h - 1 - (int)(l->row / p->per_line);
	const char *mark = l->row % 2 ? "▀" : "▄";

	if (l->row >= h->rows || l->column >= h->columns)
		return;
	if (p->per_line == 1)
		mark = letters[level_at(h, l, l->column, l->row)];
	screen_put(s, p->map, x, y, ROLE_SELECTED, mark);
	screen_put(s, p->lengths, p->lengths.w - 1, y, ROLE_BOLD, "›");
	screen_put(s, p->times, p->lengths.w + x, 0, ROLE_BOLD, "▲");
}

/* The number of tasks that wait, beside the lengths that their waits have by now. */
static void draw_now(struct screen *s, const struct heatmap_place *p, const struct query_heatmap *h,
		     int y)
{
	const uint32_t row = row_of(p, y);
	uint64_t n = 0;
	char buf[UNITS_BUF];

	for (uint32_t i = row; i < row + p->per_line && i < h->rows; i++)
		n += h->now[i];
	if (n)
		screen_printf(s, p->now, 1, y, ROLE_WAITING, "%s", units_count(buf, n));
}

static void draw_lengths(struct screen *s, const struct heatmap_place *p,
			 const struct query_heatmap *h)
{
	char buf[UNITS_BUF];
	uint64_t before = 0;

	for (int y = p->map.h - 1; y >= 0 && row_of(p, y) < h->rows; y--) {
		const uint64_t ns = query_heatmap_lower(h, row_of(p, y));
		/* Octaves, or each line where it is more than one. */
		if (before && ns / 2 < before)
			continue;
		before = ns;
		screen_printf(s, p->lengths, 0, y, ROLE_DIM, "%*s", p->lengths.w - 1,
			      units_ns(buf, ns));
	}
}

static void draw_times(struct screen *s, const struct heatmap_place *p,
		       const struct query_heatmap *h, const struct heatmap_look *l)
{
	char buf[UNITS_BUF];

	for (uint32_t c = 0; c < h->columns; c += TICK) {
		/* A time that would be cut, or have the mark of the cursor in it, is not there. */
		units_ns(buf, c * h->column_ns);
		const uint32_t end = c + (uint32_t)text_width(buf);
		const bool has_mark = l->row < h->rows && l->column >= c && l->column <= end;
		if (!has_mark && p->lengths.w + (int)end <= p->times.w)
			screen_put(s, p->times, p->lengths.w + (int)c, 0, ROLE_DIM, buf);
	}
}

void heatmap_draw(struct screen *s, const struct heatmap_place *p, const struct query_heatmap *h,
		  const struct heatmap_look *look)
{
	if (p->map.w <= 0)
		return;
	draw_lengths(s, p, h);
	draw_times(s, p, h, look);
	for (int y = 0; y < p->map.h; y++) {
		draw_line(s, p, h, look, y);
		draw_now(s, p, h, y);
	}
	draw_cursor(s, p, h, look);
}

void heatmap_draw_scale(struct line *l, const struct query_heatmap *h, bool by_wait)
{
	char least[UNITS_BUF], most[UNITS_BUF];

	by_wait ? units_ns(most, h->most_ns) : units_count(most, h->most_n);
	by_wait ? units_ns(least, h->least_ns) : units_count(least, 1);
	if (l->x + HEAT + 4 + text_width(least) + text_width(most) > l->r.w)
		return;
	line_printf(l, ROLE_DIM, "  %s ", least);
	for (unsigned i = 1; i <= HEAT; i++)
		line_put(l, map_role(i, 0), l->s->letters || l->s->ascii ? letters[i] : "█");
	line_printf(l, ROLE_DIM, " %s", most);
}

bool heatmap_cell_at(const struct heatmap_place *p, const struct query_heatmap *h, int x, int y,
		     uint32_t *ret_column, uint32_t *ret_row)
{
	const int column = x - p->map.x, line = y - p->map.y;

	if (column < 0 || line < 0 || column >= p->map.w || line >= p->map.h ||
	    (uint32_t)column >= h->columns || row_of(p, line) >= h->rows)
		return false;
	*ret_column = (uint32_t)column;
	*ret_row = row_of(p, line);
	return true;
}
