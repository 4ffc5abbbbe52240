/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_OPENMETRICS_INT_H
#define KONTEND_EXPORT_OPENMETRICS_INT_H

#include "kontend/damage.h"
#include "kontend/loss.h"
#include "kontend/named-sums.h"
#include "kontend/openmetrics-text.h"
#include "kontend/openmetrics.h"
#include "kontend/query-mmap.h"
#include "kontend/record.h"

struct openmetrics_type {
	bool is_seen;
	struct openmetrics_hist hist;
	uint64_t failed, waiting, max_ns; /* max_ns: since the last scrape */
	struct openmetrics_exemplar incident;
};

/* mmap_locks by memory cgroup and mode; all but the waits are from their own tracepoints. */
struct openmetrics_mmap {
	struct named_sums waits, acquired, gets, holds;
	bool is_known;	 /* addresses of mmap_locks are known */
	bool has_events; /* their tracepoints are recorded */
};

struct openmetrics {
	struct openmetrics_spec spec;
	struct openmetrics_type types[LOCK_TYPES];
	struct named_sums callers;
	struct openmetrics_mmap mmap;
	uint64_t measured_ns, longest_ns, n_events;
	uint64_t start_wall_ns; /* start of counting; 0: unknown */
	struct model_damage damage;
	struct loss loss;
	struct record_host host;
};

/* openmetrics-mmap.c: 0 or -ENOMEM. */
int openmetrics_init_mmap(struct openmetrics *m);
void openmetrics_deinit_mmap(struct openmetrics *m);
int openmetrics_add_mmap(struct openmetrics *m, struct query *q);

#endif
