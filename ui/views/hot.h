/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_HOT_H
#define KONTEND_UI_VIEWS_HOT_H

#include "kontend/query-hot.h"
#include "kontend/screen.h"
#include "pane.h"

/* The views of the profile. */

enum { HOT_LOAD_MS = 10 };

/* struct view says what was opened: its row, and by what it is a row. */
struct view_hot_tree {
	struct view v; /* v.row: the row's id */
	struct pane pane;
	enum query_hot_by by;
	bool locks, inverted, by_wait;
	struct query_zoom zoom;
};

/* "cpu-clock 999 Hz, 2.37k samples  in lock paths 2.5%: spinlock 1.8, rwsem 0.6" */
void hot_draw_sum(const struct query *q, const struct query_hot_sum *sum, struct screen *s,
		  struct rect r);
/* Loads more of the missing names, and asks for another frame until they are. */
void hot_load_names(struct view *v);
/* Opens the instructions of a function, a row by symbol. 0 or negative errno. */
int annotate_open_row(struct view *v, uint64_t row);
/* Opens the locking code that waits of @scope pass, where most samples are. 0 or negative errno. */
int annotate_open_path(struct view *v, const struct query_scope *scope);
/* Opens the call tree of a row. 0 or negative errno. */
int hot_open_tree(struct view *v, enum query_hot_by by, bool locks, const struct query_zoom *zoom,
		  uint64_t row);
/* "process mm/5214, object libc.so.6  " */
void hot_draw_zoom(const struct query_zoom *zoom, struct line *l);

#endif
