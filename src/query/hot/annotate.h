/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ANNOTATE_INT_H
#define KONTEND_QUERY_ANNOTATE_INT_H

#include "../internal.h"
#include "kontend/query-annotate.h"

/* Counts at a place of the function. */
struct annotate_place {
	uint64_t offset;
	bool is_return; /* it is where a call came back to, not where something ran */
	uint64_t samples, weight, wait_ns;
};

struct annotate_places {
	struct annotate_place *items; /* in the query's arena */
	size_t n, cap;
	struct map64 index;
	uint64_t all_weight, all_wait_ns;
};

/* hot/annotate-sum.c: all places of function @func, and its sums into @ret. 0 or -ENOMEM. */
int annotate_sum(struct query *q, uint32_t func, struct annotate_places *ret,
		 struct query_annotate *sums);

/* The bytes of a function, in the query's arena. */
struct annotate_code {
	const uint8_t *bytes; /* NULL: see why */
	size_t n;
	const char *source, *why;
	bool live, loading;
};

/* hot/annotate.c: all functions that were sampled or waited in become known to the cache. */
void annotate_meet(struct query *q);
/* hot/annotate-code.c. 0 or -ENOMEM. */
int annotate_code(struct query *q, uint64_t start, struct annotate_code *ret);
/* hot/annotate-lines.c */
/* Lines of the code, without what pads it; into ret->lines and ret->n. 0 or -ENOMEM. */
int annotate_lines(struct query *q, const struct annotate_code *code, struct query_annotate *ret);

#endif
