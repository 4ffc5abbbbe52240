/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_TREE_H
#define KONTEND_QUERY_TREE_H

#include "kontend/pathgroup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct query_scope;

/* Call tree of the waits in scope, depth first. */
struct query_node {
	const char *name;   /* symbol, or address */
	const char *object; /* "[kernel]", a file; NULL: not known, or no function */
	uint64_t id;	    /* of the path from the root: stable */
	uint64_t addr;	    /* 0: no function, but a name above them */
	uint64_t n, total_ns, max_ns;
	double pct;	   /* of total_ns of the whole tree (of n when by_count) */
	double pct_parent; /* of that of the node above it; roots: of the whole tree */
	enum path_group group;
	uint16_t depth;
	bool has_children;
	bool recorded; /* the name is from the recording, as the file is not here */
};

struct query_tree {
	struct query_node *nodes;
	size_t n;
	uint64_t n_waits, total_ns; /* those that go on as well */
	uint64_t n_inflight, inflight_ns;
	bool recorded; /* some of its names */
};

/*
 * @inverted false: roots are call sites (first frame outside the locking code), children their
 * callers. true: roots are the outermost frames. Sorted by wait (or count) at each level.
 */
int query_tree(struct query *q, const struct query_scope *scope, bool inverted, bool by_count,
	       struct query_tree *ret);
/* The same, after the functions of programs have their names. */
int query_tree_named(struct query *q, const struct query_scope *scope, bool inverted, bool by_count,
		     struct query_tree *ret);

#endif
