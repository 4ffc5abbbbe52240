// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trie over functions, from which call trees are made. A node is found by (parent, function) in
 * one hash table; its id is a hash of the path of function addresses, so that an expanded node
 * stays expanded from tick to tick.
 */
#include "trie.h"

#include "kontend/hash.h"
#include "kontend/maps.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

static size_t slot_of(const struct trie *t, uint32_t parent, uint32_t func)
{
	return hash_u64((uint64_t)parent << 32 | func) & t->mask;
}

static bool trie_grow(struct trie *t)
{
	size_t cap = t->cap ? t->cap * 2 : 256;
	struct trie_node *nodes = arena_alloc(&t->q->arena, cap * sizeof(*nodes));
	uint32_t *slots = arena_alloc(&t->q->arena, cap * 2 * sizeof(*slots));

	if (!nodes || !slots)
		return false;
	if (t->n)
		memcpy(nodes, t->nodes, t->n * sizeof(*nodes));
	t->nodes = nodes;
	t->slots = slots;
	t->cap = cap;
	t->mask = cap * 2 - 1;
	for (size_t i = 1; i < t->n; i++) {
		size_t k = slot_of(t, nodes[i].parent, nodes[i].func);
		while (slots[k])
			k = (k + 1) & t->mask;
		slots[k] = (uint32_t)i;
	}
	return true;
}

/* Key of a function or label, the same in every frame. */
static uint64_t key_of(const struct trie *t, uint32_t func)
{
	return func & TRIE_LABEL ? text_hash(t->labels[func & ~TRIE_LABEL].text)
				 : t->q->cache->funcs[func].start;
}

/* The slot of the child of @parent for @func, which is empty where there is none. */
static size_t slot_find(const struct trie *t, uint32_t parent, uint32_t func)
{
	size_t k;

	for (k = slot_of(t, parent, func); t->slots[k]; k = (k + 1) & t->mask)
		if (t->nodes[t->slots[k]].parent == parent && t->nodes[t->slots[k]].func == func)
			break;
	return k;
}

bool trie_has(const struct trie *t, uint32_t func)
{
	return t->slots[slot_find(t, 0, func)] != 0;
}

/* The child for @func, made if absent; 0 when out of memory. */
static uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t func)
{
	struct trie_node *node, *above;
	size_t k;

	if (t->n == t->cap && !trie_grow(t))
		return 0;
	k = slot_find(t, parent, func);
	if (t->slots[k])
		return t->slots[k];
	above = &t->nodes[parent];
	node = &t->nodes[t->n];
	*node = (struct trie_node){.parent = parent, .func = func, .next = above->child};
	node->id = hash_u64(above->id * 31 + key_of(t, func) + 1);
	above->child = t->slots[k] = (uint32_t)t->n;
	above->n_children++;
	return (uint32_t)t->n++;
}

static void node_add(struct trie_node *node, const struct trie_sum *s)
{
	node->n += s->n;
	node->total_ns += s->total_ns;
	node->max_ns = s->max_ns > node->max_ns ? s->max_ns : node->max_ns;
}

int trie_begin(struct trie *t)
{
	if (!trie_grow(t))
		return -ENOMEM;
	t->nodes[0] = (struct trie_node){0};
	t->n = 1;
	return 0;
}

static bool grow_labels(struct trie *t)
{
	uint32_t cap = t->cap_labels ? t->cap_labels * 2 : 32;
	struct trie_label *labels = arena_alloc(&t->q->arena, cap * sizeof(*labels));

	if (!labels)
		return false;
	if (t->n_labels)
		memcpy(labels, t->labels, t->n_labels * sizeof(*labels));
	t->labels = labels;
	t->cap_labels = cap;
	return true;
}

uint32_t trie_label_new(struct trie *t, const char *text, enum path_group group)
{
	if (t->n_labels == t->cap_labels && !grow_labels(t))
		return 0;
	t->labels[t->n_labels] = (struct trie_label){text, group};
	return TRIE_LABEL | t->n_labels++;
}

uint32_t trie_label(struct trie *t, const char *text, enum path_group group)
{
	for (uint32_t i = 0; i < t->n_labels; i++)
		if (strcmp(t->labels[i].text, text) == 0)
			return TRIE_LABEL | i;
	return trie_label_new(t, text, group);
}

