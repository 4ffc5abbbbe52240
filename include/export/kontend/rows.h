/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ROWS_H
#define KONTEND_ROWS_H

#include "kontend/query.h"
#include <stdio.h>

/*
 * Rows for data analysis engines: one JSON object on each line, which names its machine and part of
 * time. Rows have the tables and columns of reports, with their histograms; kontend-rows(5)
 * explains them. Rows of consecutive parts of time can be added up.
 */
#define ROWS_SCHEMA "kontend.rows/1"

/* Values of "marks" in rows. */
enum rows_mark {
	ROWS_CUT_OFF = 1, /* the recording ends early, or part of it could not be read */
	ROWS_OVERLAP = 2, /* another exported recording covers the same time */
	ROWS_VERSION = 4, /* has snapshots that this version does not understand */
};

struct rows_spec {
	const char *version; /* of the program */
	unsigned tables;     /* bits by rows_parse(); 0: all */
	unsigned marks;	     /* enum rows_mark, or-ed */
};

/* Parses names of tables, separated by commas. 0, or -EINVAL with @err. */
int rows_parse(const char *names, unsigned *ret, struct error *err);
/* One line for each member of each table, for kontend-rows(5) and the schema. */
void rows_dump(FILE *out);
const char *rows_mark_name(enum rows_mark m);

/* Writes all rows of the model's data. 0, or -ENOMEM with @err. */
int rows_write(struct query *q, const struct rows_spec *s, FILE *out, struct error *err);

/*
 * A stream that compresses into @to as one frame of zstd; the caller goes on to own @to. Closing
 * ends the frame, and fails (errno) if @to or memory did. NULL: no memory.
 */
FILE *rows_pack_open(FILE *to, int level);

#endif
