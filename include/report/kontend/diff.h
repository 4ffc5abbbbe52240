/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DIFF_H
#define KONTEND_DIFF_H

#include "kontend/query-diff.h"
#include "kontend/report.h"

/* One of the two measurements. */
struct diff_side {
	const char *file;
	const char *at; /* the moment of it that the figures end at; NULL: they are of all of it */
	struct query *q;
};

struct diff_spec {
	enum report_format format;
	bool moments;		 /* two of one recording: query_compare(), not query_diff() */
	struct query_spec query; /* by, sort, reverse, filter, limit */
	char csv_separator;	 /* 0: ',' */
	const char *fields;	 /* columns, with commas; NULL: as ever */
	const char *only;	 /* the waits that it is about, for people; NULL or "": all */
	bool ascii;
	int width; /* text: columns of least use are left out; 0: no limit */
};

/*
 * Writes what is different in @b as against @a. -EINVAL with @err for a sort key or filter that is
 * wrong (nothing was written then), -ENOMEM, or the errno of a failed write.
 */
int diff_write(const struct diff_side *a, const struct diff_side *b, const struct diff_spec *s,
	       FILE *out, struct error *err);

#endif
