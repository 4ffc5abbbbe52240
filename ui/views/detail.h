/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_DETAIL_H
#define KONTEND_UI_VIEWS_DETAIL_H

#include "kontend/query-blame.h"
#include "kontend/query-hist.h"
#include "kontend/query-holds.h"
#include "kontend/query-lock.h"
#include "kontend/query-mmap.h"
#include "kontend/query-queued.h"
#include "kontend/query-use.h"
#include "list.h"

enum { PANE_MAIN, PANE_MORE, PANE_WAITERS, PANES };
enum { BY_TREE = -1, WIDE_W = 110, TALL_H = 34, ALL_OPEN = 128 };

struct view_detail {
	struct view v;
	int by;		       /* enum query_by of the table in the main pane, or BY_TREE */
	enum query_by more_by; /* of the table below it, as last drawn */
	bool inverted, by_count;
	struct pane panes[PANES];
	struct pane_set set;
};

struct detail_page {
	struct query_hist hist;
	struct query_mmap_row mmap; /* of mmap_locks whose own events are measured */
	struct query_series series;
	struct query_queued_lock queue; /* of a lock that has one */
	struct query_blame_lock did;	/* of a lock: what its holders did */
	struct query_use use;		/* of a lock: by which tasks */
	struct query_holds_page holds;	/* of a lock whose holds are measured */
	struct query_tree tree;
	struct list_part main; /* where it is no tree */
	struct table more, waiters;
	struct query_lock_now now; /* of a lock */
	struct query_lock_at at;   /* the same */
	bool tall;		   /* room for one more table */
	enum query_by more_by;
	struct rect r_sum, r_did, r_use, r_holds, r_queue, r_hist, r_time, r_main, r_more,
		r_waiters;
};

/* Divides @r among the parts of the page, by what was answered. */
void detail_place(const struct view *v, struct detail_page *p, struct rect r);
/* detail-did.c: what holders did, in so many lines of its own. */
int detail_ask_did(const struct view *v, struct detail_page *p);
int detail_did_lines(const struct detail_page *p, int width);
void detail_draw_did(const struct detail_page *p, struct screen *s);
void detail_draw_page(struct view_detail *d, struct detail_page *p, struct screen *s);

/* detail-use.c: which tasks use it, and how evenly, in so many lines of a page of that size. */
int detail_ask_use(const struct view *v, struct detail_page *p);
int detail_use_lines(const struct detail_page *p, struct rect r);
void detail_draw_use(const struct view *v, const struct detail_page *p, struct screen *s);

/* detail-holds.c: how long it is held, in so many lines of a page of that size. */
int detail_ask_holds(const struct view *v, struct detail_page *p);
int detail_holds_lines(const struct detail_page *p, struct rect r);
void detail_draw_holds(const struct detail_page *p, struct screen *s);

/* detail-queue.c: lines that the queue has in a page of that size; 0: there is none, or no room. */
enum { DETAIL_QUEUE_H = 3 };
int detail_queue_lines(const struct detail_page *p, struct rect r);
void detail_draw_queue(const struct detail_page *p, struct screen *s);

#endif
