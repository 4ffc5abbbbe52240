/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FOLDED_H
#define KONTEND_FOLDED_H

#include "kontend/query-zoom.h"
#include "kontend/query.h"
#include <stdio.h>

/*
 * Call chains in the format of flame graph tools: one line "comm;outer;...;inner N" for each chain
 * and comm. For waits, N is the waiting time in nanoseconds; the chain ends at the function that
 * waited, followed by the type of the lock: "...;[rwsem:W] 1234"; waits in flight have lines of
 * their own, "[rwsem:W, still waiting]". For samples, N is their number. For blame, the line begins
 * with the holder that is to blame: see query-flame.h.
 */
struct folded_spec {
	bool samples;
	bool blame;		       /* for waits */
	bool mark_kernel;	       /* append "_[k]" to kernel functions */
	const struct query_zoom *zoom; /* NULL: everything */
};

/* 0; -ENOMEM, or the error of the write, with @err. */
int folded_write(struct query *q, const struct folded_spec *s, FILE *out, struct error *err);

struct query_flame_diff;
/*
 * Two numbers after each chain, those of A and B, as difffolded.pl writes them: for each chain
 * that has a weight of its own on either side. Nanoseconds waited, or samples; returns as above.
 */
int folded_write_diff(const struct query_flame_diff *d, bool mark_kernel, FILE *out,
		      struct error *err);

#endif
