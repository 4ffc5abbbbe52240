/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_INT_H
#define KONTEND_OPENMETRICS_INT_H

#include "kontend/loss.h"
#include "kontend/openmetrics-text.h"
#include "kontend/openmetrics.h"
#include "kontend/strpool.h"

struct openmetrics_type {
	bool is_seen;
	struct openmetrics_hist hist;
	uint64_t failed, waiting, max_ns; /* max_ns: since the last scrape */
	struct openmetrics_exemplar incident;
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
