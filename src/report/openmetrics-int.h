/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_INT_H
#define KONTEND_OPENMETRICS_INT_H

#include "kontend/loss.h"
#include "kontend/openmetrics.h"
#include "kontend/strpool.h"

/* Bounds from 1.02 us to 17 s, powers of two; longer waits are in the last bucket. */
enum { OPENMETRICS_FIRST = 10, OPENMETRICS_LAST = 34 };
enum { OPENMETRICS_BUCKETS = OPENMETRICS_LAST - OPENMETRICS_FIRST + 2 };

struct openmetrics_type {
	bool is_seen;
	uint64_t buckets[OPENMETRICS_BUCKETS]; /* not yet cumulative */
	uint64_t n, total_ns, failed, waiting;
};

struct openmetrics_caller {
	const char *name, *type, *mode;
	uint64_t n, total_ns;
};

struct openmetrics {
	struct openmetrics_spec spec;
	struct openmetrics_type types[LOCK_TYPES];
	/* In the order of name, type, mode. */
	struct openmetrics_caller *callers;
	size_t n_callers, cap_callers;
	struct strpool names;
	uint64_t measured_ns, longest_ns, n_events;
	uint64_t start_wall_ns; /* when counting began; 0: not known */
	struct model_damage damage;
	struct loss loss;
	struct record_host host;
};

#endif
