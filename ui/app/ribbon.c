// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline as rows of cells of equal length, from the beginning to the end: waits, and what
 * else was noted and is not nothing throughout. A cell shows the highest value among the buckets it
 * touches, not their mean: a stall of one second must be seen in a recording of an hour. Values
 * that may differ by orders of magnitude are drawn by their logarithm, so that one storm leaves the
 * rest visible; what has a limit is drawn as a part of it. The time of the tables (up to the
 * cursor, from the range's begin on) is bright, the rest dim. The cursor and the ends of a range
 * are characters of their own, since colours may be missing; they replace a bar.
 */
#include "travel.h"

#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/widget.h"
#include <math.h>
#include <stdio.h>

/* "rotation 0.31% " to the left; "log 12.5s/cell" to the right. */
enum { TITLE_W = 16, LABEL_W = 14, MOST_CELLS = 1024 };
/* From the lowest level of a logarithmic row to its top. */
enum { MOST_DECADES = 4, LEVELS = 8 };

/* The contents of a row: one of the figures, or waits. */
enum { OF_WAIT = -1 };

static const char *const names[TIMELINE_FIGURES] = {
	[TIMELINE_SLOTS] = "slots",
	[TIMELINE_SHORT] = "short",
	[TIMELINE_ROTATION] = "rotation",
	[TIMELINE_XOL] = "XOL",
};

/* The title, the strip itself, and what is written right of it. */
struct parts {
	struct rect title, strip, label;
};

static struct parts split(struct rect r)
{
	int w = r.w - TITLE_W - LABEL_W - 1;

	w = w > MOST_CELLS ? MOST_CELLS : w > 0 ? w : 0;
	return (struct parts){.title = {r.x, r.y, TITLE_W, r.h},
			      .strip = {r.x + TITLE_W, r.y, w, r.h},
			      .label = {r.x + TITLE_W + w + 1, r.y, LABEL_W, r.h}};
}

static uint64_t span_of(const struct ribbon *b)
{
	return b->end_ns > b->begin_ns ? b->end_ns - b->begin_ns : 1;
}

/* Where cell @i of @w begins. */
static uint64_t cell_ns(const struct ribbon *b, int i, int w)
{
	return b->begin_ns + (uint64_t)((double)span_of(b) * i / w);
}

/* The cell @ns after the begin; times beyond the end are in the last. */
static int cell_at(const struct ribbon *b, uint64_t ns, int w)
{
	double i = (double)ns * w / (double)span_of(b);

	return i < w ? (int)i : w - 1;
}

/* The cell that ends at @ns or has it inside; what happened up to then is in it or left of it. */
static int cell_before(const struct ribbon *b, uint64_t ns, int w)
{
	return ns > b->begin_ns ? cell_at(b, ns - b->begin_ns - 1, w) : 0;
}

static int cell_after(const struct ribbon *b, uint64_t ns, int w)
{
	return ns > b->begin_ns ? cell_at(b, ns - b->begin_ns, w) : 0;
}

static uint64_t bucket_end(const struct ribbon *b, size_t i)
{
	return i + 1 < b->n ? b->buckets[i + 1].start_ns : b->read_ns;
}

static uint64_t value_of(const struct ribbon *b, size_t i, int figure)
{
	uint64_t len = bucket_end(b, i) - b->buckets[i].start_ns;

	if (figure != OF_WAIT)
		return b->buckets[i].figures[figure];
	return len ? (uint64_t)((double)b->buckets[i].wait_ns * 1e9 / (double)len) : 0;
}

static bool has_any(const struct ribbon *b, int figure)
{
	if (figure == OF_WAIT)
		return true;
	for (size_t i = 0; i < b->n; i++)
		if (b->buckets[i].figures[figure])
			return true;
	return false;
}

int ribbon_rows(const struct ribbon *b)
{
	int n = 0;

	for (int f = OF_WAIT; f < TIMELINE_FIGURES; f++)
		n += has_any(b, f);
	return n;
}

/* The highest value in each of @w cells, which are 0 so far; the highest of all. */
static uint64_t fill_cells(const struct ribbon *b, int figure, uint64_t *v, int w)
{
	uint64_t most = 0;

	for (size_t k = 0; k < b->n; k++) {
		uint64_t value = value_of(b, k, figure);
		int last = cell_before(b, bucket_end(b, k), w);

		most = value > most ? value : most;
		for (int i = cell_after(b, b->buckets[k].start_ns, w); i <= last; i++)
			v[i] = value > v[i] ? value : v[i];
	}
	return most;
}

/* From values to levels: the lowest, if it is not too far below, is the first, @most is the last.
 */
static void to_levels(uint64_t *v, int w, uint64_t most)
{
	uint64_t least = most;

	for (int i = 0; i < w; i++)
		least = v[i] && v[i] < least ? v[i] : least;
	double decades = ceil(log10((double)most / (double)least));
	decades = decades < 1 ? 1 : decades > MOST_DECADES ? MOST_DECADES : decades;
	for (int i = 0; i < w; i++) {
		double below = log10((double)most / (double)(v[i] ? v[i] : 1)) / decades * LEVELS;

		v[i] = !v[i] ? 0 : below > LEVELS - 1 ? 1 : (uint64_t)(LEVELS - below + 0.5);
	}
}

/* Dims the cells that the tables do not speak of. */
static void dim(const struct ribbon *b, struct screen *s, struct rect strip)
{
	bool ranged = b->from_ns && b->from_ns < b->now_ns;
	int first = ranged ? cell_after(b, b->from_ns, strip.w) : 0;
	int last = cell_before(b, b->now_ns, strip.w);

	for (int y = 0; y < strip.h; y++) {
		screen_mark(s, (struct rect){strip.x, strip.y, first, strip.h}, y, ROLE_DIM);
		screen_mark(s,
			    (struct rect){strip.x + last + 1, strip.y, strip.w - last - 1, strip.h},
			    y, ROLE_DIM);
	}
}

static void put_column(struct screen *s, struct rect strip, int x, enum role role, const char *ch)
{
	for (int y = 0; y < strip.h; y++)
		screen_put(s, strip, x, y, role, ch);
}

static void draw_incidents(const struct ribbon *b, struct screen *s, struct rect strip)
{
	for (size_t i = 0; b->incidents && i < b->incidents->n; i++) {
		uint64_t ns = b->incidents->list[i].fired_ns;
		if (ns >= b->begin_ns && ns <= b->end_ns)
			screen_put(s, strip, cell_before(b, ns, strip.w), 0, ROLE_ERROR, "!");
	}
}

static void draw_marks(const struct ribbon *b, struct screen *s, struct rect strip)
{
	int from = b->from_ns ? cell_after(b, b->from_ns, strip.w) : -1;
	int to = b->to_ns ? cell_before(b, b->to_ns, strip.w) : -1;
	int now = cell_before(b, b->now_ns, strip.w);

	if (now != from && now != to)
		put_column(s, strip, now, ROLE_BOLD, "│");
	if (b->a_ns >= b->begin_ns && b->a_ns)
		put_column(s, strip, cell_before(b, b->a_ns, strip.w), ROLE_WARN, "A");
	if (b->b_ns >= b->begin_ns && b->b_ns)
		put_column(s, strip, cell_before(b, b->b_ns, strip.w), ROLE_WARN, "B");
	if (from >= 0)
		put_column(s, strip, from, ROLE_BOLD, "[");
	if (to >= 0)
		put_column(s, strip, to, ROLE_BOLD, "]");
	for (int y = 0; y < strip.h; y++)
		screen_reverse(s, strip, now, y);
}

static void draw_title(struct screen *s, struct rect r, int figure, uint64_t most, uint64_t of)
{
	char top[UNITS_BUF], text[UNITS_BUF + 4];

	if (figure == OF_WAIT)
		snprintf(text, sizeof(text), "%s", units_tasks(top, (double)most));
	else if (figure == TIMELINE_ROTATION)
		snprintf(text, sizeof(text), "%s%%", units_pct(top, (double)most / 1e7));
	else
		snprintf(text, sizeof(text), "%s%s", of ? "of " : "",
			 units_count(top, of ? of : most));
	screen_printf(s, r, 0, 0, ROLE_DIM, "%-8s %6s",
		      figure == OF_WAIT ? "wait/s" : names[figure], text);
}

static void draw_label(const struct ribbon *b, struct screen *s, struct rect r, int cells,
		       bool first, bool is_log)
{
	char cell[UNITS_BUF];

	if (is_log)
		screen_put(s, r, 0, 0, ROLE_DIM, "log");
	if (first)
		screen_printf(s, r, 4, 0, ROLE_DIM, "%s/cell",
			      units_ns(cell, cell_ns(b, 1, cells) - b->begin_ns));
}

static void draw_row(const struct ribbon *b, struct screen *s, struct rect r, int figure,
		     bool first)
{
	const struct parts p = split(r);
	uint64_t v[MOST_CELLS] = {0}, of = figure != OF_WAIT && b->of ? b->of[figure] : 0;
	uint64_t most = fill_cells(b, figure, v, p.strip.w);

	if (!of && most)
		to_levels(v, p.strip.w, most);
	widget_graph(s, p.strip, v, (uint32_t)p.strip.w, of ? of : LEVELS);
	draw_title(s, p.title, figure, most, of);
	draw_label(b, s, p.label, p.strip.w, first, !of);
}

void ribbon_draw(const struct ribbon *b, struct screen *s, struct rect r)
{
	struct rect strip = split(r).strip;
	int y = 0;

	if (strip.w < 1 || strip.h < 1 || !b->n)
		return;
	for (int f = OF_WAIT; f < TIMELINE_FIGURES && y < r.h; f++)
		if (has_any(b, f)) {
			draw_row(b, s, (struct rect){r.x, r.y + y, r.w, 1}, f, !y);
			y++;
		}
	strip.h = y;
	dim(b, s, strip);
	draw_incidents(b, s, strip);
	draw_marks(b, s, strip);
}

bool ribbon_time_at(const struct ribbon *b, struct rect r, int x, uint64_t *ret_ns)
{
	const struct rect strip = split(r).strip;

	if (x < strip.x || x >= strip.x + strip.w)
		return false;
	*ret_ns = x == strip.x + strip.w - 1 ? b->end_ns : cell_ns(b, x - strip.x + 1, strip.w);
	return true;
}
