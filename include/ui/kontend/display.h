/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DISPLAY_H
#define KONTEND_DISPLAY_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of a cell, not its look: the display maps roles to its theme. */
enum role {
	ROLE_NORMAL,
	ROLE_DIM,
	ROLE_BOLD,
	ROLE_HEADER, /* first line */
	ROLE_TITLE,  /* column headers */
	ROLE_SORTED, /* that of the column that rows are sorted by */
	ROLE_SELECTED,
	ROLE_BAR, /* key bar */
	ROLE_KEY, /* the key in it */
	ROLE_WARN,
	ROLE_ERROR,
	ROLE_HEAT_LOW, /* share of the worst: below 5 %, 20 %, above */
	ROLE_HEAT_MID,
	ROLE_HEAT_HIGH,
	ROLE_WAITING,
	ROLE_NEW,   /* appeared in the last tick */
	ROLE_GRAPH, /* bars and sparklines */
	ROLE_MATCH, /* what a search found */
	/* Boxes of flame graphs: what names tasks, functions of programs, of the kernel, of locks.
	 */
	ROLE_FRAME_NAME,
	ROLE_FRAME_USER,
	ROLE_FRAME_KERNEL,
	ROLE_FRAME_LOCK,
	/* Boxes of two flame graphs as one, by how much less or more there is in the second. */
	ROLE_LESS_MOST,
	ROLE_LESS,
	ROLE_LESS_SOME,
	ROLE_MORE_SOME,
	ROLE_MORE,
	ROLE_MORE_MOST,
	/* Cells of heat maps: ROLE_MAP + level in front * MAP_LEVELS + level of the ground. */
	ROLE_MAP,
	ROLES = ROLE_MAP + 64,
};

/* Nothing, six levels from little to much, and a part of the map that is marked and has nothing. */
enum { MAP_LEVELS = 8 };

struct display_cell {
	uint32_t ch; /* Unicode; 0: right half of a wide character */
	uint8_t role;
	uint8_t attr; /* DISPLAY_REVERSE: on top of the role */
};

enum { DISPLAY_REVERSE = 1 };

/* Keys: Unicode below KEY_FIRST, else one of these. */
enum display_key {
	KEY_FIRST = 0x110000,
	KEY_K_UP,
	KEY_K_DOWN,
	KEY_K_LEFT,
	KEY_K_RIGHT,
	KEY_K_SLEFT, /* with Shift */
	KEY_K_SRIGHT,
	KEY_K_PGUP,
	KEY_K_PGDN,
	KEY_K_HOME,
	KEY_K_END,
	KEY_K_ENTER,
	KEY_K_ESC,
	KEY_K_TAB,
	KEY_K_BTAB,
	KEY_K_BACKSPACE,
	KEY_K_DEL,
	KEY_K_F1,
	KEY_K_F2,
	KEY_K_F3,
	KEY_K_F4,
	KEY_K_F5,
	KEY_K_F6,
	KEY_K_F7,
	KEY_K_F8,
	KEY_K_F9,
	KEY_K_F10,
	KEY_K_RESIZE,
	KEY_K_CLICK, /* with x, y */
	KEY_K_DCLICK,
	KEY_K_WHEEL_UP,
	KEY_K_WHEEL_DOWN,
	KEY_K_CTRL = 0x120000, /* | letter: Ctrl-L is KEY_K_CTRL | 'l' */
};

struct display_input {
	uint32_t key; /* 0: nothing */
	int x, y;     /* mouse */
};

struct display;

struct display_ops {
	void (*size)(struct display *d, int *ret_w, int *ret_h);
	/* Shows the grid (w x h cells, row by row); only differences reach the terminal. */
	void (*blit)(struct display *d, const struct display_cell *cells, int w, int h);
	/* Next key, not waiting. */
	void (*input)(struct display *d, struct display_input *ret);
	int (*fd)(struct display *d);	    /* readable when there is input; -1: none */
	void (*suspend)(struct display *d); /* leaves the terminal as it was, stops, comes back */
	void (*free)(struct display *d);
	void (*redraw)(struct display *d); /* the next blit repaints every cell; may be NULL */
	/* Another theme: 0, -EINVAL when unknown; may be NULL. */
	int (*theme)(struct display *d, const char *name);
	/* A terminal may take a frame slowly, or not at all: sends what it takes now of the last
	 * one. The descriptor that is writable (POLLOUT) when it takes more, -1: nothing is left.
	 * Until then blit() shows nothing. May be NULL: a frame is shown at once. */
	int (*pending)(struct display *d);
	/* @text to the clipboard, with the next frame: 0, -EOPNOTSUPP (there is none that we know),
	 * -E2BIG (longer than DISPLAY_COPY_MAX), -ENOMEM; may be NULL: there is none. */
	int (*copy)(struct display *d, const char *text);
};

enum { DISPLAY_COPY_MAX = 48 << 10 }; /* bytes; terminals take 64 KiB of them as base64 */

struct display {
	const struct display_ops *ops;
	bool ascii;
	bool letters; /* it has too few colours for maps */
};

/*
 * A display without a terminal and without keys: the caller reads the cells from the app. 0 or
 * -ENOMEM; free it by display->ops->free().
 */
int display_new_paper(struct display **ret, int w, int h, bool ascii);

#endif
