/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HELD_H
#define KONTEND_QUERY_HELD_H

#include "kontend/query.h"

/* Sums of the column set "held" of the table "blame": see query-blame.h. */
struct query_held_sum {
	uint64_t got;	     /* locks that were waited for and got */
	uint64_t known;	     /* of them, those of which it is known how long they were held */
	uint64_t exact;	     /* of these, those that are no upper bounds */
	uint64_t waited_ns;  /* for locks, by all */
	uint64_t charged_ns; /* to holds that ended, with what was waited before a window */
	/* Not in it: by waits whose end was lost; see struct query_blame_sum. */
	uint64_t doubtful_ns;
	bool doubtful_known;
	uint64_t only_ns; /* of a window: holds of so long alone are known; 0: of all of it */
};

/* How long it took from a release to the next one who had the lock: of all that is meant. */
struct query_handed {
	uint64_t n, p50_ns, p99_ns, max_ns; /* n 0: the others are not known */
};

int query_held_sum(struct query *q, struct query_held_sum *ret);  /* 0 or -ENOMEM */
int query_held_handed(struct query *q, struct query_handed *ret); /* the same */
bool query_held_has_releases(const struct query *q);

#endif
