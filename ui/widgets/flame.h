/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_FLAME_H
#define KONTEND_UI_WIDGETS_FLAME_H

#include "kontend/query-tree.h"

/* Where the boxes of a flame graph go: a pure function of the tree and the width. */

enum { FLAME_DEPTH = 512 };  /* deeper nodes have no box */
#define FLAME_ALL UINT32_MAX /* in place of a node: the box below all others */

struct flame_box {
	uint32_t node;	/* index into the tree */
	uint16_t level; /* 0: the level of FLAME_ALL; its children 1 */
	int x, w;	/* cells; w > 0 */
};

/*
 * Boxes in the order of nodes, so the boxes of one level from left to right. Node @root has the
 * whole width, with what is above it (FLAME_ALL: everything has). A box is within the one of its
 * parent, siblings do not overlap, and a box is as wide as its share of the root's, cut to whole
 * cells so that sums are right. Nodes of no cell have no box. @ret: room for t->n + 1. Returns how
 * many.
 */
size_t flame_place(const struct query_tree *t, bool by_wait, uint32_t root, int w,
		   struct flame_box *ret);

static inline uint64_t flame_weight(const struct query_node *n, bool by_wait)
{
	return by_wait ? n->total_ns : n->n;
}

/* The last node below @node, or itself; of FLAME_ALL the last one. */
uint32_t flame_last(const struct query_tree *t, uint32_t node);
/*
 * The weight of what is called like @text from @root on, nothing counted twice: of a match below
 * another one only the outer counts.
 */
uint64_t flame_matched(const struct query_tree *t, bool by_wait, uint32_t root, const char *text);

#endif
