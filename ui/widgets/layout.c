// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places on the screen: pure functions of sizes, without state, so that a property test can try all
 * sizes. One function (`cut`) cuts a length into parts: it gives each part its minimum in order,
 * then the size that it wants, then distributes the rest by weight. Parts touch, never overlap and
 * never leave their parent; a part that does not fit has size 0.
 *
 * On a wide screen the columns of a table have the width that their texts need, as far as the rows
 * that are seen say, so that a number stays near the name that it is of: what is left over becomes
 * at most two more blanks between columns, and remains at the right. Columns are chosen by priority
 * as on a narrow screen, but those of names take their need first, and empty ones are left out. On
 * a narrow screen all columns have their places. On both, texts that are cut take the blanks of
 * others.
 *
 * A table with more columns than room becomes a strip: first the columns that name the row, which
 * stay; then the columns that fit, by priority; then the others, each part in the order of the
 * table. Each scroll step drops the first column of those that move. So the first key press shows a
 * hidden column, and columns that remain visible keep their order.
 */
#include "layout.h"
#include "kontend/query-columns.h"
#include "kontend/text.h"

#include <stdbool.h>
#include <string.h>

enum { PARTS = 16 };

/* The page of a row: a third of the narrowest screen that has one, and no more than it can use. */
enum { SIDE_LESS = 21, SIDE_MOST = 120 };

struct layout_side layout_side(struct rect r)
{
	struct layout_side l = {.list = r};
	int w = r.w / 2 - SIDE_LESS;

	if (r.w < LAYOUT_SIDE_W)
		return l;
	w = w < SIDE_MOST ? w : SIDE_MOST;
	l.list.w = r.w - w - 1;
	l.rule = (struct rect){r.x + l.list.w, r.y, 1, r.h};
	l.page = (struct rect){l.rule.x + 1, r.y, w, r.h};
	return l;
}

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

/* Names of a row take at most 3/4 of the width before other columns have a place. */
enum { NAMES_NUMERATOR = 3, NAMES_DENOMINATOR = 4, SPREAD = 2 };

static bool is_text(const struct column *c)
{
	return c->type == COLUMN_TEXT;
}

/* Does it name the row, or have the figure that rows are sorted by? That one is always there. */
static bool is_name(const struct column *c)
{
	return is_text(c) && c->priority == 0;
}

static bool is_wide(const struct layout_room *room)
{
	return room->screen_w >= LAYOUT_WIDE_W;
}

/*
 * Nothing is hidden where the user sees but a few columns, nor what a row is known by. Columns that
 * matter most, such as holders, are hidden where the page of a row has their figures.
 */
static bool has_place(const struct column *c, const struct layout_room *room, size_t col)
{
	bool has_page = room->screen_w >= LAYOUT_SIDE_W;
	unsigned most = c->priority > 1 || has_page ? LAYOUT_FEW_EMPTY : LAYOUT_MOST_EMPTY;
	bool is_empty = is_wide(room) && room->need && room->need[col].empty > most;

	return c->flags & COLUMN_SCREEN && !(is_empty && c->priority);
}

/* The width in which no text of the column is cut. */
static int need_of(const struct column *c, const struct layout_room *room, size_t col)
{
	int need = is_wide(room) && room->need && is_text(c) ? room->need[col].width : 0;

	need = need < LAYOUT_NAME_MOST ? need : LAYOUT_NAME_MOST;
	return need > c->width ? need : c->width;
}

/* Column widths while they are worked out. 0: it has no place. */
struct widths {
	const struct column *columns;
	const struct layout_room *room;
	size_t n;
	int w[TABLE_COLUMNS];
};

static bool grows(const struct widths *s, size_t i, bool names)
{
	return s->w[i] > 0 && is_name(&s->columns[i]) == names &&
	       s->w[i] < need_of(&s->columns[i], s->room, i);
}

/* Turn by turn, so that of two long texts none gets all. Returns what is left of @spare. */
static int grow(struct widths *s, bool names, unsigned priority, int spare)
{
	bool any = true;

	while (any && spare > 0) {
		any = false;
		for (size_t i = 0; i < s->n && spare > 0; i++) {
			if (!grows(s, i, names) || s->columns[i].priority > priority)
				continue;
			s->w[i]++;
			spare--;
			any = true;
		}
	}
	return spare;
}

/* The room that names take before the other columns come. */
static void claim_names(struct widths *s)
{
	int spare = s->room->width * NAMES_NUMERATOR / NAMES_DENOMINATOR;

	for (size_t i = 0; i < s->n; i++)
		if (s->w[i] && !s->columns[i].priority)
			spare -= s->w[i] + 1;
	grow(s, true, 0, spare);
}

/*
 * Which columns are shown, and how wide they begin: the rest have the width 0. Returns what is left
 * of the width. Names that can be read come before what is nice to have.
 */
