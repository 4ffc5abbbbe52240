/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_COMPARE_H
#define KONTEND_QUERY_COMPARE_H

#include "kontend/query.h"

/*
 * Two moments of one recording, in the table "compare": figures of the window of each query, those
 * of @b and those of @a and their differences. Rows are what they are in "locks", and have the ids
 * that they have there; spec.scope holds as there, too. Else as query_diff().
 */
int query_compare(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
		  struct error *err);
extern const struct table_kind query_compare_kind;

#endif
