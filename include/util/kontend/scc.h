/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCC_H
#define KONTEND_SCC_H

#include <stddef.h>
#include <stdint.h>

/* Strongly connected components: nodes from each of which every other one can be reached. */
struct scc_edge {
	uint32_t from, to;
	uint64_t weight; /* the caller's */
};

/*
 * Of @n_nodes nodes and edges in the order of `from`; those to a node that there is not are left
 * out. ret_of[i]: the component of node i, from 0 on; what leads out of a component leads to one of
 * a smaller number. Returns how many there are, or -ENOMEM.
 */
int64_t scc_find(uint32_t n_nodes, const struct scc_edge *edges, size_t n_edges, uint32_t *ret_of);

#endif