static int choose(struct widths *s)
{
	struct table_room room[TABLE_COLUMNS] = {0};
	bool taken[TABLE_COLUMNS];

	for (size_t i = 0; i < s->n; i++) {
		const struct column *c = &s->columns[i];

		s->w[i] = has_place(c, s->room, i) ? c->width : 0;
	}
	if (is_wide(s->room))
		claim_names(s);
	for (size_t i = 0; i < s->n; i++) {
		const struct column *c = &s->columns[i];
		int more = c->flags & COLUMN_WIDE ? c->width / 2 : 0;

		if (is_wide(s->room))
			more = is_name(c) ? 0 : need_of(c, s->room, i) - c->width;
		room[i] = (struct table_room){
			.width = s->w[i], .more = more, .priority = c->priority};
	}
	/* There is no blank after the last. */
	int left = table_fit(room, s->n, s->room->width + 1, 1, taken);
	for (size_t i = 0; i < s->n; i++)
		s->w[i] = taken[i] ? s->w[i] : 0;
	return left;
}

/* A text needs what is never cut; 0: that is not known. */
static int text_need(const struct widths *s, size_t i)
{
	const struct column *c = &s->columns[i];
	int need = s->w[i] && is_text(c) && s->room->need ? s->room->need[i].width : 0;

	return need < LAYOUT_NAME_MOST ? need : LAYOUT_NAME_MOST;
}

/* Cells of a text column that are blank in all rows, and beside its title and the mark of order. */
static int slack_of(const struct widths *s, size_t i)
{
	int need = text_need(s, i), title = text_width(s->columns[i].title) + 1;

	return need ? s->w[i] - (need > title ? need : title) : 0;
}

/* The column that matters least of those that have slack; s->n: none has. */
static size_t find_slack(const struct widths *s)
{
	size_t at = s->n;

	for (size_t i = 0; i < s->n; i++)
		if (slack_of(s, i) > 0 &&
		    (at == s->n || s->columns[i].priority >= s->columns[at].priority))
			at = i;
	return at;
}

/*
 * When columns have been chosen, texts that are cut take the blanks of others, those that matter
 * most first, turn by turn. On a narrow screen columns were chosen by their usual widths, whatever
 * rows need, so that none comes and goes with a name.
 */
static void even_out(struct widths *s)
{
	size_t from = find_slack(s);

	for (unsigned priority = 0; priority <= UINT8_MAX && from < s->n; priority++) {
		bool any = true;

		while (any && from < s->n) {
			any = false;
			for (size_t i = 0; i < s->n && from < s->n; i++) {
				if (s->columns[i].priority != priority ||
				    s->w[i] >= text_need(s, i))
					continue;
				s->w[from]--;
				s->w[i]++;
				any = true;
				from = find_slack(s);
			}
		}
	}
}

/* On a narrow screen: equal parts of what is left to all that can take it. */
static void share(struct widths *s, int spare)
{
	int wides = 0;

	for (size_t i = 0; i < s->n; i++)
		wides += s->w[i] && s->columns[i].flags & COLUMN_WIDE;
	for (size_t i = 0; i < s->n && spare > 0; i++) {
		if (!s->w[i] || !(s->columns[i].flags & COLUMN_WIDE))
			continue;
		int extra = spare / wides--;

		s->w[i] += extra;
		spare -= extra;
	}
}

/* Names first, other texts by priority. Returns the blanks between two columns. */
static int spread(struct widths *s, int spare)
{
	int shown = 0;

	spare = grow(s, true, 0, spare);
	for (unsigned priority = 0; priority <= UINT8_MAX && spare > 0; priority++)
		spare = grow(s, false, priority, spare);
	for (size_t i = 0; i < s->n; i++)
		shown += s->w[i] > 0;
	int more = shown > 1 && spare > 0 ? spare / (shown - 1) : 0;
	return 1 + (more < SPREAD ? more : SPREAD);
}

size_t layout_columns(const struct column *columns, size_t n, const struct layout_room *room,
		      struct layout_column *ret, size_t max)
{
	struct widths s = {.columns = columns, .room = room};
	int width = room->width, gap = 1, x = 0;
	size_t used = 0;

	s.n = n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
	int spare = choose(&s);
	if (is_wide(room))
		gap = spread(&s, spare);
	else
		share(&s, spare);
	even_out(&s);
	for (size_t i = 0; i < s.n && used < max; i++) {
		int w = s.w[i];

		if (!w)
			continue;
		if (x + w > width)
			w = width - x;
		if (w <= 0)
			break;
		ret[used++] = (struct layout_column){.col = i, .x = x, .w = w};
		x += w + gap;
	}
	return used;
}

/* Columns that stay take at most 3/5 of the width; the first is cut to that. */
enum { STAY_NUMERATOR = 3, STAY_DENOMINATOR = 5 };

