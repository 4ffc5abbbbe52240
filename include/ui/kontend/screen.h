/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCREEN_H
#define KONTEND_SCREEN_H

#include "kontend/display.h"

struct textbuf;

/* The grid that one frame is drawn into, and rectangles of it. Drawing outside is clipped. */
struct screen {
	struct display_cell *cells;
	int w, h;
	bool ascii;
	bool is_passive;     /* what is drawn has no keys: no row is marked as selected */
	bool letters;	     /* in place of colours of maps */
	struct textbuf *row; /* takes what the selected row says in full; NULL: not wanted */
};

struct rect {
	int x, y, w, h;
};

int screen_resize(struct screen *s, int w, int h); /* 0 or -ENOMEM; contents are cleared */
void screen_clear(struct screen *s);
void screen_deinit(struct screen *s);
/*
 * Writes UTF-8 text at (x, y) clipped to @r (a wide character that does not fit becomes a space),
 * cleaned of control characters; x and y are relative to @r. Returns the column after the text.
 * A word that is cut at the right ends in a mark; a figure is there as a whole, or a mark is.
 */
int screen_put(struct screen *s, struct rect r, int x, int y, enum role role, const char *text);
/* The same for a table's cell: a mark also between two words, and of "name/812" the id stays. */
int screen_put_name(struct screen *s, struct rect r, int x, int y, enum role role,
		    const char *text);
int screen_printf(struct screen *s, struct rect r, int x, int y, enum role role, const char *fmt,
		  ...) __attribute__((format(printf, 6, 7)));
void screen_fill(struct screen *s, struct rect r, uint32_t ch, enum role role);
/* Gives all cells of row y of @r that role (selection). */
void screen_mark(struct screen *s, struct rect r, int y, enum role role);
/* Reverses one cell on top of its role: a cursor. */
void screen_reverse(struct screen *s, struct rect r, int x, int y);
/*
 * For who draws the selected row: is it asked for? Then each of its columns is put, as it is before
 * it is cut to its width; cleaned, with tabs between, and commas between the lines of a list.
 */
bool screen_row_begin(struct screen *s);
void screen_row_put(struct screen *s, const char *text);
/* The grid as UTF-8 text, a line a row, trailing blanks cut: golden tests and the P key. */
int screen_text(const struct screen *s, char **ret_text /* mem_free() */);

/* A pen for one line of words in several roles; it stops at the end of the line. */
struct line {
	struct screen *s;
	struct rect r;
	int x, y;
};

void line_put(struct line *l, enum role role, const char *text);
void line_printf(struct line *l, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes only if all of it fits: a figure that is cut off would read as another one. */
bool line_whole(struct line *l, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Leaves out a bracket that does not fit as a whole, and the text after it. */
void line_put_brackets(struct line *l, enum role role, const char *text);

#endif
