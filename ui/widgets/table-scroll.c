// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table that has more columns than room is a strip: what says what a row is, which stays; then
 * the columns that have room by their importance; then those that have none, each part in the order
 * of the table. Scrolling by one takes the first of those that do not stay out of view. So the
 * first key already shows what could not be seen, and nothing moves that stays.
 */
#include "table-scroll.h"

#include "kontend/query-columns.h"
#include "kontend/text.h"

/* Fixed columns take at most this part of the width; the first is cut to that. */
enum { STAY_PARTS = 3, PARTS = 5 };

struct strip {
	const struct column *columns;
	size_t at[TABLE_COLUMNS], n, stay;
	size_t from;	     /* where the part that moves begins, less the first step */
	int first_w, stay_w; /* of the first; of all that stays; with the blanks after them */
};

static bool is_in(const size_t *at, size_t n, size_t column)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == column)
			return true;
	return false;
}

static void add_column(struct strip *s, size_t column)
{
	if (!is_in(s->at, s->n, column))
		s->at[s->n++] = column;
}

static int width_at(const struct strip *s, size_t i)
{
	return i ? s->columns[s->at[i]].width + 1 : s->first_w;
}

static struct strip make_strip(const struct column *columns, size_t n,
			       const struct layout_column *shown, size_t n_shown, int width)
{
	struct strip s = {.columns = columns};
	int most = width * STAY_PARTS / PARTS;

	for (size_t i = 0; i < n_shown; i++) {
		const struct column *c = &columns[shown[i].col];
		int w = c->width + 1;

		if (!i)
			w = s.first_w = w < most ? w : most;
		else if (!query_columns_is_name(c) || s.stay_w + w > most)
			continue;
		add_column(&s, shown[i].col);
		s.stay_w += w;
	}
	s.stay = s.n;
	for (size_t i = 0; i < n_shown; i++)
		add_column(&s, shown[i].col);
	/* Where nothing but what stays is shown, the first step takes nothing out of view. */
	s.from = s.n > s.stay ? s.stay : s.stay - 1;
	for (size_t i = 0; i < n; i++)
		if (columns[i].flags & COLUMN_SCREEN)
			add_column(&s, i);
	return s;
}

/* From where on all have room, or the last one alone; at least one further than the beginning. */
static size_t most_shift(const struct strip *s, int room)
{
	size_t at = s->n - 1;
	int used = width_at(s, at);

	while (at > s->stay && used + width_at(s, at - 1) <= room)
		used += width_at(s, --at);
	return at > s->from ? at - s->from : 1;
}

static size_t put_column(struct layout_column *ret, size_t used, size_t column, int w)
{
	const struct layout_column *before = used ? &ret[used - 1] : NULL;

	ret[used] = (struct layout_column){
		.col = column, .x = before ? before->x + before->w + 1 : 0, .w = w};
	return used + 1;
}

/* Gives the width left over to the first column that can take it. */
static void widen(struct layout_column *ret, size_t used, const struct column *columns, int width)
{
	int spare = width - ret[used - 1].x - ret[used - 1].w;
	size_t wide = 0;

	while (wide < used && !(columns[ret[wide].col].flags & COLUMN_WIDE))
		wide++;
	if (wide == used || spare <= 0)
		return;
	ret[wide].w += spare;
	for (size_t i = wide + 1; i < used; i++)
		ret[i].x += spare;
}

/* The last cell is kept for the mark. */
static size_t place(struct table_scroll *s, const struct strip *strip, int width,
		    struct layout_column *ret, size_t max)
{
	int left = width - 1 - strip->stay_w;
	size_t most = most_shift(strip, left + 1), used = 0, at;

	s->shift = s->shift < most ? s->shift : most;
	for (size_t i = 0; i < strip->stay && used < max; i++)
		used = put_column(ret, used, strip->at[i], width_at(strip, i) - 1);
	for (at = strip->from + s->shift; at < strip->n && used < max; at++) {
		int w = width_at(strip, at) - 1;

		if (w > left && used > strip->stay)
			break;
		w = w < left ? w : left;
		if (w <= 0)
			break;
		used = put_column(ret, used, strip->at[at], w);
		left -= w + 1;
	}
	s->left = s->shift > 0;
	s->right = at < strip->n;
	widen(ret, used, strip->columns, width - 1);
	return used;
}

static bool is_full(const struct column *columns, size_t sorted, const struct layout_column *last,
		    int width)
{
	return last->x + last->w >= width &&
	       text_width(columns[last->col].title) + (last->col == sorted) >= last->w;
}

static bool has_more(const struct column *columns, size_t n, size_t shown)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += (columns[i].flags & COLUMN_SCREEN) != 0;
	return all > shown;
}

size_t table_scroll_columns(struct table_scroll *s, const struct column *columns, size_t n,
			    size_t sorted, int width, struct layout_column *ret, size_t max)
{
	size_t used = layout_columns(columns, n, width, ret, max);
	struct strip strip;

	n = n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
	s->left = false;
	s->right = used && has_more(columns, n, used);
	if (!s->right) {
		s->shift = 0;
		return used;
	}
	if (is_full(columns, sorted, &ret[used - 1], width))
		used = layout_columns(columns, n, width - 1, ret, max);
	strip = make_strip(columns, n, ret, used, width);
	return s->shift && used ? place(s, &strip, width, ret, max) : used;
}
