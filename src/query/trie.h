/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_TRIE_H
#define KONTEND_QUERY_TRIE_H

#include "internal.h"

struct trie_node {
	uint64_t id, n, total_ns, max_ns;
	uint32_t parent, func;
	uint32_t child, next; /* first child and next sibling, 0 = none */
	uint32_t n_children;
};

/* In place of a function: a text that is no function's name. */
#define TRIE_LABEL 0x80000000u

struct trie {
	struct query *q;
	struct trie_node *nodes; /* node 0 is above the roots */
	size_t n, cap;
	uint32_t *slots;
	size_t mask;
	bool by_count; /* shares are of n, else of total_ns; the largest go first */
	bool by_name;  /* no: in the order of names */
	bool closed;   /* no nodes come: of what leads elsewhere, those on its way have the sum */
	struct trie_label {
		const char *text;
		enum path_group group;
	} * labels;
	uint32_t n_labels, cap_labels;
	struct query_tree *out;
};

/* Costs of one call chain; samples have no wait, and waits below have no number. */
struct trie_sum {
	uint64_t n, total_ns, max_ns;
};

/* An empty one, in the arena of t->q. 0 or -ENOMEM. */
int trie_begin(struct trie *t);
/* The label for @text in a path; 0: no memory. @text must outlive the frame. */
uint32_t trie_label(struct trie *t, const char *text, enum path_group group);
/* The same for one who knows that there is none yet. */
uint32_t trie_label_new(struct trie *t, const char *text, enum path_group group);
/* Adds @sum along a path that begins at the root: functions @funcs. 0 or -ENOMEM. */
int trie_add(struct trie *t, const uint32_t *funcs, uint32_t n, const struct trie_sum *sum);
/* Has the root a child for @func? */
bool trie_has(const struct trie *t, uint32_t func);
/* All of it, depth first, sorted at each level, into t->out. 0 or -ENOMEM. */
int trie_emit(struct trie *t);

#endif
