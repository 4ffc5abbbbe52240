/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_VIEWS_FLAME_H
#define KONTEND_UI_VIEWS_FLAME_H

#include "kontend/query-flame-diff.h"
#include "kontend/query-hot.h"
#include "kontend/view.h"
#include "widgets/flame.h"

enum { FLAME_ROOTS = 16 };

/* A box on the screen, for moves and clicks between two frames. */
struct flame_spot {
	uint64_t id; /* of the node; 0: FLAME_ALL */
	uint64_t addr;
	int x, w;
	uint16_t level;
	bool matches; /* the filter, else the search */
};

struct view_flame {
	struct view v; /* scope: of waits; not empty: only these are shown */
	struct query_zoom zoom;
	bool locks, by_wait, icicle;
	bool groups; /* of the two that were chosen */
	bool blame;  /* with by_wait: above who is to blame */
	bool opened; /* which weight to begin with has been decided */
	int search;  /* pending jump: +1, -1 */
	uint64_t selected;
	char name[160];		     /* of that, in the last frame */
	uint64_t roots[FLAME_ROOTS]; /* one inside the other: the last one has the whole width */
	size_t n_roots;
	size_t bottom; /* level in the first line, next to the root */
	struct rect rect;
	struct flame_spot *spots;
	size_t n_spots, cap_spots;
};

/* One frame of it. */
struct flame_picture {
	struct query_tree tree;
	struct query_flame_diff diff; /* with `compares`; the tree is its own */
	bool compares;		      /* it is of two sides */
	enum app_versus_kind versus;  /* of which */
	const char *why_not;	      /* it is not, but should be; NULL: it should not */
	struct query_hot_sum sum;
	struct flame_box *boxes;
	size_t n;
	uint32_t root;
	const char *match; /* "" = nothing is looked for */
};

void flame_draw_picture(struct view_flame *f, const struct flame_picture *p, struct screen *s,
			struct rect r);
/* The index of the selected one; 0, the box of everything, where it has none. */
size_t flame_selected(const struct view_flame *f);

/*
 * Opens the graph of what was waited in @scope, or of samples and waits in @zoom (NULL: all).
 * 0 or negative errno.
 */
int flame_open_waits(struct view *v, const struct query_scope *scope);
/* The graph of both groups that were chosen; with a scope it is of waits alone. */
int flame_open_groups(struct view *v, const struct query_scope *scope);
int flame_open_samples(struct view *v, const struct query_zoom *zoom, bool locks);

#endif
