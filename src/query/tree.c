// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call tree of waits. Costs are first summed by stack, then every stack in use is walked once:
 * from the call site outwards, or from the outermost frame inwards to the call site when inverted.
 * The frames of the locking code inside the call site are no nodes: they are the same for all waits
 * of a type. Waits in flight count with the time they have lasted so far, else a lock that was
 * never handed on would have no tree at all.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/query-load.h"
#include "kontend/query-tree.h"
#include "kontend/stack.h"
#include "kontend/wait.h"
#include "trie.h"

#include <errno.h>

static void sum_add(struct trie_sum *s, uint64_t n, uint64_t ns, uint64_t max)
{
	s->n += n;
	s->total_ns += ns;
	s->max_ns = max > s->max_ns ? max : s->max_ns;
}

static struct trie_sum *sum_stacks(struct query *q, const struct query_scope *scope,
				   struct query_tree *out)
{
	const struct model *m = q->model;
	const struct cell_table *t = query_cells(q);
	const struct wait_pool *p = m->waits;
	struct trie_sum *sums = arena_alloc(&q->arena, (m->stacks->n + 1) * sizeof(*sums));

	for (size_t i = 0; sums && i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		const struct cell_sums s = cell_sums(t, c);
		struct query_where w = query_cell_where(c);
		if (s.n && c->stack < m->stacks->n && query_in_scope(q, scope, &w))
			sum_add(&sums[c->stack], s.n, c->total_ns, s.max_ns);
	}
	for (uint32_t i = 1; sums && p->in_flight && i < p->high; i++) {
		struct query_where w = query_wait_where(&p->waits[i]);
		uint64_t ns = query_wait_ns(m, &p->waits[i]);
		if (!p->waits[i].used || p->waits[i].doubtful || w.stack >= m->stacks->n ||
		    !query_in_scope(q, scope, &w))
			continue;
		sum_add(&sums[w.stack], 1, ns, ns);
		out->n_inflight++;
		out->inflight_ns += ns;
	}
	return sums;
}

/* The functions of a call chain from its call site on; without chain they are one root. */
static uint32_t path_of(struct query *q, uint32_t stack, bool inverted, uint32_t *ret)
{
	const struct stack_table *t = q->model->stacks;
	uint32_t n = t->stacks[stack].n, at;

	if (!query_caller(q, stack)) {
		ret[0] = 0;
		return 1;
	}
	at = query_caller_frame(q, stack);
	for (uint32_t i = at; i < n; i++) {
		uint32_t frame = inverted ? n - 1 - (i - at) : i;
		ret[i - at] = query_func(q, stack_frames(t, stack)[frame]);
	}
	return n - at;
}

int query_tree(struct query *q, const struct query_scope *scope, bool inverted, bool by_count,
	       struct query_tree *ret)
{
	struct query_tree out = {0};
	struct trie t = {.q = q, .by_count = by_count, .out = &out};
	uint32_t path[STACK_MAX_FRAMES + 1];
	struct trie_sum *sums;

	if (query_sync(q) < 0)
		return -ENOMEM;
	sums = sum_stacks(q, scope, &out);
	if (!sums || q->cache->failed || trie_begin(&t) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->model->stacks->n; i++) {
		if (!sums[i].n)
			continue;
		uint32_t n = path_of(q, i, inverted, path);
		if (trie_add(&t, path, n, &sums[i]) < 0)
			return -ENOMEM;
	}
	if (trie_emit(&t) < 0)
		return -ENOMEM;
	*ret = out;
	return 0;
}

int query_tree_named(struct query *q, const struct query_scope *scope, bool inverted, bool by_count,
		     struct query_tree *ret)
{
	int code;

	do
		code = query_tree(q, scope, inverted, by_count, ret);
	while (code == 0 && query_load_wait(q, QUERY_WAIT_NS));
	return code;
}
