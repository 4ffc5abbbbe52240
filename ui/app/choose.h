/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_CHOOSE_H
#define KONTEND_UI_APP_CHOOSE_H

#include "kontend/command.h"
#include "widgets/chooser.h"

struct app;
struct table_kind;
struct table_widget;

enum choose_kind {
	CHOOSE_NONE,
	CHOOSE_BY,
	CHOOSE_SORT,
	CHOOSE_COLUMNS,
	CHOOSE_EVENTS,
	CHOOSE_THEME
};

/* The list over the view that has the keys, if there is one. */
struct app_choose {
	enum choose_kind kind;
	struct chooser list;
	const struct table_kind *columns_of; /* CHOOSE_COLUMNS: the table */
};

/* Opens the list of a command without its argument. False: it is none of these commands. */
bool app_choose(struct app *a, enum command c, const struct command_arg *arg);
/* A key or a click, while there is a list. */
void app_choose_key(struct app *a, const struct display_input *in);
/* The list, if there is one, and what its keys do. */
void app_choose_draw(struct app *a, struct rect r);
void app_choose_keys(struct app *a, struct rect r);
/* If the last command gave rows another order, says what the column means. */
void app_choose_explain(struct app *a);
/* Says which views have rows by different things, as this one has not. */
void app_choose_groups(struct app *a);
/* For the kinds of lists: opens an empty one. */
struct chooser *app_choose_open(struct app *a, enum choose_kind kind, const char *title);
/* The table that is sorted, as it was drawn last; NULL: none, and a message said why. */
const struct table_widget *app_choose_table(struct app *a);
/* ui/app/choose-columns.c */
void app_choose_columns(struct app *a);
void app_choose_take_columns(struct app *a);

#endif
