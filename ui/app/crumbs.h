/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_CRUMBS_H
#define KONTEND_UI_APP_CRUMBS_H

#include "kontend/screen.h"

struct app;

enum { CRUMBS = 9 }; /* a view, and those that were opened one from the other */

/* Places, in the last frame, of the names of the views on the way here. */
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
