/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FLAME_DIFF_H
#define KONTEND_QUERY_FLAME_DIFF_H

#include "kontend/query-flame.h"

/*
 * Two flame graphs as one: call chains are the same if their names are, and a node has what it
 * weighs on either side, A and B, each a recording, a moment, or a group of recordings. As their
 * lengths differ, A is scaled to the time that B measured: so B has its own figures, and A has what
 * it would have in that time. The weight of a box is the sum of both, so that what is in one of
 * them alone has one, too.
 */
enum flame_side { FLAME_A, FLAME_B, FLAME_SIDES };

struct query_flame_diff {
	struct query_tree tree;		  /* n or total_ns: A and B together */
	const uint64_t *of[FLAME_SIDES];  /* by node */
	const uint64_t *own[FLAME_SIDES]; /* the part that no node above it has */
	uint64_t all[FLAME_SIDES];
	uint64_t measured_ns[FLAME_SIDES];
	const char *name[FLAME_SIDES]; /* of the sides, for who writes it; NULL: A and B */
	uint64_t n_cut;		       /* chains of which outer functions alone have room */
	bool by_wait;
};

struct flame_diff;

struct flame_diff *query_flame_diff_new(bool by_wait); /* NULL: no memory */
void query_flame_diff_free(struct flame_diff *d);      /* NULL is fine */
/*
 * Adds what was measured in @measured_ns to a side; names are copied. 0, or -ENOMEM: then it is of
 * no use any more.
 */
int query_flame_diff_add(struct flame_diff *d, enum flame_side side, const struct query_tree *t,
			 uint64_t measured_ns);
/* The graph of the waits or samples of @q, with names, for reports. The same. */
int query_flame_diff_take(struct flame_diff *d, enum flame_side side, struct query *q);
/* In @arena, with names that live as long as @d. 0 or -ENOMEM. */
int query_flame_diff_get(struct flame_diff *d, struct arena *arena, struct query_flame_diff *ret);

/* How far B differs from A, by the share of the difference in both: -3 to 3, 0: by less than 5 %.
 */
enum { FLAME_CHANGES = 3 };
int query_flame_diff_change(uint64_t a, uint64_t b);

#endif
