/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_ARROWS_H
#define KONTEND_UI_VIEWS_ARROWS_H

#include "kontend/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Jumps of a listing as lines from their row to the row of their target, in lanes beside it. Jumps
 * to one target share a lane. Lane 0 is next to the text.
 */
struct arrow {
	uint32_t from, to; /* rows */
	uint8_t lane;	   /* ARROW_NO_LANE: there was no room */
};

enum { ARROW_LANES = 12, ARROW_NO_LANE = 255 };

struct arrows {
	struct arrow *items;
	size_t n;
	unsigned lanes; /* that have lines */
	bool left_out;	/* some have none; one of them at a time is drawn in a lane more */
};

/*
 * Gives lanes to jumps over at most @reach rows, the shortest first; at most @lanes of them. The
 * items are put into the order of their targets. 0 or -ENOMEM.
 */
int arrows_place(struct arrows *a, struct arena *arena, size_t n_rows, size_t reach,
		 unsigned lanes);
/* Columns that they take: lanes, and one for heads; 0: there are none. */
unsigned arrows_width(const struct arrows *a);

/* The parts of a cell. */
enum {
	ARROW_UP = 1,
	ARROW_DOWN = 2,
	ARROW_RIGHT = 4,
	ARROW_LEFT = 8,
	ARROW_JOINS = 16, /* the line that goes up or down turns here */
	ARROW_HEAD = 32,
	ARROW_CHOSEN = 64, /* it is of a jump from, or to, the chosen row */
};

/*
 * Draws what is to be seen of them in rows @top to @top + @h - 1: @h times arrows_width() cells,
 * zeroed before. A jump from row @chosen is there in any case.
 */
void arrows_draw(const struct arrows *a, size_t top, size_t h, size_t chosen, uint8_t *cells);
const char *arrows_glyph(uint8_t cell);

#endif
