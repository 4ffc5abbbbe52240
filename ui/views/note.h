/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_NOTE_H
#define KONTEND_UI_VIEWS_NOTE_H

#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "pane.h"

/*
 * The first lines of views that show snapshots: figures, how and when the snapshot was taken, and
 * which data are damaged or missing.
 */

/* For the views slots, contexts and events. */
struct view_perf_top {
	enum query_perf_part part; /* the part of the snapshot that the view shows */
	/* Writes figures into the first line. */
	void (*figures)(const struct query_perf_sum *p, struct line *l);
};

/* Draws the lines on top into @r, but leaves room for rows. Returns how many lines it took. */
int view_perf_head(struct view *v, struct screen *s, struct rect r, const struct query_perf_sum *p,
		   const struct view_perf_top *top);
/* "12.0 perf events created/s", if known. */
void view_perf_opened(const struct query_perf_sum *p, struct line *l);
/*
 * The sentence in place of rows. @needs: parts of the snapshot without which there are no rows;
 * @none: the sentence if the snapshot is complete and has no rows.
 */
const char *view_perf_empty(struct view *v, const struct table *t, const struct query_perf_sum *p,
			    uint32_t needs, const char *none);

/* ui/views/board.c: the slots as a table with a row for each CPU and pool, a cell for each slot. */
enum { BOARD_CELLS = 24, BOARD_FIXED = 5 };
struct board {
	struct table table;
	size_t n_cells; /* in the widest row */
	bool pools;	/* execution and data apart */
	bool folded;	/* a row may cover several CPUs; its id is that of the first */
};

/* Makes it from the table "slots", in the arena of @q. 0 or -ENOMEM. */
int board_make(struct query *q, const struct table *slots, int width, struct board *ret);
/* For table_style: the colour shows free slots, and those of the CPU or a task. */
enum role board_role(const struct table *t, size_t row, size_t col);
/* Index of the column of cell @i. */
static inline size_t board_column(size_t i)
{
	return BOARD_FIXED - 3 + i;
}

/* A snapshot shows one moment, and some methods see only part of it. */
struct view_moment {
	const char *method;   /* "bpf"; NULL: unknown */
	const char *costs[2]; /* of the snapshot, in words: the longer text first */
	uint64_t age_ns;
	uint32_t incomplete, dropped;
	const char *dropped_what;
	const char *missing, *reason; /* data that are not known, and why; or "" */
};

/*
 * Draws method and age at the right of the first line, after the figures, which end at @x. Lines
 * below say which data are damaged or missing, why, and how to get them. Leaves room for rows.
 * Returns how many lines of @r it took.
 */
int view_draw_moment(struct view *v, struct screen *s, struct rect r, int x,
		     const struct view_moment *m);

/* The same for the views of uprobes. */
int view_uprobes_head(struct view *v, struct screen *s, struct rect r,
		      const struct query_uprobe_sum *p);

/* Lines of programs that wait for a lock. */
struct view_places {
	const char *waits; /* "waited at " */
	const char *at, *syscall;
	const char *share; /* of all waits, "98.1%"; NULL: not known */
	const char *owner_at;
};

/* "waited at FILE:412 commit_log (flock) 98.1%, holder at FILE:80 rotate", as far as that is known.
 */
void view_put_places(const struct view_places *p, struct line *l);

/* The line about uprobes in the overview. */
void view_uprobes_line(const struct query_uprobe_sum *p, struct line *l);

#endif
