/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_SUMS_H
#define KONTEND_METRICS_SUMS_H

#include "kontend/openmetrics.h"
#include "probes.h"

/* Limits: names of each metric, and new names per second: the first by time waited. */
enum { METRICS_LOCKS = 100, METRICS_CGROUPS = 100, METRICS_PROCESSES = 100 };
enum { METRICS_FIRST = 20 };
/* Locks and processes examined in a second; all others are `other`. */
enum { METRICS_LOOKED_AT = 80 };

/* All sums, which only grow. */
struct metrics_sums {
	struct openmetrics *types; /* all that files have as well */
	struct named_sums locks, cgroups, processes;
	struct metrics_probes probes;
	uint64_t rotations, rotation_ns;
	uint64_t summed[LOCK_TYPES], counted[LOCK_TYPES]; /* waits without events: shorts.h */
};

int metrics_sums_init(struct metrics_sums *s, const char *version); /* -ENOMEM */
void metrics_sums_deinit(struct metrics_sums *s);
/*
 * Adds the sums of the model of @q, which then starts again from zero. -ENOMEM: some may be
 * missing.
 */
int metrics_sums_add(struct metrics_sums *s, struct query *q);
/* Resets the longest waits after they have been written. */
void metrics_sums_clear_longest(struct metrics_sums *s);

#endif
