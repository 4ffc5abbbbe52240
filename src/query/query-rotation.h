/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_ROTATION_H
#define KONTEND_SRC_QUERY_ROTATION_H

#include "kontend/query-rotation.h"
#include "query-perf.h"

/* What the files over rotation share. */

/* Does the timer rotate contexts? Without symbols each one that was let through is taken for one.
 */
bool query_rotation_is_mux(const struct query *q, const struct rotation_timer *t);
/* The list of PMUs; false: the stream has none. */
bool query_rotation_pmus(const struct query *q, struct pmus *ret);

/* query-rotation-owners.c: whose events take turns on a CPU. */
struct query_owner {
	int32_t pid;
	uint32_t comm; /* text of the snapshot */
	uint32_t events;
};

struct query_culprits {
	struct query_owner *owners; /* by events, most first */
	size_t n;
	uint32_t events; /* of all of them */
	const char *pmu; /* of them; NULL: not known, or several */
	bool guessed;	 /* no context was seen rotating: all with events of counters */
};

/* 0 or -ENOMEM. */
int query_rotation_culprits(struct query *q, const struct query_perf *p, uint32_t cpu,
			    struct query_culprits *ret);

#endif
