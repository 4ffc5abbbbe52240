/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_SIDE_H
#define KONTEND_UI_APP_SIDE_H

#include "kontend/view.h"

struct app;

/* A view that opens from a row, and its subject. */
struct app_page {
	const struct view_ops *ops;
	const struct query_scope *scope;
	struct query_events_scope events;
	uint64_t row;
	const char *title;
};

/* The page of the selected row, beside the view on a wide screen. */
struct app_side {
	struct view *view;	/* NULL: none is shown, or the row has no page */
	const struct view *of;	/* the view that has the row; for comparison only */
	struct rect list, rect; /* in the last frame; rect.w 0: there was no room */
	bool is_off;		/* the user wants none */
	bool has_keys;		/* commands go to it, and it stays the page of its row */
	/* At this moment: the view is asked for its page; a command goes to the page; it is drawn.
	 */
	bool is_asked, acts, is_drawn;
	bool came;     /* the answer of the view that was asked last */
	char why[512]; /* there is no page */
};

/* Divides @body; returns the part of the view. */
struct rect app_side_place(struct app *a, struct rect body);
/* After the view was drawn: the page of the row that it has selected. */
void app_side_draw(struct app *a);
void app_side_close(struct app *a);
/*
 * A view wants to open a page. 1: it shall go on the stack. Otherwise it is there: beside the view,
 * as that was asked for it, or on the stack, where the one beside the view has moved to. Or a
 * negative errno.
 */
int app_side_take(struct app *a, const struct app_page *p);
/* Moves the keys to the page, from it, or by a place on the screen. False: nothing was changed. */
bool app_side_enter(struct app *a);
bool app_side_leave(struct app *a);
bool app_side_tab(struct app *a, bool forward);
bool app_side_point(struct app *a, int x, int y);
/* The page is shown, or not any more. */
void app_side_turn(struct app *a);

#endif
