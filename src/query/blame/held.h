/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_HELD_H
#define KONTEND_QUERY_BLAME_HELD_H

#include "../internal.h"
#include "../rows.h"

/* Holds that ended, summed up as waits are: see held.c. */
struct blame_holds {
	struct query *q;
	enum query_by by;
	const struct model *whole, *times; /* times: the one that is summed up */
	const struct model *overs;	   /* the same of hand-overs */
	struct groups gs, handed;
	bool has_window;
	uint64_t window_ns; /* of the query, while something is summed up */
	uint64_t all_ns;    /* waited for locks, by all */
	struct hist hist;   /* scratch */
};

int blame_holds_sum(struct blame_holds *h, const struct query_scope *scope); /* 0 or -ENOMEM */
/* The columns of held; @g may be NULL: the row holds no lock. */
void blame_fill_held(struct blame_holds *h, struct group *g, uint64_t want, struct value *v);

#endif
