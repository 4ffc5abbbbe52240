/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_KNOTS_H
#define KONTEND_QUERY_BLAME_KNOTS_H

#include "kontend/query-knots.h"
#include "kontend/scc.h"
#include "rows.h"

struct knots_node {
	uint32_t first; /* a task of it, or a mode of the lock */
	uint32_t tasks; /* 0: a lock */
	enum knots_name { KNOTS_TASK, KNOTS_PROCESS, KNOTS_NAME } name;
	bool blocks; /* others wait for what it has */
	uint64_t ns; /* charged to it */
};

/* Tasks, locks, who waits for which and who has it. In the query's arena. */
struct knots_graph {
	struct query *q;
	const struct query_blame_cells *cells;
	uint64_t all_ns;
	uint32_t *task_node, *lock_node; /* by index: node + 1; 0: none */
	struct knots_node *nodes;
	size_t n_nodes;
	struct scc_edge *edges; /* those that count */
	size_t n_edges;
	size_t all_edges;
	uint64_t weak_ns, merged;
};

uint32_t knots_lock_node(const struct knots_graph *g, uint32_t lock); /* + 1; 0: none */
int knots_graph(struct knots_graph *g);				      /* 0 or -ENOMEM */

#endif
