/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_FIND_H
#define KONTEND_UI_APP_FIND_H

#include "kontend/command.h"

struct app;
struct app_entry;

/* Filters, and searches: n repeats the last one of both. */
void app_find_keep(struct app *a, struct app_entry *e, const char *filter);
/* Of the view on top; @text NULL: asks for it. */
void app_find_filter(struct app *a, const char *text);
void app_find_text(struct app *a, const char *text);
/* The text in the prompt for a filter so far; @cancelled: the old filter is back. */
void app_find_typed(struct app *a, const char *line, bool cancelled);
void app_find_next(struct app *a, enum command c);

#endif
