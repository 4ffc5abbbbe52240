/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_SUMS_H
#define KONTEND_METRICS_SUMS_H

#include "kontend/openmetrics.h"
#include "probes.h"
#include "rows.h"

/* Names that a metric may have, and those that may begin in a second: the first by time waited. */
enum { METRICS_LOCKS = 100, METRICS_CGROUPS = 100, METRICS_PROCESSES = 100, METRICS_MEMCGS = 64 };
enum { METRICS_FIRST = 20 };
/* Of locks and of processes so many are looked at in a second: what is behind them is `other`. */
enum { METRICS_LOOKED_AT = 80 };

/* All that grows. */
struct metrics_sums {
	struct openmetrics *types;
	struct metrics_rows locks;		/* kind: enum lock_type */
	struct metrics_rows cgroups, processes; /* kind 0 */
	struct metrics_rows memcgs;		/* mmap_locks; kind 0 readers, 1 writers */
	/* The same by their own events: taken, asked for and got, held. */
	struct metrics_rows taken, gets, holds;
	struct metrics_probes probes;
	uint64_t rotations, rotation_ns;
	uint64_t summed[LOCK_TYPES], counted[LOCK_TYPES]; /* waits that were not told: shorts.h */
};

int metrics_sums_init(struct metrics_sums *s, const char *version); /* -ENOMEM */
void metrics_sums_deinit(struct metrics_sums *s);
/* Adds what the model of @q has summed up, which begins anew then. -ENOMEM: of some of it only. */
int metrics_sums_add(struct metrics_sums *s, struct query *q);
/* The longest waits begin anew, as they have been written. */
void metrics_sums_no_longest(struct metrics_sums *s);

#endif
