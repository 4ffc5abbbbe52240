/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_WIDGET_H
#define KONTEND_UI_WIDGETS_WIDGET_H

#include "kontend/command.h"
#include "kontend/query.h"
#include "kontend/screen.h"

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
	bool resorted; /* by a command; whoever told the user resets it */
	/* From here on private to ui/widgets/table.c. */
	size_t index, top; /* of the selection; first row shown */
	uint64_t *ids;	   /* rows of the last frame, in order */
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
	} names[40]; /* of all columns; copies, since the table is gone with its frame */
	size_t n_names;
	size_t sort_col; /* index into names, SIZE_MAX = none */
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
	const char *empty;  /* sentence shown when there are no rows */
	uint64_t tick;	    /* model->n_ticks: rows not there a tick ago glow */
	bool unfocused;	    /* another part of the view has the keys */
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
/* What a column of the last frame can be chosen by; false: it is none for the screen. */
struct table_widget_choice {
	const char *key, *title, *help;
	bool sorts; /* rows can be sorted by it */
	bool is_shown, is_sorted;
	bool will_sort; /* in the next frame */
};
bool table_widget_choice(const struct table_widget *w, size_t column,
			 struct table_widget_choice *ret);
void table_widget_deinit(struct table_widget *w);

/*
 * A tree that folds. The state of a node is kept by its id: nodes shallower than `open_depth` are
 * open, and each id in `toggled` is the other way round.
 */
struct tree_widget {
	uint64_t selected; /* node id; only if has_rows */
	bool has_rows;
	uint16_t open_depth; /* 1: roots are open */
	bool of_parent;	     /* percent are of the node above, not of everything */
	/* From here on private to ui/widgets/tree.c. */
	struct widget_ids toggled;
	struct tree_row {
		uint64_t id;
		uint16_t depth;
		bool open, has_children;
	} * rows; /* visible rows of the last frame */
	size_t n_rows, cap_rows;
	size_t index, top;
	int search;
	struct rect rect;
};

struct tree_style {
	bool by_count; /* the percentage is of waits, not of time */
	bool samples;  /* what is counted are samples, and waits have no number */
	double limit;  /* nodes of less percent of everything are closed until they are opened */
	const char *search;
	const char *empty;
	bool unfocused;
};

/* A title line, then a line a node: percent, waits, total, avg, symbol indented by depth. */
void tree_widget_draw(struct tree_widget *w, struct screen *s, struct rect r,
		      const struct query_tree *t, const struct tree_style *style);
/* Moves, + - e E C %, Enter (WIDGET_ENTER on a leaf, else toggles), clicks. */
int tree_widget_command(struct tree_widget *w, enum command c, const struct command_arg *arg);
void tree_widget_deinit(struct tree_widget *w);

/* A bar of @share (0..1) of @w columns from (x, y) in @r, in eighths; '#' in ASCII. */
void widget_bar(struct screen *s, struct rect r, int x, int y, int w, double share, enum role role);
/*
 * The last @w values, newest at the right edge, in 8 levels of @max (0: their own). Zero is a
 * blank; anything above it is at least the lowest level.
 */
void widget_sparkline(struct screen *s, struct rect r, int x, int y, int w, const uint64_t *v,
		      uint32_t n, uint64_t max);
/* All @n values from the left edge of @r, some of them in one column where there are more. */
void widget_spread(struct screen *s, struct rect r, const uint64_t *v, uint32_t n, uint64_t max);
uint64_t widget_series_max(const uint64_t *v, uint32_t n);
/* A histogram: "lower bar", with p50, p90, p99 and max noted at their bars; octaves joined when
 * there are more than lines. */
void widget_hist(struct screen *s, struct rect r, const struct query_hist *h);
/* Value over time as columns of full height, newest at the right; @max 0: their own. */
void widget_graph(struct screen *s, struct rect r, const uint64_t *v, uint32_t n, uint64_t max);
/* "─ title ─────────" over line y. */
void widget_rule(struct screen *s, struct rect r, int y, const char *title);

/* Heat by share of the worst: ROLE_HEAT_LOW below 5 %, _MID below 20 %, _HIGH. */
enum role widget_heat(double share);

#endif
