/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_ROTATION_H
#define KONTEND_SRC_QUERY_ROTATION_H

#include "kontend/query-rotation.h"
#include "perf/snapshot.h"

/* Shared by the files about rotation. */

/* Does the timer rotate contexts? Without symbols each one that was let through is taken for one.
 */
bool query_rotation_is_mux(const struct query *q, const struct rotation_timer *t);
/* The list of PMUs; false: the stream has none. */
bool query_rotation_pmus(const struct query *q, struct pmus *ret);

/* costs.c: of the points of one kind, on one CPU or on all (UINT32_MAX). */
struct query_rotation_fit query_rotation_fit(const struct query_rotation_costs *c,
					     enum query_rotation_what what, uint32_t cpu);

/* rotation/what-if.c: of one timer; @p->snap may be NULL. 0 or -ENOMEM. */
int query_rotation_what_if(struct query *q, const struct query_perf *p,
			   const struct query_rotation_costs *c, const struct rotation_timer *t,
			   struct query_rotation_what_if *ret);

/* rotation/owners.c: whose events take turns on a CPU. */
struct query_owner {
	int32_t pid;
	uint32_t comm; /* text of the snapshot */
	uint32_t events;
	uint32_t of_tasks; /* of them */
};

/* "cpu-wide", "per task". */
const char *query_owner_kind(const struct query_owner *o);

struct query_culprits {
	struct query_owner *owners; /* by events, most first */
	size_t n;
	uint32_t events; /* of all of them */
	/* Of the same contexts of tasks, but bound to other CPUs: they cannot count here. */
	uint32_t elsewhere;
	const char *pmu; /* of them; NULL: not known, or several */
	bool guessed;	 /* no context was seen rotating: all with events of counters */
};

/* The PMU that they are of, or the only one that there is; NULL: not known. */
const struct pmus_item *query_rotation_pmu(const struct pmus *pmus, const struct query_culprits *c);
/* 0 or -ENOMEM. */
int query_rotation_culprits(struct query *q, const struct query_perf *p, uint32_t cpu,
			    struct query_culprits *ret);

#endif
