/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_COLUMNS_H
#define KONTEND_QUERY_COLUMNS_H

#include "kontend/error.h"
#include "kontend/table.h"

enum { QUERY_COLUMNS_TABLES = 48, QUERY_COLUMNS_TEXT = 900 };

/*
 * The columns of tables that the user wants on the screen, the most wanted first. Others are not
 * shown, but for those that say what a row is. A table that is not among them is as it is built.
 */
struct query_columns {
	struct query_columns_of {
		const struct table_kind *kind;
		uint8_t order[TABLE_COLUMNS]; /* places in the kind */
		size_t n;
	} of[QUERY_COLUMNS_TABLES];
	size_t n;
};

/* Does it say what a row is? Then it cannot be left out. */
bool query_columns_is_name(const struct column *c);
/* NULL: the user wants nothing of that table. */
const struct query_columns_of *query_columns_find(const struct query_columns *c, const char *table);
/* All that can be left out of a table, as it is built: the most important first. */
void query_columns_built(const struct table_kind *kind, struct query_columns_of *ret);
/* Replaces what is wanted of @of's table; all of it, as it is built: that is no wish. */
void query_columns_put(struct query_columns *c, const struct query_columns_of *of);
/* The same by names of reports with commas between. -EINVAL with @err: there is no such table, or
 * column of it for the screen. */
int query_columns_set(struct query_columns *c, const char *table, const char *keys,
		      struct error *err);
/* And back: "waiting,wait_ns_per_s". */
const char *query_columns_text(const struct query_columns_of *of, char buf[QUERY_COLUMNS_TEXT]);
/* Shows, in @columns of that table, what is wanted, each as important as its place. NULL: no wish.
 */
void query_columns_apply(const struct query_columns *c, const char *table, struct column *columns,
			 size_t n);

#endif
