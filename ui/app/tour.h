/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_TOUR_H
#define KONTEND_UI_APP_TOUR_H

#include "kontend/display.h"
#include "kontend/screen.h"

#include <stdbool.h>

struct app;

/* A walk through the views, a callout below each: the one that is shown, from 1; 0: none. */
struct app_tour {
	unsigned step;
	bool compares;	/* it has set the marks */
	char fact[400]; /* what the callout says of what is shown; "": nothing */
	const struct app_workload *workload;
	const struct app_walk *walk; /* NULL: the views' */
};

/* From its beginning; starts a workload to look at if a callback for that is set. */
void app_tour_begin(struct app *a);
/* True: the key was for the tour. */
bool app_tour_key(struct app *a, uint32_t key);
/* Would a tour show more than the screen does? Hardly anything waits. */
bool app_tour_is_offered(const struct app *a);
/* How many lines of the body the callout takes; 0: there is none. */
int app_tour_lines(const struct app *a, struct rect body);
void app_tour_draw(struct app *a, struct rect r);

#endif
