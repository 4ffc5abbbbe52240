/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FLAME_H
#define KONTEND_QUERY_FLAME_H

#include "kontend/query-zoom.h"
#include "kontend/query.h"

/*
 * All call chains from the outside in, below the name of the task: samples in n, what was waited
 * for locks in total_ns, with the waits in flight as long as they have lasted. The innermost frame
 * of a wait is the type of the lock in brackets. Siblings are in the order of their names, so that
 * what is drawn from it stays where it is while numbers change.
 */
struct query_flame_spec {
	struct query_scope scope;      /* of waits; not empty: there are no samples in it */
	const struct query_zoom *zoom; /* NULL: everything */
	bool locks;		       /* only samples in lock paths */
	bool by_wait;		       /* shares are of what was waited, not of samples */
};

/* Totals are in ret->n_waits (samples) and ret->total_ns. 0 or -ENOMEM. */
int query_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

/* The same once all names are there, which may take a while: for what is written and not drawn. */
int query_flame_named(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

/* What a frame is, for colours. */
enum query_frame {
	FRAME_NAME, /* of a task */
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_LOCK, /* kernel functions that are in a group: see pathgroup.h */
};

enum query_frame query_flame_frame(const struct query_node *n);

#endif
