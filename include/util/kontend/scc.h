/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCC_H
#define KONTEND_SCC_H

#include <stddef.h>
#include <stdint.h>

/* Strongly connected components: sets of nodes that can all reach each other. */
struct scc_edge {
	uint32_t from, to;
	uint64_t weight; /* the caller's */
};

/*
 * For @n_nodes nodes and edges in the order of `from`; edges to other nodes are ignored. ret_of[i]:
 * the component of node i, from 0 on; edges out of a component lead to smaller numbers. Returns the
 * number of components, or -ENOMEM.
 */
int64_t scc_find(uint32_t n_nodes, const struct scc_edge *edges, size_t n_edges, uint32_t *ret_of);

#endif