int trie_add(struct trie *t, const uint32_t *funcs, uint32_t n, const struct trie_sum *sum)
{
	uint32_t node = 0;

	node_add(&t->nodes[0], sum);
	for (uint32_t i = 0; i < n; i++) {
		if (t->closed && !t->slots[slot_find(t, node, funcs[i])])
			return 0;
		node = trie_child(t, node, funcs[i]);
		if (!node || t->q->cache->failed)
			return -ENOMEM;
		node_add(&t->nodes[node], sum);
	}
	return 0;
}

static const char *name_of(const struct trie *t, uint32_t func)
{
	const char *name = func & TRIE_LABEL ? t->labels[func & ~TRIE_LABEL].text
					     : query_func_name(t->q, func);

	return name ? name : "(no call chain)";
}

static bool goes_first(const struct trie *t, const struct trie_node *a, const struct trie_node *b)
{
	uint64_t x = t->by_count ? a->n : a->total_ns, y = t->by_count ? b->n : b->total_ns;
	int names = t->by_name ? strcmp(name_of(t, a->func), name_of(t, b->func)) : 0;

	if (names)
		return names < 0;
	if (x != y && !t->by_name)
		return x > y;
	if (a->n != b->n && !t->by_name)
		return a->n > b->n;
	return a->id < b->id;
}

/* Sorts the children of @node by insertion into a fresh list, then by merging for long lists. */
static uint32_t merge_lists(struct trie *t, uint32_t a, uint32_t b)
{
	uint32_t head = 0, *end = &head;

	while (a && b) {
		uint32_t *from = goes_first(t, &t->nodes[b], &t->nodes[a]) ? &b : &a;
		*end = *from;
		end = &t->nodes[*from].next;
		*from = *end;
	}
	*end = a ? a : b;
	return head;
}

static uint32_t sort_list(struct trie *t, uint32_t head, uint32_t n)
{
	uint32_t at = head, rest;

	if (n < 2)
		return head;
	for (uint32_t i = 1; i < n / 2; i++)
		at = t->nodes[at].next;
	rest = t->nodes[at].next;
	t->nodes[at].next = 0;
	head = sort_list(t, head, n / 2);
	return merge_lists(t, head, sort_list(t, rest, n - n / 2));
}

static double share(const struct trie *t, const struct trie_node *part, const struct trie_node *all)
{
	uint64_t a = t->by_count ? part->n : part->total_ns;
	uint64_t b = t->by_count ? all->n : all->total_ns;

	return units_percent(a, b);
}

/* The function around an inlined one. */
static uint64_t address_of(const struct query *q, uint32_t func)
{
	const struct query_func *f = &q->cache->funcs[func];

	return f->inlined_in ? q->cache->funcs[f->inlined_in].start : f->start;
}

static struct query_node node_of(const struct trie *t, const struct trie_node *n)
{
	bool is_func = n->func && !(n->func & TRIE_LABEL);

	return (struct query_node){
		.name = name_of(t, n->func),
		.object = is_func ? t->q->cache->funcs[n->func].object : NULL,
		.group = is_func		? query_func_group(t->q, n->func)
			 : n->func & TRIE_LABEL ? t->labels[n->func & ~TRIE_LABEL].group
						: PATH_NONE,
		.id = n->id,
		.addr = is_func ? query_kernel_address(t->q, address_of(t->q, n->func)) : 0,
		.n = n->n,
		.total_ns = n->total_ns,
		.max_ns = n->max_ns,
		.pct = share(t, n, &t->nodes[0]),
		.pct_parent = share(t, n, &t->nodes[n->parent]),
		.has_children = n->child != 0,
		.recorded = is_func && t->q->cache->funcs[n->func].recorded,
	};
}

static void emit(struct trie *t, uint32_t index, uint16_t depth)
{
	t->nodes[index].child = sort_list(t, t->nodes[index].child, t->nodes[index].n_children);
	for (uint32_t i = t->nodes[index].child; i; i = t->nodes[i].next) {
		struct query_node *out = &t->out->nodes[t->out->n++];

		*out = node_of(t, &t->nodes[i]);
		out->depth = depth;
		t->out->recorded |= out->recorded;
		emit(t, i, (uint16_t)(depth + 1));
	}
}

int trie_emit(struct trie *t)
{
	t->out->nodes = arena_alloc(&t->q->arena, t->n * sizeof(*t->out->nodes));
	if (!t->out->nodes)
		return -ENOMEM;
	t->out->n_waits = t->nodes[0].n;
	t->out->total_ns = t->nodes[0].total_ns;
	emit(t, 0, 0);
	return 0;
}
