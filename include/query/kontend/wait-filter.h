/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ONLY_H
#define KONTEND_QUERY_ONLY_H

#include "kontend/table.h"

struct error;
struct query;

/*
 * Restricts all that is asked until the next frame begins to waits and samples for which a filter
 * holds. Its terms are about one of them, so each names a column of wait_filter_kind: what is
 * summed up is as if there had been no others, but for damage, snapshots and lengths of queues.
 * NULL or
 * "": no filter; waits that are shorter than the model keeps are left out all the same. 0, -ENOMEM,
 * or -EINVAL with @err.
 */
int wait_filter_set(struct query *q, const char *filter, struct error *err);
/* All is asked for again. */
void wait_filter_end(struct query *q);
extern const struct table_kind wait_filter_kind;
/* The same check without a query. */
int wait_filter_check(const char *filter, struct error *err);

/*
 * Splits the filter that a user types for a table of waits: terms that choose waits, to be summed
 * up alone, go to @ret_only, terms about the resulting rows to @ret_rows. An alternative is one or
 * the other as a whole. Each has room for @filter and a NUL.
 */
void wait_filter_split(const char *filter, char *ret_only, char *ret_rows);

/* Finished waits and samples: that are left, and that there are. */
struct wait_filter_sum {
	uint64_t waits, of_waits, samples, of_samples;
	uint64_t min_wait_ns; /* 0: of any length */
};

struct wait_filter_sum wait_filter_sum(const struct query *q);

#endif
