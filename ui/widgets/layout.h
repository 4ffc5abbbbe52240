/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_LAYOUT_H
#define KONTEND_UI_WIDGETS_LAYOUT_H

#include "kontend/screen.h"
#include "kontend/table.h"

#include <stdbool.h>

/* Places on the screen: pure functions of sizes. Rectangles never overlap or leave their parent. */

enum { LAYOUT_MIN_W = 60, LAYOUT_MIN_H = 15, LAYOUT_WIDE_W = 120, LAYOUT_SIDE_W = 160 };

struct layout_app {
	bool too_small; /* only `all` is set */
	struct rect all, header, ribbon, verdict, crumbs /* h 0: none */, body, bar;
};

/* Lines that are there above the view. */
struct layout_has {
	int ribbon; /* lines */
	bool verdict, crumbs;
};

struct layout_app layout_app(int w, int h, struct layout_has has);

/*
 * Cuts @r into @n parts, from the top (or from the left). Each gets its `min` in order while it
 * lasts (a part whose min does not fit gets nothing), then up to `want`, then the rest by `weight`.
 */
struct layout_part {
	int min, want, weight;
};

void layout_rows(struct rect r, const struct layout_part *p, size_t n, struct rect *ret);
void layout_cols(struct rect r, const struct layout_part *p, size_t n, struct rect *ret);

/*
 * From LAYOUT_SIDE_W on the page of the selected row is beside the list, with a rule between them.
 * On a narrower screen the list has all of it, and the others are empty.
 */
struct layout_side {
	struct rect list, rule, page;
};

struct layout_side layout_side(struct rect r);

/* The room that rows need in a column. */
struct layout_need {
	uint16_t width; /* of its longest text; 0: not known, or it has no text */
	uint8_t empty;	/* enum layout_empty */
};

/* How many rows have nothing in a column: a dot or a dash. */
enum layout_empty { LAYOUT_FEW_EMPTY, LAYOUT_MOST_EMPTY, LAYOUT_ALL_EMPTY };

struct layout_room {
	int width, screen_w;
	const struct layout_need *need; /* by column; NULL: not known */
};

enum { LAYOUT_NAME_MOST = 100 }; /* columns that one text gets */

/*
 * Columns of a table: those with COLUMN_SCREEN by priority while they fit, in table order, one
 * blank between. On a narrow screen COLUMN_WIDE ones share what is left; which columns are shown
 * does not follow from the rows. On a wide one, which has LAYOUT_WIDE_W columns or more, empty ones
 * are left out (those that matter most only where all rows are, if there is no page beside the
 * list), names get what they need before any other column comes, then other texts; what is left
 * after that is put between columns, and at the right. On both, texts that are cut take the blanks
 * of others. Returns the number, at most @max.
 */
struct layout_column {
	size_t col; /* index into columns */
	int x, w;
};

size_t layout_columns(const struct column *columns, size_t n, const struct layout_room *room,
		      struct layout_column *ret, size_t max);

/* The rectangle without its first @n lines. */
struct rect layout_below(struct rect r, int n);

/* How far a table is scrolled sideways: the caller sets `shift`, the function sets the rest. */
struct table_scroll {
	size_t shift;	  /* columns; limited to the number that brings the last one into view */
	bool left, right; /* there are more columns on that side */
};

/*
 * Columns of a table in that room: those of layout_columns(), or scrolled. If there are more to the
 * right, the last title leaves a cell for a mark. @sorted: the column whose title has a mark.
 */
size_t table_scroll_columns(struct table_scroll *s, const struct column *columns, size_t n,
			    size_t sorted, const struct layout_room *room,
			    struct layout_column *ret, size_t max);

#endif
