/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_PANE_H
#define KONTEND_UI_VIEWS_PANE_H

#include "kontend/query-tree.h"
#include "kontend/view.h"
#include "widgets/widget.h"

/*
 * A part of a page: a table or tree. A table in which the user has not moved shows its first row
 * and has it selected, whichever that is; Home brings that state back.
 */
struct pane {
	bool is_tree;
	struct rect rect; /* of the last frame, without the title; h 0: not shown */
	struct table_widget table;
	struct tree_widget tree;
	struct view_columns columns; /* of the table */
	bool moved;		     /* the user has chosen a row: it is followed */
	bool searching;		     /* the next frame looks at every row */
};

/*
 * The panes of a page, from top to bottom. One has the keys; moving beyond its last or first row
 * goes on in the next one, so that the arrows reach every row of the page.
 */
struct pane_set {
	struct pane *panes;
	size_t n, focus;
};

/* A rule with @title in the first line of @r, the table or tree below. */
void pane_draw_table(struct pane_set *set, size_t i, struct screen *s, struct rect r,
		     const char *title, const struct table *t, const struct table_style *style);
void pane_draw_tree(struct pane_set *set, size_t i, struct screen *s, struct rect r,
		    const char *title, const struct query_tree *t, const struct tree_style *style);
/* 0 or WIDGET_*; with WIDGET_ENTER, set->focus is the pane that was meant. */
int pane_command(struct pane_set *set, enum command c, const struct command_arg *arg);
/* NULL: a tree has the keys. */
struct table_widget *pane_focused_table(struct pane_set *set);
void pane_set_deinit(struct pane_set *set);

/* A view that is one table: the same without title. */
void pane_draw_list(struct pane *p, struct screen *s, struct rect r, const struct table *t,
		    const struct table_style *style);
int pane_list_command(struct pane *p, enum command c, const struct command_arg *arg);
void pane_deinit(struct pane *p);

/*
 * Tables have thousands of rows of which a page is seen. pane_window() asks for the values of the
 * rows about those that @lines will probably show; when pane_missed() says after drawing that
 * others were to be shown, ask and draw again.
 */
void pane_window(const struct pane *p, int lines, struct query_spec *spec);
bool pane_missed(const struct pane *p, const struct query_spec *spec);

#endif
