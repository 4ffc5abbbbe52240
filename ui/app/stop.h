/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_STOP_H
#define KONTEND_UI_APP_STOP_H

#include "prompt.h"

struct app;

/* Waits to stop at; an empty filter is none. */
struct app_stop {
	char filter[PROMPT_TEXT + 16], text[PROMPT_TEXT]; /* as it is asked, as it was written */
	uint64_t since_ns;				  /* those that ended before do not count */
};

/* Sets what to stop at; NULL asks, "off" is nothing. */
void app_stop_on(struct app *a, const char *text);
/* At a tick: freezes the screen if there is such a wait. */
void app_stop_tick(struct app *a);

#endif
