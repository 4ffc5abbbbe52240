// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole screens of 200x60 and 300x80, of every view and stream: no column is mostly dots or dashes,
 * no text is cut where blanks are left in its table, and columns stay where they are from one
 * refresh to the next.
 */
#include "kontend/mem.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/view.h"
#include "shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLES = 64, ROWS_LEAST = 4, KEY = 400 };

/* Columns that say something by being empty. */
static const struct {
	const char *page, *title;
} exceptions[] = {
	{"chains", "BEHIND"},  /* behind a task that only waits there is none */
	{"chains", "IS"},      /* not known of a root, and none of a lock */
	{"chains", "WAITS"},   /* IN: of a page, which has the calls of the holder at least */
	{"uprobes", "HITS/s"}, /* the figure that the view is about */
};

/* A line of titles: that of a table, from side to side. */
struct head {
	int y, from, to; /* columns of the screen */
	struct title {
		int from, to;
		bool is_sorted;
	} titles[TITLES];
	int n;
};

static const struct display_cell *cell(const struct screen *s, int x, int y)
{
	return &s->cells[y * s->w + x];
}

static bool is_title(const struct screen *s, int x, int y)
{
	const struct display_cell *c = cell(s, x, y);

	return c->role == ROLE_TITLE || c->role == ROLE_SORTED;
}

static bool is_mark(uint32_t ch)
{
	return ch == 0x25b2 || ch == 0x25bc || ch == 0x203a || ch == 0x2039;
}

/* Of two words, as HELD BY, each counts: where the column begins, and where it ends. */
static void add_titles(const struct screen *s, struct head *h)
{
	struct title *t = NULL;

	for (int x = h->from; x < h->to; x++) {
		const struct display_cell *c = cell(s, x, h->y);

		if (c->ch == ' ' || c->ch == 0x203a || c->ch == 0x2039)
			continue;
		if (is_mark(c->ch)) {
			if (t)
				t->is_sorted = true;
			continue;
		}
		if ((!t || x > t->to + 1) && h->n < TITLES) {
			t = &h->titles[h->n++];
			*t = (struct title){.from = x};
		}
		t->to = x;
		t->is_sorted |= c->role == ROLE_SORTED;
	}
}

/* The line of titles that begins at (@x, @y); false: none does. */
static bool find_head(const struct screen *s, int x, int y, struct head *ret)
{
	if (!is_title(s, x, y) || (x && is_title(s, x - 1, y)))
		return false;
	*ret = (struct head){.y = y, .from = x, .to = x};
	while (ret->to < s->w && is_title(s, ret->to, y))
		ret->to++;
	add_titles(s, ret);
	return true;
}

static bool is_blank(const struct screen *s, int x, int y)
{
	return x < 0 || x >= s->w || cell(s, x, y)->ch == ' ' || cell(s, x, y)->ch == 0x2502;
}

static bool is_rule(const struct screen *s, const struct head *h, int y)
{
	return cell(s, h->from, y)->ch == 0x2500;
}

/* Rows of the table: up to a rule, or a line without a word. */
static int rows_of(const struct screen *s, const struct head *h)
{
	int n = 0;

	for (int y = h->y + 1; y < s->h - 1 && !is_rule(s, h, y); y++, n++) {
		int x = h->from;

		while (x < h->to && is_blank(s, x, y))
			x++;
		if (x == h->to)
			break;
	}
	return n;
}

/* A dot or dash alone, where a figure or a text of that column ends or begins. */
static bool is_nothing(const struct screen *s, int x, int y)
{
	uint32_t ch = cell(s, x, y)->ch;

	return (ch == 0xb7 || ch == '-') && is_blank(s, x - 1, y) && is_blank(s, x + 1, y);
}

static bool is_empty(const struct screen *s, const struct title *t, int y)
{
	return is_nothing(s, t->from, y) || is_nothing(s, t->to, y) ||
	       (t->is_sorted && is_nothing(s, t->to + 1, y));
}

static bool is_exception(const struct shown *t, const struct head *h, const struct title *of)
{
	const struct screen *s = app_screen(t->app);
	char text[64] = "";
	size_t n = 0;

	for (int x = of->from; x <= of->to && n + 8 < sizeof(text); x++)
		n += (size_t)text_encode(text + n, cell(s, x, h->y)->ch);
	text[n] = '\0';
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
		if (!strcmp(exceptions[i].page, t->page) && !strcmp(exceptions[i].title, text))
			return true;
	return false;
}

