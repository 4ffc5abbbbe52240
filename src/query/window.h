/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_WINDOW_H
#define KONTEND_SRC_QUERY_WINDOW_H

#include "kontend/query.h"

struct blame_cell;
struct cell_table;
struct profile;

/* Do figures speak of the query's window? Else of all since the sums began. */
bool query_has_window(const struct query *q);
/*
 * The cells, and the profile, that figures are summed up from: the model's, or those of the window.
 * Valid until the next event is applied. Without memory they are not all there, and the query must
 * not answer: the cache's `failed` is set. After query_sync().
 */
const struct cell_table *query_cells(struct query *q);
const struct cell_table *query_held_cells(struct query *q);   /* the same of who held locks */
const struct cell_table *query_handed_cells(struct query *q); /* and of hand-overs */
/* The same for blame: the number of cells. */
const struct blame_cell *query_charged(struct query *q, size_t *ret_n);
const struct profile *query_profile(struct query *q);
/* How long the time is that rates of these cells are of: the last closed bucket, or the window. */
uint64_t query_rate_ns(const struct query *q);
void query_window_deinit(struct query *q);

#endif
