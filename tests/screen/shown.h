/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SHOWN_H
#define KONTEND_TESTS_SHOWN_H

#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/engine.h"
#include "kontend/screen.h"
#include "streams.h"

/* The screen of a canned stream, after eight ticks; its clock stands still. */
struct shown {
	const char *stream, *page; /* page: for messages of the test */
	struct synth *synth;
	struct engine engine;
	struct display *display;
	struct app *app;
};

void shown_open(struct shown *t, const char *stream, int w, int h); /* aborts on failure */
void shown_close(struct shown *t);
void shown_resize(struct shown *t, int w, int h);
void shown_press(struct shown *t, uint32_t key);
void shown_type(struct shown *t, const char *keys); /* '>' is Enter */

#endif
