/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_TRIE_H
#define KONTEND_QUERY_TRIE_H

#include "query-int.h"

struct trie_node {
	uint64_t id, n, total_ns, max_ns;
	uint32_t parent, func;
	uint32_t child, next; /* first child and next sibling, 0 = none */
	uint32_t n_children;
};

struct trie {
	struct query *q;
	struct trie_node *nodes; /* node 0 is above the roots */
	size_t n, cap;
	uint32_t *slots;
	size_t mask;
	bool by_count;
	struct query_tree *out;
};

/* What one call chain costs; the wait is 0 for samples, the number for what was waited below. */
struct trie_sum {
	uint64_t n, total_ns, max_ns;
};

/* An empty one, in the arena of t->q. 0 or -ENOMEM. */
int trie_begin(struct trie *t);
/* Adds @sum along a path that begins at the root: functions @funcs. 0 or -ENOMEM. */
int trie_add(struct trie *t, const uint32_t *funcs, uint32_t n, const struct trie_sum *sum);
/* All of it, depth first, sorted at each level, into t->out. 0 or -ENOMEM. */
int trie_emit(struct trie *t);

#endif
