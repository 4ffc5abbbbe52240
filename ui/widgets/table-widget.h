/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_TABLE_WIDGET_H
#define KONTEND_UI_WIDGETS_TABLE_WIDGET_H

#include "kontend/command.h"
#include "kontend/query.h"
#include "kontend/screen.h"
#include "seen.h"

struct query_columns;

/* Answers of *_widget_command() besides 0 = done. The first equals VIEW_UNHANDLED. */
enum {
	WIDGET_UNHANDLED = 1,
	WIDGET_ENTER = 2, /* Enter or a double click on a row: the view opens widget->selected */
};

/* A set of ids: sorted, without doubles. `= {0}` is empty. */
struct widget_ids {
	uint64_t *v;
	size_t n, cap;
};

/*
 * A table on the screen. `= {0}` is a valid empty one. The selection is a row id: it stays on its
 *row when the order changes, and goes to the nearest place when the row leaves. The user's choice
 *of order is kept here too; a view copies it into its query_spec before it asks: spec.sort =
 *w->sort[0] ? w->sort : default; spec.reverse = w->reverse;
 */
struct table_widget {
	uint64_t selected; /* row id; only if has_rows */
	bool has_rows;
	char sort[32]; /* column key, "" = the view's default */
	bool reverse;
	bool resorted; /* by a command; reset when the user was informed */
	/* From here on private to ui/widgets/table.c. */
	size_t index, top; /* of the selection; first row shown */
	struct table_scroll scroll;
	struct seen seen;
	uint64_t *ids; /* rows of the last frame, in order */
	size_t n_ids, cap_ids;
	struct widget_ids known, fresh; /* rows of the last tick, and of this one */
	uint64_t tick, ids_sum;		/* of when, and of which rows, that was */
	uint64_t order;			/* that of the last frame's table */
	int search;			/* pending jump: +1, -1 */
	struct rect rect;
	struct table_widget_name {
		char key[32], title[32];
		const char *help; /* constant, as those of all columns are */
		uint8_t type, flags;
	} names[TABLE_COLUMNS]; /* of all columns; copies, since the table is gone with its frame */
	size_t n_names;
	size_t sort_col;  /* index into names, SIZE_MAX = none */
	const char *name; /* of the table, constant; NULL: none was drawn yet */
	struct table_widget_column {
		int x, w;
		size_t col;
	} cols[32]; /* drawn ones, for clicks and < > */
	size_t n_cols;
	size_t sort_at; /* index into cols, SIZE_MAX = none */
};

struct table_style {
	const char *heat;   /* key of the column coloured by its share of the worst, NULL = none */
	const char *search; /* text to mark and to jump to (app_search()), NULL or "" = none */
	const struct query_columns *columns; /* that the user wants, NULL = as they are */
	const char *empty;		     /* sentence shown when there are no rows */
	uint64_t tick;			     /* model->n_ticks: rows not there a tick ago glow */
	bool unfocused;			     /* another part of the view has the keys */
	/* Role of a row's text columns, NULL = ROLE_NORMAL. */
	enum role (*row_role)(const struct table *t, size_t row);
	/* Of one cell, instead. */
	enum role (*cell_role)(const struct table *t, size_t row, size_t col);
	size_t cursor; /* column in the selected row that is marked; 0 = none */
};

/* Column titles in the first line of @r, rows below. Columns are chosen by priority and width. */
void table_widget_draw(struct table_widget *w, struct screen *s, struct rect r,
		       const struct table *t, const struct table_style *style);
/*
 * Moves, sorts (< > S :sort), search jumps, clicks on rows and titles: 0, WIDGET_*. Works between
 * two draws, on the rows of the last one.
 */
int table_widget_command(struct table_widget *w, enum command c, const struct command_arg *arg);
/* The entry of a chooser for a column of the last frame; false: none for the screen. */
struct table_widget_choice {
	const char *key, *title, *help;
	bool sorts; /* rows can be sorted by it */
	bool is_shown, is_sorted;
	bool will_sort; /* in the next frame */
};
bool table_widget_choice(const struct table_widget *w, size_t column,
			 struct table_widget_choice *ret);
void table_widget_deinit(struct table_widget *w);

#endif
