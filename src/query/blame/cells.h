/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_CELLS_H
#define KONTEND_QUERY_BLAME_CELLS_H

#include "../internal.h"
#include "kontend/query-blame.h"

/*
 * Charged time, as cells, in the window of time and as far as a filter leaves it; time that is not
 * charged yet has no root. But for BLAME_PASSED and with lost_ns, their sum is all that was waited.
 * Valid until the next event is applied.
 */
struct query_blame_cells {
	const struct blame_cell *v;
	size_t n;
	uint64_t lost_ns;
};

int query_blame_cells(struct query *q, struct query_blame_cells *ret); /* 0 or -ENOMEM */

/* The identity of the root, as far as it is known. */
enum blame_who { BLAME_TASK, BLAME_READER, BLAME_OTHER, BLAME_NOBODY };

enum blame_who query_blame_who(const struct query *q, const struct blame_cell *c);

#endif
