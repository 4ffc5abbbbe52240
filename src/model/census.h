/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_CENSUS_H
#define KONTEND_SRC_MODEL_CENSUS_H

#include "kontend/map64.h"
#include "kontend/snapshot.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers of perf events by one snapshot of them: those that may count, by the task (0: the
 * CPU itself) and the CPU (-1: any CPU).
 */
enum census_what {
	CENSUS_COUNTERS, /* that take a counter of hardware: what rotation goes through */
	CENSUS_ALL,	 /* what a context switch goes through */
	/* All events of contexts with one that samples at a frequency, which is what the tick goes
	 * through: of a task whatever their CPU. */
	CENSUS_TICK,
};

/* Two of them are of the same events if they are equal. */
struct census_count {
	uint32_t n;
	uint64_t ids; /* sum over the numbers of the events, which are never used twice */
};

struct census {
	struct map64 index;
	struct census_count *counts;
	size_t n, cap;
};

/* @perf: a snapshot of kind SNAPSHOT_PERF; @pmus: the list of rotating PMUs, or NULL. 0; -ENOMEM;
 * -ENODATA: it does not say. An empty one in both cases. */
int census_take(struct census *c, const struct snapshot *perf, const struct snapshot *pmus);
void census_add(struct census_count *sum, const struct census *c, enum census_what what,
		int32_t tid, int32_t cpu);
void census_deinit(struct census *c);

#endif