static int complain(const struct shown *t, const char *what, const struct head *h, int column)
{
	const struct screen *s = app_screen(t->app);
	char *text;

	if (screen_text(s, &text) < 0)
		abort();
	fprintf(stderr, "%s, %s, %dx%d: %s (line %d, title %d)\n%s", t->stream, t->page, s->w, s->h,
		what, h->y, column, text);
	mem_free(text);
	return 1;
}

static int check_dots(const struct shown *t, const struct head *h, int rows)
{
	const struct screen *s = app_screen(t->app);

	for (int i = 0; i < h->n; i++) {
		int n = 0;

		for (int y = h->y + 1; y <= h->y + rows; y++)
			n += is_empty(s, &h->titles[i], y);
		if (n * 2 > rows && !h->titles[i].is_sorted && !is_exception(t, h, &h->titles[i]))
			return complain(t, "a column is mostly dots or dashes", h, i);
	}
	return 0;
}

/* Blanks at the right end of all rows and the titles. */
static int blanks_of(const struct screen *s, const struct head *h, int rows)
{
	int n = 0;

	for (int x = h->to - 2; x > h->from; x--, n++)
		for (int y = h->y; y <= h->y + rows; y++)
			if (!is_blank(s, x, y))
				return n;
	return n;
}

/* A name that is cut: its mark, and a blank after it. The mark within a name is part of it. */
static int check_cuts(const struct shown *t, const struct head *h, int rows)
{
	const struct screen *s = app_screen(t->app);

	for (int y = h->y + 1; y <= h->y + rows && blanks_of(s, h, rows) > 1; y++)
		for (int x = h->from; x < h->to; x++)
			if (cell(s, x, y)->ch == 0x2026 && is_blank(s, x + 1, y))
				return complain(t, "a text is cut beside blanks", h, -1);
	return 0;
}

static int check_screen(const struct shown *t)
{
	const struct screen *s = app_screen(t->app);
	struct head h;
	int bad = 0;

	for (int y = 1; y < s->h - 1; y++)
		for (int x = 0; x < s->w; x++) {
			if (!find_head(s, x, y, &h))
				continue;
			int rows = rows_of(s, &h);
			if (rows >= ROWS_LEAST)
				bad += check_dots(t, &h, rows);
			bad += check_cuts(t, &h, rows);
		}
	return bad;
}

/* Where titles are, as text. */
static void places(const struct shown *t, char ret[KEY])
{
	const struct screen *s = app_screen(t->app);
	struct head h;
	size_t n = 0;

	ret[0] = '\0';
	for (int y = 1; y < s->h - 1; y++) {
		if (!find_head(s, 0, y, &h))
			continue;
		for (int i = 0; i < h.n && n + 8 < KEY; i++)
			n += (size_t)snprintf(ret + n, KEY - n, "%d ", h.titles[i].from);
		return;
	}
}

/* The list of locks while time goes by: its columns move only as names come. */
static int check_places(const char *stream)
{
	struct shown t;
	struct error err = {0};
	char before[KEY] = "", now[KEY];
	int moves = 0, ticks = 0;

	shown_open(&t, stream, 200, 60);
	t.page = "2";
	shown_type(&t, "2");
	for (places(&t, before); app_tick(t.app, &err) == ENGINE_TICK && ticks < 40; ticks++) {
		app_draw(t.app);
		places(&t, now);
		moves += strcmp(before, now) != 0;
		snprintf(before, KEY, "%s", now);
	}
	if (moves > 1)
		fprintf(stderr, "%s: columns moved %d times in %d ticks\n", stream, moves, ticks);
	shown_close(&t);
	return moves > 1;
}

int main(int argc, char **argv)
{
	static const int sizes[][2] = {{200, 60}, {300, 80}};
	int bad = 0;

	if (argc < 2)
		return 2;
	for (int i = 1; i < argc; i++) {
		struct shown t;

		shown_open(&t, argv[i], 200, 60);
		for (size_t v = 0; view_roots[v]; v++)
			for (size_t k = 0; k < 2; k++) {
				char keys[64];

				snprintf(keys, sizeof(keys), ":view %s>", view_roots[v]->name);
				t.page = view_roots[v]->name;
				shown_resize(&t, sizes[k][0], sizes[k][1]);
				shown_type(&t, keys);
				bad += check_screen(&t);
			}
		shown_close(&t);
		bad += check_places(argv[i]);
	}
	return bad != 0;
}
