/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DIFF_H
#define KONTEND_DIFF_H

#include "kontend/query-diff.h"
#include "kontend/report.h"

/* One of the two measurements. */
struct diff_side {
	const char *file;
	const char *at;	  /* the moment that the figures end at; NULL: the end of the recording */
	const char *only; /* the waits that this side is of, as a filter; NULL: all */
	struct query *q;
};

struct query_flame_diff;
struct diff_spec {
	enum report_format format;
	bool moments;		 /* two moments of one recording: query_compare(), not
				  * query_diff() */
	struct query_spec query; /* by, sort, reverse, filter, limit */
	char csv_separator;	 /* 0: ',' */
	const char *fields;	 /* column keys separated by commas; NULL: the default columns */
	const char *only;	 /* description of the filter of waits; NULL or "": all waits */
	/* JSON: the call chains of both as well; NULL: only the table. */
	const struct query_flame_diff *chains;
	bool ascii;
	int width; /* text: limit, reached by leaving out columns; 0: no limit */
};

/*
 * Writes the differences of @b from @a. -EINVAL with @err for a wrong sort key or filter (nothing
 * was written then), -ENOMEM, or the errno of a failed write.
 */
int diff_write(const struct diff_side *a, const struct diff_side *b, const struct diff_spec *s,
	       FILE *out, struct error *err);

struct jsonw;
/* The member "chains". */
void diff_chains_json(const struct query_flame_diff *d, struct jsonw *j);

#endif
