/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TABLES_H
#define KONTEND_TABLES_H

#include "kontend/table.h"

/*
 * All tables that queries answer with. Reports, the checks of --sort and --filter, the help of the
 * views and the check of the manual page find a table and its columns here.
 */
struct table_def {
	const struct table_kind *kind;
	const char *title;   /* in the help of a view */
	const char *section; /* of kontend-views(7), where its columns are; NULL: none of its own */
	const struct table_kind *whole; /* of a column set: all columns, as in JSON; else NULL */
};

extern const struct table_def table_defs[]; /* ends with one without kind */

/* That with this name; NULL: there is none. @len: bytes of the name. */
const struct table_def *tables_find(const char *name, size_t len);

#endif
