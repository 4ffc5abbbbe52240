/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_CRUMBS_H
#define KONTEND_UI_APP_CRUMBS_H

#include "kontend/screen.h"

struct app;

enum { CRUMBS = 9 }; /* a view, and those that were opened one from the other */

/* Where the names of the views stand that one came through, in the last frame. */
struct crumbs {
	int y; /* -1: nowhere */
	struct {
		int x, end;
	} of[CRUMBS]; /* by depth; empty: not there */
};

/* Is there anything that the line with the way to this view says? */
bool crumbs_any(struct app *a);
void crumbs_draw(struct app *a, struct rect r);
/* Goes back to the view whose name is there. False: none is. */
bool crumbs_click(struct app *a, int x, int y);

#endif
