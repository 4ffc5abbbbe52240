/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_RIBBON_H
#define KONTEND_QUERY_RIBBON_H

#include "kontend/query.h"
#include "kontend/timeline.h"

/*
 * The figures of the ribbon besides waits, for a timeline's first pass. They have a query of their
 * own, as what a screen has asked of its query is valid until the next frame.
 */
struct query_ribbon {
	struct timeline_watch watch; /* for timeline_options */
	struct query query;
	uint64_t of[TIMELINE_FIGURES]; /* how much there is at most: slots of all CPUs; 0: no limit
					*/
};

/* Begins with the first moment that is noted. */
void query_ribbon_init(struct query_ribbon *r);
void query_ribbon_deinit(struct query_ribbon *r);

#endif
