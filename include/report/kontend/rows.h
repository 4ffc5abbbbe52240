/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ROWS_H
#define KONTEND_ROWS_H

#include "kontend/query.h"
#include <stdio.h>

/*
 * Rows for engines: one JSON object a line, each of which says by itself which machine and part of
 * time it is of. They are the rows that reports have, of the same tables and columns, with their
 * histograms; kontend-rows(5) explains them. Rows of parts of time that follow each other add up.
 */
#define ROWS_SCHEMA "kontend.rows/1"

/* What is said in "marks" of each row. */
enum rows_mark {
	ROWS_CUT_OFF = 1, /* the recording ends early, or part of it could not be read */
	ROWS_OVERLAP = 2, /* another recording that was exported with it has the same time */
	ROWS_VERSION = 4, /* it has snapshots that this version does not understand */
};

struct rows_spec {
	const char *version; /* of the program */
	unsigned tables;     /* bits by rows_parse(); 0: all */
	unsigned marks;	     /* enum rows_mark, or-ed */
};

/* Names of tables with commas: their bits. 0, or -EINVAL with @err. */
int rows_parse(const char *names, unsigned *ret, struct error *err);
/* A line a member of each table, as kontend-rows(5) and the schema have them. */
void rows_dump(FILE *out);
const char *rows_mark_name(enum rows_mark m);

/* All rows of what the model has now. 0, -ENOMEM with @err. */
int rows_write(struct query *q, const struct rows_spec *s, FILE *out, struct error *err);

#endif
