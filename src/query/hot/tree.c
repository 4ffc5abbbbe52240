// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call tree of the profile: one tree with two weights. A path has the samples that were taken
 * on it, and the time waited for locks on it, so that costs in CPU time and in waiting are side by
 * side, in the same functions.
 */
#include "../trie.h"
#include "kontend/cell.h"
#include "kontend/profile.h"
#include "kontend/query-tree.h"
#include "kontend/stack.h"
#include "list.h"
#include "names/names.h"

#include <errno.h>

enum { CHAIN_MOST = 2 * STACK_MAX_FRAMES };

struct build {
	struct query *q;
	const struct query_hot_tree_spec *spec;
	struct hot_rows rows;
	struct trie trie;
};

/* Index of the innermost frame in the function of the row; @n: none. */
static uint32_t find_node(const struct build *b, const uint32_t *funcs, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && hot_id(b->q->cache->funcs[funcs[i]].start) != b->spec->row)
		i++;
	return i;
}

/* The part of the chain that is shown, in its order: @ret_n frames from @ret_at. */
static bool cut(const struct build *b, const uint32_t *funcs, uint32_t n, uint32_t *ret_at,
		uint32_t *ret_n)
{
	bool of_symbol = b->spec->row && b->spec->by == HOT_SYMBOL;
	uint32_t at = of_symbol ? find_node(b, funcs, n) : 0;

	if (at == n)
		return false;
	*ret_at = of_symbol && b->spec->inverted ? 0 : at;
	*ret_n = of_symbol && b->spec->inverted ? at + 1 : n - at;
	return true;
}

static int add_chain(struct build *b, const struct query_chain *c, const struct trie_sum *sum)
{
	uint32_t path[CHAIN_MOST], at, len;

	if (!c)
		return -ENOMEM;
	if (!cut(b, c->funcs, c->n, &at, &len))
		return 0;
	for (uint32_t i = 0; i < len; i++)
		path[i] = c->funcs[at + (b->spec->inverted ? len - 1 - i : i)];
	return trie_add(&b->trie, path, len, sum);
}

static bool is_wanted(const struct build *b, const struct profile_cell *c)
{
	const struct query_hot_tree_spec *s = b->spec;

	if (s->locks && !hot_is_lock_path((enum path_group)b->rows.groups[c->stack]))
		return false;
	if (!hot_zoom_sample(&b->rows, c))
		return false;
	if (!s->row || s->by == HOT_SYMBOL)
		return true;
	return hot_id(hot_key(&b->rows, c, hot_leaf(&b->rows, c->stack))) == s->row;
}

static int add_samples(struct build *b)
{
	const struct profile *p = b->rows.p;

	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *c = &p->cells[i];
		struct trie_sum sum = {.n = c->n};
		if (!is_wanted(b, c))
			continue;
		int r = add_chain(b, query_sample_chain(b->q, c->stack), &sum);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_waits(struct build *b)
{
	const struct cell_table *t = query_cells(b->q);

	if (b->spec->row && b->spec->by != HOT_SYMBOL)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		struct trie_sum sum = {.total_ns = c->total_ns, .max_ns = cell_sums(t, c).max_ns};
		const struct query_where w = query_cell_where(c);
		if (!c->total_ns || !hot_zoom_wait(b->q, b->spec->zoom, &w))
			continue;
		int r = add_chain(b, query_wait_chain(b->q, c->stack), &sum);
		if (r < 0)
			return r;
	}
	return 0;
}

int query_hot_tree(struct query *q, const struct query_hot_tree_spec *s, struct query_tree *ret)
{
	struct query_tree out = {0};
	struct build b = {
		.q = q,
		.spec = s,
		.rows = {.q = q, .by = s->by, .zoom = s->zoom},
		.trie = {.q = q, .by_count = !s->by_wait, .out = &out},
	};

	if (query_sync(q) < 0 || trie_begin(&b.trie) < 0)
		return -ENOMEM;
	b.rows.p = query_profile(q);
	b.rows.groups = hot_groups(q);
	if (!b.rows.groups || add_samples(&b) < 0 || add_waits(&b) < 0 || trie_emit(&b.trie) < 0 ||
	    q->cache->failed)
		return -ENOMEM;
	*ret = out;
	return 0;
}
