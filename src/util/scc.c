// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tarjan's algorithm with its own stack, so that long chains do not exhaust the program's. It
 * visits each node and edge once. A node's `low` is the smallest number of a node known to be
 * reachable from it; if that is its own number, all above it on the stack is its component.
 */
#include "kontend/scc.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdbool.h>

enum { NOT_YET = 0 };

struct node {
	uint32_t number, low; /* order of visits, from 1 on */
	uint32_t above;	      /* visited from this node, + 1; 0: from none */
	uint32_t under;	      /* the next one below it on the stack, + 1 */
	bool stacked;
	size_t next; /* edge to continue with */
};

struct search {
	const struct scc_edge *edges;
	size_t n_edges;
	uint32_t n_nodes, n_met, n_found;
	uint32_t top; /* top of the stack, + 1; 0: empty */
	struct node *nodes;
	uint32_t *of;
};

static void meet(struct search *s, uint32_t node, uint32_t above)
{
	struct node *n = &s->nodes[node];

	n->number = n->low = ++s->n_met;
	n->above = above;
	n->under = s->top;
	n->stacked = true;
	s->top = node + 1;
}

/* A component is all that is above its first node. */
static void take_off(struct search *s, uint32_t first)
{
	uint32_t node;

	do {
		node = s->top - 1;
		s->top = s->nodes[node].under;
		s->nodes[node].stacked = false;
		s->of[node] = s->n_found;
	} while (node != first);
	s->n_found++;
}

static void lower(struct node *n, uint32_t low)
{
	if (low < n->low)
		n->low = low;
}

/* The next unvisited node from this one, + 1; 0: none left. */
static uint32_t follow(struct search *s, uint32_t node)
{
	struct node *n = &s->nodes[node];

	while (n->next < s->n_edges && s->edges[n->next].from == node) {
		uint32_t to = s->edges[n->next++].to;
		if (to >= s->n_nodes)
			continue;
		if (s->nodes[to].number == NOT_YET)
			return to + 1;
		if (s->nodes[to].stacked)
			lower(n, s->nodes[to].number);
	}
	return 0;
}

static void search_from(struct search *s, uint32_t root)
{
	uint32_t at = root;

	meet(s, root, 0);
	for (;;) {
		uint32_t to = follow(s, at);
		if (to) {
			meet(s, to - 1, at + 1);
			at = to - 1;
			continue;
		}
		if (s->nodes[at].low == s->nodes[at].number)
			take_off(s, at);
		if (!s->nodes[at].above)
			return;
		uint32_t above = s->nodes[at].above - 1;
		lower(&s->nodes[above], s->nodes[at].low);
		at = above;
	}
}

int64_t scc_find(uint32_t n_nodes, const struct scc_edge *edges, size_t n_edges, uint32_t *ret_of)
{
	struct search s = {.edges = edges, .n_edges = n_edges, .n_nodes = n_nodes, .of = ret_of};

	s.nodes = mem_calloc((size_t)n_nodes + 1, sizeof(*s.nodes));
	if (!s.nodes)
		return -ENOMEM;
	for (size_t i = n_edges; i-- > 0;)
		if (edges[i].from < n_nodes)
			s.nodes[edges[i].from].next = i;
	for (uint32_t i = 0; i < n_nodes; i++)
		if (s.nodes[i].number == NOT_YET)
			search_from(&s, i);
	mem_free(s.nodes);
	return s.n_found;
}
