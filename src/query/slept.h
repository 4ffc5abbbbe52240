/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_SLEPT_H
#define KONTEND_SRC_QUERY_SLEPT_H

#include "internal.h"
#include "kontend/sleptsnap.h"

/* Sleeps in state D (--sleeps) that have ended since the sums of the model begin. */
struct query_slept {
	bool known;	       /* false: they are not measured, or see reason */
	const char *reason;    /* why not; "" */
	struct sleptsnap sums; /* rows without a sleep are left out; max_ns 0: not known */
	uint64_t span_ns;      /* the time in which they ended; 0: none has passed */
	uint64_t dropped;      /* sleeps in it that are in no row */
};

/* 0 or -ENOMEM. Close it in either case. */
int query_slept_open(struct query *q, struct query_slept *ret);
void query_slept_close(struct query_slept *s);

#endif