struct strip {
	const struct column *columns;
	size_t at[TABLE_COLUMNS], n, stay;
	size_t from;	     /* begin of the part that moves, less the first step */
	int first_w, stay_w; /* of the first; of all that stay; with the blanks after them */
};

static bool strip_has(const size_t *at, size_t n, size_t column)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == column)
			return true;
	return false;
}

static void strip_add(struct strip *s, size_t column)
{
	if (!strip_has(s->at, s->n, column))
		s->at[s->n++] = column;
}

static int strip_width(const struct strip *s, size_t i)
{
	return i ? s->columns[s->at[i]].width + 1 : s->first_w;
}

static struct strip strip_of(const struct column *columns, size_t n,
			     const struct layout_column *shown, size_t n_shown, int width)
{
	struct strip s = {.columns = columns};
	int most = width * STAY_NUMERATOR / STAY_DENOMINATOR;

	for (size_t i = 0; i < n_shown; i++) {
		const struct column *c = &columns[shown[i].col];
		int w = c->width + 1;

		if (!i)
			w = s.first_w = w < most ? w : most;
		else if (!query_columns_is_name(c) || s.stay_w + w > most)
			continue;
		strip_add(&s, shown[i].col);
		s.stay_w += w;
	}
	s.stay = s.n;
	for (size_t i = 0; i < n_shown; i++)
		strip_add(&s, shown[i].col);
	/* If only columns that stay are visible, the first step drops none. */
	s.from = s.n > s.stay ? s.stay : s.stay - 1;
	for (size_t i = 0; i < n; i++)
		if (columns[i].flags & COLUMN_SCREEN)
			strip_add(&s, i);
	return s;
}

/* The first shift from which on all the rest fit, or the last one alone; at least 1. */
static size_t strip_most_shift(const struct strip *s, int room)
{
	size_t at = s->n - 1;
	int used = strip_width(s, at);

	while (at > s->stay && used + strip_width(s, at - 1) <= room)
		used += strip_width(s, --at);
	return at > s->from ? at - s->from : 1;
}

static size_t put_layout_column(struct layout_column *ret, size_t used, size_t column, int w)
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

/* Places the columns of a scrolled table; the last cell remains free for the mark. */
static size_t place_strip(struct table_scroll *s, const struct strip *strip, int width, bool wide,
			  struct layout_column *ret, size_t max)
{
	int left = width - 1 - strip->stay_w;
	size_t most = strip_most_shift(strip, left + 1), used = 0, at;

	s->shift = s->shift < most ? s->shift : most;
	for (size_t i = 0; i < strip->stay && used < max; i++)
		used = put_layout_column(ret, used, strip->at[i], strip_width(strip, i) - 1);
	for (at = strip->from + s->shift; at < strip->n && used < max; at++) {
		int w = strip_width(strip, at) - 1;

		if (w > left && used > strip->stay)
			break;
		w = w < left ? w : left;
		if (w <= 0)
			break;
		used = put_layout_column(ret, used, strip->at[at], w);
		left -= w + 1;
	}
	s->left = s->shift > 0;
	s->right = at < strip->n;
	if (!wide)
		widen(ret, used, strip->columns, width - 1);
	return used;
}

static bool is_last_full(const struct column *columns, size_t sorted,
			 const struct layout_column *last, int width)
{
	return last->x + last->w >= width &&
	       text_width(columns[last->col].title) + (last->col == sorted) >= last->w;
}

static bool has_more_columns(const struct column *columns, size_t n, size_t shown)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += (columns[i].flags & COLUMN_SCREEN) != 0;
	return all > shown;
}

/* Scrolled columns are as wide as their texts, since the user wants to read these. */
static void fit_columns(const struct column *columns, size_t n, const struct layout_room *room,
			struct column *ret)
{
	if (n)
		memcpy(ret, columns, n * sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		ret[i].width = (uint8_t)need_of(&columns[i], room, i);
}

size_t table_scroll_columns(struct table_scroll *s, const struct column *columns, size_t n,
			    size_t sorted, const struct layout_room *room,
			    struct layout_column *ret, size_t max)
{
	size_t used = layout_columns(columns, n, room, ret, max);
	struct layout_room less = *room;
	struct column fitted[TABLE_COLUMNS];

	n = n < TABLE_COLUMNS ? n : TABLE_COLUMNS;
	s->left = false;
	s->right = used && has_more_columns(columns, n, used);
	if (!s->right) {
		s->shift = 0;
		return used;
	}
	less.width--;
	if (is_last_full(columns, sorted, &ret[used - 1], room->width))
		used = layout_columns(columns, n, &less, ret, max);
	if (!s->shift || !used)
		return used;
	fit_columns(columns, n, room, fitted);
	const struct strip strip = strip_of(fitted, n, ret, used, room->width);
	return place_strip(s, &strip, room->width, is_wide(room), ret, max);
}
