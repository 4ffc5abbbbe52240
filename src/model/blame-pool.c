// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes, classes and holds of blame.c: arrays that grow, in which entries that are given back are a
 * list. Entry 0 is none. There are at most as many nodes as locks, holds as tasks have locks; the
 * classes of a node are bounded by who asks for them.
 */
#include "blame-int.h"
#include "kontend/blame.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/recent.h"

#include <errno.h>

/* The place after those in use, zeroed. @n: their number, with entry 0. */
static uint32_t more(void *items, size_t *cap, uint32_t *n, size_t size)
{
	uint32_t first = *n ? 0 : 1;

	if (*n + first >= UINT32_MAX / 2)
		return 0;
	if (mem_grow(items, cap, *n + first, size) < 0)
		return 0;
	*n += first + 1;
	return *n - 1;
}

uint32_t blame_new_node(struct blame *b)
{
	uint32_t i = b->free_node;

	if (i)
		b->free_node = b->nodes[i].classes;
	else if (!(i = more(&b->nodes, &b->cap_nodes, &b->n_nodes, sizeof(*b->nodes))))
		return 0;
	b->nodes[i] = (struct blame_node){0};
	return i;
}

uint32_t blame_new_class(struct blame *b)
{
	uint32_t i = b->free_class;

	if (i)
		b->free_class = b->classes[i].next;
	else if (!(i = more(&b->classes, &b->cap_classes, &b->n_classes, sizeof(*b->classes))))
		return 0;
	b->classes[i] = (struct blame_class){0};
	return i;
}

uint32_t blame_new_hold(struct blame *b)
{
	uint32_t i = b->free_hold;

	if (i)
		b->free_hold = b->holds[i].next;
	else if (!(i = more(&b->holds, &b->cap_holds, &b->n_holds, sizeof(*b->holds))))
		return 0;
	b->holds[i] = (struct blame_hold){.weight = 1};
	return i;
}

void blame_put_node(struct blame *b, uint32_t node)
{
	uint32_t class = b->nodes[node].classes;

	while (class) {
		uint32_t next = b->classes[class].next;
		b->classes[class].next = b->free_class;
		b->free_class = class;
		class = next;
	}
	b->nodes[node] = (struct blame_node){.classes = b->free_node};
	b->free_node = node;
}

void blame_put_hold(struct blame *b, uint32_t hold)
{
	b->holds[hold] = (struct blame_hold){.next = b->free_hold};
	b->free_hold = hold;
}

void blame_deinit(struct blame *b)
{
	mem_free(b->cells);
	mem_free(b->touched);
	mem_free(b->nodes);
	mem_free(b->classes);
	mem_free(b->holds);
	mem_free(b->done);
	mem_free(b->gone);
	map64_deinit(&b->index);
	recent_deinit(&b->recent);
	*b = (struct blame){0};
}

/* An array of @n as one of its own; an empty one is none. */
static bool copy(void *array, size_t n, size_t *cap, size_t size)
{
	void **p = array;

	*cap = n;
	*p = n ? mem_dup(*p, n, size) : NULL;
	return !n || *p;
}

int blame_copy(struct blame *dst, const struct blame *src)
{
	*dst = *src;
	dst->index = (struct map64){0};
	dst->recent = (struct recent){0};
	bool good = copy(&dst->cells, src->n, &dst->cap, sizeof(*dst->cells));
	good &= copy(&dst->touched, src->n_touched, &dst->cap_touched, sizeof(*dst->touched));
	good &= copy(&dst->nodes, src->n_nodes, &dst->cap_nodes, sizeof(*dst->nodes));
	good &= copy(&dst->classes, src->n_classes, &dst->cap_classes, sizeof(*dst->classes));
	good &= copy(&dst->holds, src->n_holds, &dst->cap_holds, sizeof(*dst->holds));
	good &= copy(&dst->done, src->n_done, &dst->cap_done, sizeof(*dst->done));
	dst->gone = NULL;
	dst->n_gone = dst->cap_gone = 0;
	if (good && map64_copy(&dst->index, &src->index) == 0 &&
	    recent_copy(&dst->recent, &src->recent) == 0)
		return 0;
	blame_deinit(dst);
	return -ENOMEM;
}

size_t blame_bytes(const struct blame *b)
{
	return b->cap * sizeof(*b->cells) + b->cap_touched * sizeof(*b->touched) +
	       b->cap_nodes * sizeof(*b->nodes) + b->cap_classes * sizeof(*b->classes) +
	       b->cap_holds * sizeof(*b->holds) + b->cap_done * sizeof(*b->done) +
	       b->cap_gone * sizeof(*b->gone) + recent_bytes(&b->recent) +
	       (b->index.slots ? (b->index.mask + 1) * sizeof(*b->index.slots) : 0);
}
