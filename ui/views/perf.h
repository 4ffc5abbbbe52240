/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_PERF_H
#define KONTEND_UI_VIEWS_PERF_H

#include "kontend/query-perf.h"
#include "pane.h"

/* The common part of the views slots, contexts and events. */

/* How a view speaks of what it shows: its figures, which follow the first words of the first line.
 */
struct line;
struct view_perf_top {
	enum query_perf_part part; /* that it shows */
	void (*figures)(const struct query_perf_sum *p, struct line *l);
};

/*
 * The lines on top: figures, how and when it was found out, then what is damaged or missing and
 * why. Answers how many lines of @r that took; a part of @r is left for rows.
 */
int view_perf_head(struct view *v, struct screen *s, struct rect r, const struct query_perf_sum *p,
		   const struct view_perf_top *top);
/* "12.0 perf events created/s", if known. */
void view_perf_opened(const struct query_perf_sum *p, struct line *l);
/* The sentence in place of rows: there is no snapshot, or it says nothing of @needs. */
const char *view_perf_empty(struct view *v, const struct table *t, const struct query_perf_sum *p,
			    uint32_t needs, const char *none);

/* ui/views/board.c: the slots, a row a CPU and pool, a cell a slot. */
enum { BOARD_CELLS = 24, BOARD_FIXED = 5 };
struct board {
	struct table table;
	size_t n_cells; /* of the widest row */
	bool pools;	/* execution and data apart */
	bool folded;	/* a row may be of several CPUs; its id is that of the first */
};

/* From "slots"; all in the arena of @q. 0 or -ENOMEM. */
int board_make(struct query *q, const struct table *slots, int width, struct board *ret);
/* For table_style: free, of the CPU, of a task, in a register. */
enum role board_role(const struct table *t, size_t row, size_t col);
/* Column of the cell @i in the table. */
static inline size_t board_column(size_t i)
{
	return BOARD_FIXED - 3 + i;
}

#endif
