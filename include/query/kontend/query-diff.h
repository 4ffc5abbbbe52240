/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_DIFF_H
#define KONTEND_QUERY_DIFF_H

#include "kontend/query.h"

/*
 * Two measurements side by side, in the table "diff". Addresses, thread ids and the like are
 * different in the next boot or even the next run, so rows are matched by name (and type of lock):
 * static locks by their symbol, all others by the function that waits for them most, tasks and
 * processes by their comm. Everything is per second of its own measurement. Without spec.sort rows
 * are in the order of the absolute change of wait per second. spec.average means nothing.
 * Answers lie in the arena of @b; both queries must be in the same frame until they are written.
 */
int query_diff(struct query *a, struct query *b, const struct query_spec *s, struct table *ret,
	       struct error *err);
extern const struct table_kind query_diff_kind;

#endif
