// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline as a strip of cells of equal length, from the beginning to the end. A cell shows the
 * highest wait per second among the buckets it touches, not their mean: a stall of one second must
 * be seen in a recording of an hour. What the tables speak of (up to the cursor, from the range's
 * begin on) is bright, the rest dim. The cursor and the ends of a range are characters of their
 * own, since colours may be missing; they replace a bar.
 */
#include "ribbon.h"

#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/widget.h"
#include <stdio.h>

enum { LABEL_W = 24, MOST_CELLS = 1024 };

/* The strip itself, and what is written right of it. */
static void split(struct rect r, struct rect *strip, struct rect *label)
{
	int w = r.w - LABEL_W - 1;

	if (w > MOST_CELLS)
		w = MOST_CELLS;
	*strip = (struct rect){r.x, r.y, w > 0 ? w : 0, r.h};
	*label = (struct rect){r.x + strip->w + 1, r.y, LABEL_W, r.h};
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
	return i + 1 < b->n ? b->buckets[i + 1].start_ns : b->end_ns;
}

static uint64_t rate_of(const struct ribbon *b, size_t i)
{
	uint64_t len = bucket_end(b, i) - b->buckets[i].start_ns;

	return len ? (uint64_t)((double)b->buckets[i].wait_ns * 1e9 / (double)len) : 0;
}

/* The highest rate in each of @w cells; the highest of all. */
static uint64_t fill_cells(const struct ribbon *b, uint64_t *v, int w)
{
	uint64_t most = 0;

	for (int i = 0; i < w; i++)
		v[i] = 0;
	for (size_t k = 0; k < b->n; k++) {
		uint64_t rate = rate_of(b, k);
		int last = cell_before(b, bucket_end(b, k), w);

		most = rate > most ? rate : most;
		for (int i = cell_after(b, b->buckets[k].start_ns, w); i <= last; i++)
			v[i] = rate > v[i] ? rate : v[i];
	}
	return most;
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

static void draw_marks(const struct ribbon *b, struct screen *s, struct rect strip)
{
	int from = b->from_ns ? cell_after(b, b->from_ns, strip.w) : -1;
	int to = b->to_ns ? cell_before(b, b->to_ns, strip.w) : -1;
	int now = cell_before(b, b->now_ns, strip.w);

	if (now != from && now != to)
		put_column(s, strip, now, ROLE_BOLD, "│");
	if (from >= 0)
		put_column(s, strip, from, ROLE_BOLD, "[");
	if (to >= 0)
		put_column(s, strip, to, ROLE_BOLD, "]");
	for (int y = 0; y < strip.h; y++)
		screen_reverse(s, strip, now, y);
}

static void draw_label(const struct ribbon *b, struct screen *s, struct rect r, int cells,
		       uint64_t most)
{
	char top[UNITS_BUF], cell[UNITS_BUF];

	units_ns(cell, cell_ns(b, 1, cells) - b->begin_ns);
	if (r.h == 1) {
		screen_printf(s, r, 0, 0, ROLE_DIM, "top %s/s, %s/cell",
			      units_nsrate(top, (double)most), cell);
		return;
	}
	screen_printf(s, r, 0, 0, ROLE_DIM, "wait/s, top %s", units_nsrate(top, (double)most));
	screen_printf(s, r, 0, 1, ROLE_DIM, "%s a cell", cell);
}

void ribbon_draw(const struct ribbon *b, struct screen *s, struct rect r)
{
	uint64_t v[MOST_CELLS], most;
	struct rect strip, label;

	split(r, &strip, &label);
	if (strip.w < 1 || strip.h < 1 || !b->n)
		return;
	most = fill_cells(b, v, strip.w);
	widget_graph(s, strip, v, (uint32_t)strip.w, most);
	dim(b, s, strip);
	draw_marks(b, s, strip);
	draw_label(b, s, label, strip.w, most);
}

bool ribbon_time_at(const struct ribbon *b, struct rect r, int x, uint64_t *ret_ns)
{
	struct rect strip, label;

	split(r, &strip, &label);
	if (x < strip.x || x >= strip.x + strip.w)
		return false;
	*ret_ns = x == strip.x + strip.w - 1 ? b->end_ns : cell_ns(b, x - strip.x + 1, strip.w);
	return true;
}
