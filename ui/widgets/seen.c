// SPDX-License-Identifier: GPL-2.0-only
/*
 * The widths of a wide table follow from its texts, but columns that move with each refresh cannot
 * be read. So a column gets what the longest text of the last one or two periods needed, which
 * grows at once and shrinks at the end of a period; whether a column is empty changes when rows
 * have contradicted that for some ticks. Only rows on the screen count: for the sake of others
 * names would have blanks, and figures be far from them. When the window is resized, or time goes
 * back or jumps, as in a recording, the next rows decide at once.
 */
#include "seen.h"
#include "kontend/text.h"

#include <string.h>

enum { PERIOD = 32, AGAINST = 8, CELL = 512 };

static bool jumps(const struct seen *s, uint64_t tick)
{
	return !s->any || tick < s->tick || tick - s->tick > AGAINST;
}

static void begin_period(struct seen *s, uint64_t tick)
{
	if (jumps(s, tick)) {
		memset(s->longest, 0, sizeof(s->longest));
	} else if (tick / PERIOD != s->tick / PERIOD) {
		memcpy(s->longest[1], s->longest[0], sizeof(s->longest[1]));
		memset(s->longest[0], 0, sizeof(s->longest[0]));
	}
}

static uint16_t width_of(const struct column *c, const struct value *v)
{
	char buf[CELL];
	int w = 0;

	if (v->known && !(c->flags & COLUMN_LIST))
		w = text_width(v->s) + v->approx;
	else if (v->known)
		w = text_width(table_format(c, v, false, buf, sizeof(buf)));
	return w < UINT16_MAX ? (uint16_t)w : UINT16_MAX;
}

static void measure_texts(struct seen *s, const struct table *t, size_t col, size_t first,
			  size_t end)
{
	uint16_t *longest = &s->longest[0][col];

	for (size_t row = first; row < end; row++) {
		uint16_t w = width_of(&t->columns[col], table_value(t, row, col));

		*longest = w > *longest ? w : *longest;
	}
	s->need[col].width = *longest > s->longest[1][col] ? *longest : s->longest[1][col];
}

static enum layout_empty count_empty(const struct table *t, size_t col, size_t first, size_t end)
{
	size_t empty = 0;

	for (size_t row = first; row < end; row++)
		empty += table_is_nothing(&t->columns[col], table_value(t, row, col));
	if (empty == end - first)
		return LAYOUT_ALL_EMPTY;
	return empty * 2 > end - first ? LAYOUT_MOST_EMPTY : LAYOUT_FEW_EMPTY;
}

static void judge(struct seen *s, size_t col, enum layout_empty empty, bool jumped, bool is_next)
{
	struct layout_need *need = &s->need[col];

	if (empty == need->empty)
		s->against[col] = 0;
	else if (is_next)
		s->against[col]++;
	if (jumped || s->against[col] >= AGAINST) {
		need->empty = (uint8_t)empty;
		s->against[col] = 0;
	}
}

void seen_rows(struct seen *s, const struct table *t, size_t first, size_t n, uint64_t tick)
{
	size_t columns = t->n_columns < TABLE_COLUMNS ? t->n_columns : TABLE_COLUMNS;
	size_t end = first + n < t->n_rows ? first + n : t->n_rows;
	bool jumped = jumps(s, tick) || n != s->page;

	if (first >= end)
		return;
	begin_period(s, tick);
	for (size_t col = 0; col < columns; col++) {
		if (!(t->columns[col].flags & COLUMN_SCREEN))
			continue;
		judge(s, col, count_empty(t, col, first, end), jumped, tick != s->tick);
		if (t->columns[col].type == COLUMN_TEXT)
			measure_texts(s, t, col, first, end);
	}
	s->tick = tick;
	s->page = n;
	s->any = true;
}
