// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sum of flame graphs by name, for two sides. Nodes are in one array, found by (parent, number
 * of the name), and refer to nothing of the graphs that were added: so each recording of a group
 * can be closed before the next one is read. There is room for a number of nodes; the rest of a
 * chain that has none weighs in the last node that it has.
 */
#include "../internal.h"
#include "kontend/mem.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame-diff.h"
#include "kontend/sort.h"
#include "kontend/stringtable.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

enum { NODES = 1 << 20 };

struct node {
	uint32_t parent, name, object; /* object: UINT32_MAX: none */
	uint32_t child, next;
	uint64_t addr;
	uint64_t sum[FLAME_SIDES], own[FLAME_SIDES];
	uint8_t group;
	bool recorded;
};

struct flame_diff {
	struct stringtable names;
	struct map64 index; /* parent and name -> node */
	struct node *nodes; /* 0: everything */
	size_t n, cap;
	uint64_t measured_ns[FLAME_SIDES];
	uint64_t n_cut;
	bool by_wait;
};

struct flame_diff *query_flame_diff_new(bool by_wait)
{
	struct flame_diff *d = mem_calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->by_wait = by_wait;
	if (mem_grow(&d->nodes, &d->cap, 0, sizeof(*d->nodes)) < 0) {
		mem_free(d);
		return NULL;
	}
	d->nodes[d->n++] = (struct node){0};
	return d;
}

void query_flame_diff_free(struct flame_diff *d)
{
	if (!d)
		return;
	stringtable_deinit(&d->names);
	map64_deinit(&d->index);
	mem_free(d->nodes);
	mem_free(d);
}

static int add_node(struct flame_diff *d, uint32_t parent, uint32_t name,
		    const struct query_node *of, uint32_t *ret)
{
	const uint32_t object = of->object ? stringtable_get(&d->names, of->object) : UINT32_MAX;

	if ((of->object && object == UINT32_MAX) ||
	    mem_grow(&d->nodes, &d->cap, d->n, sizeof(*d->nodes)) < 0 ||
	    map64_put(&d->index, (uint64_t)parent << 32 | name, (uint32_t)d->n) < 0)
		return -ENOMEM;
	d->nodes[d->n] = (struct node){.parent = parent,
				       .name = name,
				       .object = object,
				       .next = d->nodes[parent].child,
				       .addr = of->addr,
				       .group = (uint8_t)of->group,
				       .recorded = of->recorded};
	d->nodes[parent].child = *ret = (uint32_t)d->n++;
	return 0;
}

/* The child of @parent that is called as @of is. *@ret 0: there is no room for it. */
static int find_node(struct flame_diff *d, uint32_t parent, const struct query_node *of,
		     uint32_t *ret)
{
	const uint32_t name = stringtable_get(&d->names, of->name);

	if (name == UINT32_MAX)
		return -ENOMEM;
	const uint32_t *known = map64_get(&d->index, (uint64_t)parent << 32 | name);
	*ret = known ? *known : 0;
	if (known || d->n < NODES)
		return known ? 0 : add_node(d, parent, name, of, ret);
	d->n_cut++;
	return 0;
}

int query_flame_diff_add(struct flame_diff *d, enum flame_side side, const struct query_tree *t,
			 uint64_t measured_ns)
{
	uint32_t path[QUERY_FLAME_LEVELS + 1] = {0};

	d->measured_ns[side] += measured_ns;
	d->nodes[0].sum[side] += d->by_wait ? t->total_ns : t->n_waits;
	d->nodes[0].own[side] += d->by_wait ? t->total_ns : t->n_waits;
	for (size_t i = 0; i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		const uint64_t weight = d->by_wait ? n->total_ns : n->n;
		const uint32_t parent = path[n->depth];
		uint32_t node = 0;
		/* Below one that had no room there is none either. */
		bool is_there = weight && (!n->depth || parent);
		int r = is_there ? find_node(d, parent, n, &node) : 0;
		if (r < 0)
			return r;
		path[n->depth + 1] = node;
		if (!node)
			continue;
		d->nodes[node].sum[side] += weight;
		d->nodes[node].own[side] += weight;
		d->nodes[parent].own[side] -= weight;
	}
	return 0;
}

int query_flame_diff_take(struct flame_diff *d, enum flame_side side, struct query *q)
{
	const struct query_flame_spec spec = {.by_wait = d->by_wait, .boxes_only = true};
	struct query_tree t;
	int r = query_flame_named(q, &spec, &t);

	return r < 0 ? r : query_flame_diff_add(d, side, &t, query_diff_length(q));
}

/* A walk in the order of names, into arrays. */
struct walk {
	struct flame_diff *d;
	struct query_flame_diff *ret;
	uint64_t *of[FLAME_SIDES], *own[FLAME_SIDES];
	double scale;
};

static uint64_t saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Rounded down, so that parts are never more than the whole. */
static uint64_t scaled(const struct walk *w, uint64_t sum, int side)
{
	const double v = (double)sum * w->scale;

	if (side == FLAME_B || w->scale == 1)
		return sum;
	return v < 1.8e19 ? (uint64_t)v : UINT64_MAX;
}

struct child {
	const char *name;
	uint32_t node;
};

