/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_WIDGET_H
#define KONTEND_UI_WIDGETS_WIDGET_H

#include "kontend/query-hist.h"
#include "kontend/query-tree.h"
#include "table-widget.h"

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

/* For tables and trees: sets of ids, a selection that moves, a window of rows. */
bool widget_ids_has(const struct widget_ids *s, uint64_t id);
/* Replaces the set by @n ids in any order. 0 or -ENOMEM, with the set then empty. */
int widget_ids_set(struct widget_ids *s, const uint64_t *ids, size_t n);
int widget_ids_add(struct widget_ids *s, uint64_t id);
void widget_ids_remove(struct widget_ids *s, uint64_t id);
void widget_ids_deinit(struct widget_ids *s);

/* Moves @index among @n rows. Returns false if @c is no movement. */
bool widget_move(enum command c, size_t n, size_t page, size_t *index);
/* Stores the jump of a search command in @search, for the next frame. */
bool widget_search(enum command c, int *search);
/* The first row to show, as near @top as possible, so that @index is among @page rows. */
size_t widget_scroll(size_t top, size_t index, size_t n, size_t page);
/* The row under a click in a widget with one title line, or SIZE_MAX. */
size_t widget_row_at(struct rect r, const struct command_arg *arg, size_t top, size_t n);
bool widget_inside(struct rect r, const struct command_arg *arg);
/* Text cut to @w columns, the last one then "…". */
void widget_text(struct screen *s, struct rect r, int x, int y, int w, enum role role,
		 const char *text);

#endif
