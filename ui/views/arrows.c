// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines cross where jumps overlap and neither is within the other, and nowhere else: the shortest
 * ones get the lanes nearest to the text, so what encloses them runs outside. Lanes are given for
 * the whole listing and not for its visible part, so a line keeps its lane while the user scrolls.
 * Jumps longer than what can be seen at once would fill all lanes and lead nowhere.
 */
#include "arrows.h"

#include <errno.h>
#include <stdlib.h>

/* Jumps to one target: they follow each other in the array. */
struct group {
	uint32_t first, n, low, high;
};

static uint32_t low_of(const struct arrow *a)
{
	return a->from < a->to ? a->from : a->to;
}

static uint32_t high_of(const struct arrow *a)
{
	return a->from < a->to ? a->to : a->from;
}

static int by_target(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int by_length(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	uint32_t m = x->high - x->low, n = y->high - y->low;

	if (m != n)
		return m < n ? -1 : 1;
	return x->low < y->low ? -1 : x->low > y->low;
}

static size_t make_groups(struct arrows *a, size_t reach, struct group *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct arrow *one = &a->items[i];
		uint32_t low = low_of(one), high = high_of(one);

		if (high - low >= reach) {
			a->left_out = true;
			continue;
		}
		/* One that is left out ends a group. */
		if (!n || ret[n - 1].first + ret[n - 1].n != i ||
		    a->items[ret[n - 1].first].to != one->to) {
			ret[n++] = (struct group){(uint32_t)i, 1, low, high};
			continue;
		}
		struct group *g = &ret[n - 1];
		g->n++;
		g->low = low < g->low ? low : g->low;
		g->high = high > g->high ? high : g->high;
	}
	return n;
}

static void place(struct arrows *a, const struct group *g, uint16_t *busy, unsigned lanes)
{
	unsigned taken = 0, lane = 0;

	for (uint32_t row = g->low; row <= g->high; row++)
		taken |= busy[row];
	while (taken >> lane & 1)
		lane++;
	if (lane >= lanes) {
		a->left_out = true;
		return;
	}
	for (uint32_t row = g->low; row <= g->high; row++)
		busy[row] |= (uint16_t)(1u << lane);
	for (uint32_t i = 0; i < g->n; i++)
		a->items[g->first + i].lane = (uint8_t)lane;
	if (lane >= a->lanes)
		a->lanes = lane + 1;
}

int arrows_place(struct arrows *a, struct arena *arena, size_t n_rows, size_t reach, unsigned lanes)
{
	struct group *groups = arena_alloc(arena, (a->n + 1) * sizeof(*groups));
	uint16_t *busy = arena_alloc(arena, (n_rows + 1) * sizeof(*busy));

	a->lanes = 0;
	a->left_out = false;
	if (!groups || !busy)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		a->items[i].lane = ARROW_NO_LANE;
	if (a->n)
		qsort(a->items, a->n, sizeof(*a->items), by_target);
	size_t n = make_groups(a, reach, groups);
	if (n)
		qsort(groups, n, sizeof(*groups), by_length);
	for (size_t i = 0; i < n; i++)
		place(a, &groups[i], busy, lanes < ARROW_LANES ? lanes : ARROW_LANES);
	return 0;
}

static unsigned all_lanes(const struct arrows *a)
{
	return a->lanes + a->left_out;
}

unsigned arrows_width(const struct arrows *a)
{
	return all_lanes(a) ? all_lanes(a) + 1 : 0;
}

/* From its lane to the text. */
static void draw_end(uint8_t *row, unsigned col, unsigned width, uint8_t mark, bool is_target)
{
	row[col] |= ARROW_RIGHT | ARROW_JOINS | mark;
	for (unsigned i = col + 1; i < width; i++)
		row[i] |= ARROW_LEFT | ARROW_RIGHT | mark;
	if (is_target)
		row[width - 1] |= ARROW_HEAD;
}

static void draw_one(const struct arrow *one, unsigned col, unsigned width, size_t top, size_t h,
		     uint8_t mark, uint8_t *cells)
{
	size_t low = low_of(one), high = high_of(one);

	for (size_t row = low > top ? low : top; row <= high && row < top + h; row++) {
		uint8_t *line = cells + (row - top) * width;

		if (low != high)
			line[col] |=
				(row > low ? ARROW_UP : 0) | (row < high ? ARROW_DOWN : 0) | mark;
		if (row == one->from || row == one->to)
			draw_end(line, col, width, mark, row == one->to);
	}
}

void arrows_draw(const struct arrows *a, size_t top, size_t h, size_t chosen, uint8_t *cells)
{
	unsigned width = arrows_width(a), lanes = all_lanes(a);

	for (size_t i = 0; i < a->n; i++) {
		const struct arrow *one = &a->items[i];
		bool is_chosen = one->from == chosen || one->to == chosen;
		unsigned lane = one->lane;

		if (lane == ARROW_NO_LANE && one->from != chosen)
			continue;
		if (lane == ARROW_NO_LANE)
			lane = a->lanes;
		draw_one(one, lanes - 1 - lane, width, top, h, is_chosen ? ARROW_CHOSEN : 0, cells);
	}
}

const char *arrows_glyph(uint8_t cell)
{
	static const char *const glyphs[16] = {" ", "│", "│", "│", "─", "└", "┌", "├",
					       "─", "┘", "┐", "┤", "─", "┴", "┬", "┼"};
	enum { UP_DOWN = ARROW_UP | ARROW_DOWN, ALL = UP_DOWN | ARROW_LEFT | ARROW_RIGHT };

	if (cell & ARROW_HEAD)
		return "→";
	/* One line runs below the other. */
	if ((cell & ALL) == ALL && !(cell & ARROW_JOINS))
		return "│";
	return glyphs[cell & ALL];
}