static int before(const void *a, const void *b)
{
	return strcmp(((const struct child *)a)->name, ((const struct child *)b)->name) < 0;
}

/* The children of @parent, in the order of their names; NULL: no memory. */
static struct child *children(const struct flame_diff *d, struct arena *arena, uint32_t parent,
			      size_t *ret_n)
{
	size_t n = 0;

	for (uint32_t i = d->nodes[parent].child; i; i = d->nodes[i].next)
		n++;
	struct child *list = arena_alloc(arena, (2 * n + 1) * sizeof(*list));
	*ret_n = 0;
	for (uint32_t i = d->nodes[parent].child; list && i; i = d->nodes[i].next)
		list[(*ret_n)++] = (struct child){d->names.list[d->nodes[i].name], i};
	if (list)
		sort_merge(list, list + n, n, sizeof(*list), before);
	return list;
}

/* @parent: what that weighs; @left: the part of either side that no child has yet. */
static void put_node(struct walk *w, uint32_t index, uint16_t depth, uint64_t id, uint64_t parent,
		     uint64_t left[FLAME_SIDES])
{
	const struct flame_diff *d = w->d;
	const struct node *n = &d->nodes[index];
	struct query_tree *t = &w->ret->tree;
	uint64_t both = 0;

	for (int s = 0; s < FLAME_SIDES; s++) {
		uint64_t v = scaled(w, n->sum[s], s);
		v = v < left[s] ? v : left[s];
		left[s] -= v;
		w->of[s][t->n] = v;
		w->own[s][t->n] = scaled(w, n->own[s], s);
		both = saturated(both, v);
	}
	t->nodes[t->n++] = (struct query_node){
		.name = d->names.list[n->name],
		.object = n->object == UINT32_MAX ? NULL : d->names.list[n->object],
		.id = id,
		.addr = n->addr,
		.n = d->by_wait ? 0 : both,
		.total_ns = d->by_wait ? both : 0,
		.pct = units_percent(both, d->by_wait ? t->total_ns : t->n_waits),
		.pct_parent = units_percent(both, parent),
		.group = (enum path_group)n->group,
		.depth = depth,
		.has_children = n->child != 0,
		.recorded = n->recorded,
	};
	t->recorded |= n->recorded;
}

/* @above: the node's place in the tree; SIZE_MAX: all. */
static int put_children(struct walk *w, struct arena *arena, uint32_t parent, uint16_t depth,
			size_t above)
{
	struct query_flame_diff *r = w->ret;
	const bool all = above == SIZE_MAX;
	uint64_t left[FLAME_SIDES];
	size_t n;
	struct child *list = children(w->d, arena, parent, &n);

	for (int s = 0; s < FLAME_SIDES; s++)
		left[s] = all ? r->all[s] : w->of[s][above];
	const uint64_t weight = saturated(left[FLAME_A], left[FLAME_B]);
	for (size_t i = 0; list && i < n; i++) {
		const uint64_t up = all ? 0 : r->tree.nodes[above].id;
		const uint64_t id = hash_u64(hash_text(up ^ HASH_START, list[i].name));
		const size_t at = r->tree.n;
		put_node(w, list[i].node, depth, id, weight, left);
		if (put_children(w, arena, list[i].node, (uint16_t)(depth + 1), at) < 0)
			return -ENOMEM;
	}
	return list ? 0 : -ENOMEM;
}

int query_flame_diff_get(struct flame_diff *d, struct arena *arena, struct query_flame_diff *ret)
{
	const uint64_t a = d->measured_ns[FLAME_A], b = d->measured_ns[FLAME_B];
	struct walk w = {.d = d, .ret = ret, .scale = a && b ? (double)b / (double)a : 1};
	uint64_t both = 0;

	*ret = (struct query_flame_diff){.by_wait = d->by_wait, .n_cut = d->n_cut};
	ret->tree.nodes = arena_alloc(arena, d->n * sizeof(*ret->tree.nodes));
	for (int s = 0; s < FLAME_SIDES; s++) {
		ret->of[s] = w.of[s] = arena_alloc(arena, d->n * sizeof(*w.of[s]));
		ret->own[s] = w.own[s] = arena_alloc(arena, d->n * sizeof(*w.own[s]));
		ret->all[s] = scaled(&w, d->nodes[0].sum[s], s);
		ret->measured_ns[s] = d->measured_ns[s];
		both = saturated(both, ret->all[s]);
	}
	if (!ret->tree.nodes || !w.of[FLAME_A] || !w.of[FLAME_B] || !w.own[FLAME_A] ||
	    !w.own[FLAME_B])
		return -ENOMEM;
	*(d->by_wait ? &ret->tree.total_ns : &ret->tree.n_waits) = both;
	return put_children(&w, arena, 0, 0, SIZE_MAX);
}

int query_flame_diff_change(uint64_t a, uint64_t b)
{
	const double both = (double)a + (double)b,
		     part = both > 0 ? ((double)b - (double)a) / both : 0;
	const double size = part < 0 ? -part : part;
	/* B is 1.1, 2, 4 times A, or the other way round. */
	const int change = size < 0.05 ? 0 : size < 1.0 / 3 ? 1 : size < 0.6 ? 2 : FLAME_CHANGES;

	return part < 0 ? -change : change;
}
