/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_SLEPT_H
#define KONTEND_SRC_QUERY_SLEPT_H

#include "internal.h"
#include "kontend/sleeps.h"

/* Sums of sleeps that ended in the window, or since the sums of the model begin. */
struct query_slept_row {
	uint32_t cell; /* index */
	uint64_t sleeps, total_ns;
	uint64_t max_ns; /* 0: not known, or of sleeps that are too short for a record */
};

struct query_slept {
	bool known;	    /* false: they are not measured, or see reason */
	const char *reason; /* why not; "" */
	const struct sleeps *of;
	struct query_slept_row *rows; /* in the query's arena; each has a sleep */
	size_t n;
	uint64_t span_ns; /* the time in which they ended; 0: none has passed */
	bool is_short;	  /* the window has more than is kept */
	/* Since the sums begin: sleeps that are in no row, or have no record; time without both. */
	uint64_t dropped, missed, off_ns;
};

int query_slept(struct query *q, struct query_slept *ret); /* 0 or -ENOMEM */

#endif
