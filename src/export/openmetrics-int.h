/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_OPENMETRICS_INT_H
#define KONTEND_EXPORT_OPENMETRICS_INT_H

#include "kontend/loss.h"
#include "kontend/openmetrics-text.h"
#include "kontend/openmetrics.h"
#include "kontend/query-mmap.h"
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

/* The mmap_locks of a memory cgroup, in one mode. */
struct openmetrics_memcg {
	const char *name;
	bool write;
	uint64_t acquired;
	struct openmetrics_hist waits, gets, holds;
};

struct openmetrics {
	struct openmetrics_spec spec;
	struct openmetrics_type types[LOCK_TYPES];
	/* sorted by name, type, mode */
	struct openmetrics_caller *callers;
	size_t n_callers, cap_callers;
	struct openmetrics_memcg *memcgs;
	size_t n_memcgs, cap_memcgs;
	bool mmap_known, mmap_events; /* mmap_known: addresses of mmap_locks are known;
				       * mmap_events: their own tracepoints are recorded */
	struct strpool names;
	uint64_t measured_ns, longest_ns, n_events;
	uint64_t start_wall_ns; /* start of counting; 0: unknown */
	struct model_damage damage;
	struct loss loss;
	struct record_host host;
};

/* openmetrics-mmap.c: 0 or -ENOMEM. */
int openmetrics_add_mmap(struct openmetrics *m, struct query *q);
void openmetrics_put_mmap(const struct openmetrics *m, struct openmetrics_text *t);

#endif
