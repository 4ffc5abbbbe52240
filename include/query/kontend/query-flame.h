/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_FLAME_H
#define KONTEND_QUERY_FLAME_H

#include "kontend/limits.h"
#include "kontend/query-tree.h"
#include "kontend/query-zoom.h"
#include "kontend/query.h"

/*
 * All call chains from the outside in, below the name of the task: samples in n, what was waited
 * for locks in total_ns, with the waits in flight as long as they have lasted. The innermost frame
 * of a wait is the type of the lock in brackets. Siblings are in the order of their names, so that
 * what is drawn from it stays where it is while numbers change.
 */
/*
 * No tree is deeper. Blame has three chains: where the root got its lock, where it sleeps, and
 * where the waiter waits. Each has as many inlined functions as frames at most (names/chains.c).
 * The other levels are the task, its state, the lock and the lock's type.
 */
enum { QUERY_FLAME_LEVELS = 3 * 2 * STACK_MAX_FRAMES + 4 };

struct query_flame_spec {
	struct query_scope scope;      /* of waits; not empty: there are no samples in it */
	const struct query_zoom *zoom; /* NULL: everything */
	bool locks;		       /* only samples in lock paths */
	bool by_wait;		       /* shares are of what was waited, not of samples */
	/*
	 * Of what was waited, who is to blame: the root's name at the bottom, then the call chain
	 * in which it got its lock, what it did, the lock, and the call chains of those who waited
	 * because of it. With by_wait; tasks of a zoom are roots.
	 */
	bool blame;
	bool boxes_only;      /* without nodes that have nothing of that */
	double percent_limit; /* of the table: no rows for frames of less than that */
};

/* Totals are in ret->n_waits (samples) and ret->total_ns. 0 or -ENOMEM. */
int query_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

/* Why the spec cannot have a graph of blame; NULL: it can. */
const char *query_flame_no_blame(const struct query *q, const struct query_flame_spec *s);

/* The same once all names are there, which may take a while: for what is written and not drawn. */
int query_flame_named(struct query *q, const struct query_flame_spec *s, struct query_tree *ret);

/*
 * Where the box of a node begins, from the left, in what the graph is weighed by, and what the node
 * has for itself.
 */
struct query_span {
	uint64_t x;
	uint64_t self_n, self_ns;
};

/* One for each node, in the arena; NULL: no memory. */
struct query_span *query_flame_spans_in(struct arena *arena, const struct query_tree *t,
					bool by_wait);
struct query_span *query_flame_spans(struct query *q, const struct query_tree *t, bool by_wait);

/* Table "flame": a row for each node that has a box, in their order unless sorted. */
struct query_flame_rows {
	struct query_tree tree;
	struct table table; /* n_total: as many as there are boxes */
};

/* Named. Of @rows the sort key, filter and limit are taken. 0, -ENOMEM, or -EINVAL with @err. */
int query_flame_table(struct query *q, const struct query_flame_spec *s,
		      const struct query_spec *rows, struct query_flame_rows *ret,
		      struct error *err);
extern const struct table_kind query_flame_kind;

/* Kind of a frame, for colours. */
enum query_frame {
	FRAME_NAME, /* of a task */
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_LOCK, /* kernel functions that are in a group: see pathgroup.h */
};

enum query_frame query_flame_frame(const struct query_node *n);
const char *query_flame_frame_name(enum query_frame f); /* "task", "user", "kernel", "lock path" */

#endif
