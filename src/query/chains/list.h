/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CHAINS_LIST_H
#define KONTEND_QUERY_CHAINS_LIST_H

#include "../internal.h"
#include "graph.h"
#include "kontend/query-chains.h"

/* A row of the table: a root, a lock, or waiters of one that are alike. */
struct chain_row {
	enum query_chain_kind kind;
	uint32_t depth, parent; /* of the root 0 and CHAIN_NONE; place of the row above */
	uint32_t at;		/* root, lock, or the wait that has lasted longest */
	uint32_t n;		/* tasks that wait in this row */
	bool processes;		/* these are of several */
	uint32_t behind;	/* tasks that wait behind them */
	struct chain_sum sum;	/* of a waiter its own waits, else of all behind */
	bool ended;		/* of the second graph */
};

struct chain_rows {
	struct query *q;
	struct chain_graph *g;	      /* of the row at hand */
	struct chain_graph graphs[2]; /* of waits that go on, and of those that have ended */
	struct chain_row *rows;
	uint32_t n;
	uint32_t *scratch; /* waits of one lock */
	bool failed;	   /* out of memory */
};

enum { CHAIN_DEPTH_MOST = 32 };

/* All rows in the order of the tree: 0 or -ENOMEM. */
int chain_rows_make(struct chain_rows *c);

#endif
