/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FOLDED_H
#define KONTEND_FOLDED_H

#include "kontend/query-zoom.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * Call chains in the format that flame graph tools read: a line "comm;outer;...;inner N" for each
 * chain and comm. Of waits, N is what was waited in nanoseconds, chains end at the function that
 * waited, and after it follows the type of the lock: "...;[rwsem:W] 1234"; waits in flight are
 * lines of their own, "[rwsem:W, still waiting]". Of samples, N is how many there were. Of blame
 * the line begins with who is to blame: see query-flame.h.
 */
struct folded_spec {
	bool samples;
	bool blame;		       /* of waits */
	bool mark_kernel;	       /* "_[k]" after functions of the kernel */
	const struct query_zoom *zoom; /* NULL: everything */
};

/* 0; -ENOMEM, or what writing failed with, with @err. */
int folded_write(struct query *q, const struct folded_spec *s, FILE *out, struct error *err);

#endif
