// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of flame graphs. Boxes are cut from left to right at the running sum of the weights,
 * rounded down to cells: so whatever is cut, parts never add up to more than the whole, and many
 * small nodes together have the cells that they are worth, in the boxes of those on whose part a
 * cell's edge falls. The own part of a node, its samples with nothing called, is left free at
 * the right.
 */
#include "flame.h"
#include "kontend/text.h"

/* The box that the children of a level are cut from. */
struct room {
	int x, w;
	uint64_t all, used; /* weights: of the box; of what was cut off so far */
};

static int edge(const struct room *r)
{
	return r->all ? (int)((double)r->w * ((double)r->used / (double)r->all)) : 0;
}

static struct flame_box take_box(struct room *rooms, uint16_t level, uint32_t node, uint64_t weight)
{
	struct room *r = &rooms[level - 1];
	int from = edge(r);

	r->used += weight;
	struct flame_box b = {.node = node, .level = level, .x = r->x + from, .w = edge(r) - from};
	rooms[level] = (struct room){.x = b.x, .w = b.w, .all = weight};
	return b;
}

static uint16_t level_of(const struct query_tree *t, uint32_t node)
{
	return node == FLAME_ALL ? 0 : (uint16_t)(t->nodes[node].depth + 1);
}

uint32_t flame_last(const struct query_tree *t, uint32_t node)
{
	uint32_t last = node == FLAME_ALL ? 0 : node + 1;

	while (last < t->n && (node == FLAME_ALL || t->nodes[last].depth > t->nodes[node].depth))
		last++;
	return last ? last - 1 : 0;
}

/* The root and those above it, each over the whole width. */
static size_t place_path(const struct query_tree *t, uint32_t root, int w, struct flame_box *ret)
{
	size_t n = 1, at;
	uint32_t node = root;

	if (root != FLAME_ALL)
		n += level_of(t, root);
	for (at = n; at-- > 1;) {
		ret[at] = (struct flame_box){.node = node, .level = (uint16_t)at, .w = w};
		while (at > 1 && t->nodes[node].depth + 1u >= at)
			node--;
	}
	ret[0] = (struct flame_box){.node = FLAME_ALL, .w = w};
	return n;
}

size_t flame_place(const struct query_tree *t, bool by_wait, uint32_t root, int w,
		   struct flame_box *ret)
{
	struct room rooms[FLAME_DEPTH + 1];
	const uint32_t end = t->n ? flame_last(t, root) + 1 : 0;
	uint16_t top = level_of(t, root);
	size_t n;

	if (w <= 0 || top > FLAME_DEPTH)
		return 0;
	n = place_path(t, root, w, ret);
	rooms[top] = (struct room){
		.w = w,
		.all = root != FLAME_ALL ? flame_weight(&t->nodes[root], by_wait)
		       : by_wait	 ? t->total_ns
					 : t->n_waits,
	};
	for (uint32_t i = root == FLAME_ALL ? 0 : root + 1; i < end; i++) {
		uint16_t level = level_of(t, i);
		if (level > FLAME_DEPTH)
			continue;
		ret[n] = take_box(rooms, level, i, flame_weight(&t->nodes[i], by_wait));
		n += ret[n].w > 0;
	}
	return n;
}

uint64_t flame_matched(const struct query_tree *t, bool by_wait, uint32_t root, const char *text)
{
	uint32_t end = t->n ? flame_last(t, root) + 1 : 0;
	uint64_t sum = 0;

	for (uint32_t i = root == FLAME_ALL ? 0 : root; i < end; i++) {
		if (!text_contains(t->nodes[i].name, text))
			continue;
		sum += flame_weight(&t->nodes[i], by_wait);
		i = flame_last(t, i);
	}
	return sum;
}
