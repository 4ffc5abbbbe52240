// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where things go on the screen: pure functions of sizes, without state, so that a property test
 * walks all of them. Cutting a length into parts is one function (`cut`): minimum in order, then
 * what a part wants, then the rest by weight. Parts touch, never overlap and never leave their
 * parent; what does not fit has size 0.
 */
#include "layout.h"

#include <stdbool.h>

enum { PARTS = 16 };

struct rect layout_below(struct rect r, int n)
{
	if (n > r.h)
		n = r.h;
	r.y += n;
	r.h -= n;
	return r;
}

struct layout_app layout_app(int w, int h, struct layout_has has)
{
	struct layout_app l = {.all = {0, 0, w, h}};
	int y = 1;

	if (w < LAYOUT_MIN_W || h < LAYOUT_MIN_H) {
		l.too_small = true;
		return l;
	}
	l.header = (struct rect){0, 0, w, 1};
	l.ribbon = (struct rect){0, y, w, has.ribbon};
	y += l.ribbon.h;
	l.verdict = (struct rect){0, y, w, has.verdict};
	y += l.verdict.h;
	l.crumbs = (struct rect){0, y, w, has.crumbs};
	y += l.crumbs.h;
	l.body = (struct rect){0, y, w, h - 1 - y};
	l.bar = (struct rect){0, h - 1, w, 1};
	return l;
}

static int at_most(int want, int left)
{
	if (want < 0)
		return 0;
	return want < left ? want : left;
}

/* Lengths of the parts: their sum is at most @length. */
static void cut(int length, const struct layout_part *p, size_t n, int *ret)
{
	int left = length > 0 ? length : 0;
	int weights = 0, spread;

	for (size_t i = 0; i < n; i++) {
		ret[i] = p[i].min > 0 && p[i].min <= left ? p[i].min : 0;
		left -= ret[i];
		if (ret[i] || p[i].min <= 0)
			weights += p[i].weight > 0 ? p[i].weight : 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (p[i].min > 0 && !ret[i])
			continue;
		int more = at_most(p[i].want - ret[i], left);

		ret[i] += more;
		left -= more;
	}
	spread = left;
	for (size_t i = 0; i < n && weights > 0; i++) {
		if (p[i].weight <= 0 || (p[i].min > 0 && !ret[i]))
			continue;
		/* The last one with a weight takes what rounding left over. */
		int more = weights == p[i].weight ? spread : spread * p[i].weight / weights;

		ret[i] += more;
		spread -= more;
		weights -= p[i].weight;
	}
}

static void layout_cut(struct rect r, bool rows, const struct layout_part *p, size_t n,
		       struct rect *ret)
{
	int lengths[PARTS], at = 0;

	for (size_t i = PARTS; i < n; i++)
		ret[i] = (struct rect){r.x, r.y, 0, 0};
	n = n < PARTS ? n : PARTS;
	cut(rows ? r.h : r.w, p, n, lengths);
	for (size_t i = 0; i < n; i++) {
		if (rows)
			ret[i] = (struct rect){r.x, r.y + at, r.w, lengths[i]};
		else
			ret[i] = (struct rect){r.x + at, r.y, lengths[i], r.h};
		at += lengths[i];
	}
}

void layout_rows(struct rect r, const struct layout_part *p, size_t n, struct rect *ret)
{
	layout_cut(r, true, p, n, ret);
}

void layout_cols(struct rect r, const struct layout_part *p, size_t n, struct rect *ret)
{
	layout_cut(r, false, p, n, ret);
}

/* Which columns are shown: what is left of the width. Names that can be read come first. */
static int choose(const struct column *columns, size_t n, int width, bool *taken)
{
	struct table_room room[TABLE_COLUMNS];

	for (size_t i = 0; i < n; i++) {
		const struct column *c = &columns[i];
		room[i] = (struct table_room){
			.width = c->flags & COLUMN_SCREEN ? c->width : 0,
			.more = c->flags & COLUMN_WIDE ? c->width / 2 : 0,
			.priority = c->priority,
		};
	}
	return table_fit(room, n, width + 1, 1, taken); /* there is no blank after the last */
}

static int extra_of(int *spare, int *wides)
{
	int extra = *wides > 0 ? *spare / *wides : 0;

	*spare -= extra;
	(*wides)--;
	return extra;
}

size_t layout_columns(const struct column *columns, size_t n, int width, struct layout_column *ret,
		      size_t max)
{
	bool taken[TABLE_COLUMNS];
	int spare, wides = 0, x = 0;
	size_t used = 0;

	n = n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
	spare = choose(columns, n, width, taken);
	for (size_t i = 0; i < n; i++)
		wides += taken[i] && columns[i].flags & COLUMN_WIDE;
	if (spare < 0)
		spare = 0;
	for (size_t i = 0; i < n && used < max; i++) {
		if (!taken[i])
			continue;
		int w = columns[i].width;

		if (columns[i].flags & COLUMN_WIDE)
			w += extra_of(&spare, &wides);
		if (x + w > width)
			w = width - x;
		if (w <= 0)
			break;
		ret[used++] = (struct layout_column){.col = i, .x = x, .w = w};
		x += w + 1;
	}
	return used;
}
