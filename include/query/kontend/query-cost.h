/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_COST_H
#define KONTEND_QUERY_COST_H

#include "kontend/figure.h"
#include "kontend/query.h"

/*
 * The cost of kontend itself since measuring began, as of the last tick (record_cost): CPU time,
 * and shares in percent of one CPU.
 */
struct query_cost {
	bool known;
	uint64_t cpu_ns, drain_ns, looks_ns, rest_ns;
	double pct, drain_pct, looks_pct, rest_pct;
	uint64_t perf_rings, bpf_rings, bpf_maps; /* bytes of the kernel's memory */
	uint64_t kernel;			  /* all of it; 0: not known */
	/* Of following holders of locks: see record_cost; `follow`: it was to be, and could be. */
	bool follow;
	uint64_t resident;	  /* bytes of memory of kontend itself; 0: not known */
	uint64_t symbols_dropped; /* by this process: tables that had no room, and are read again */
	uint64_t follow_ns, follow_records, follow_missed, follow_times, follow_attached_ns;
};

enum { QUERY_COST_TEXT = 320 }; /* bytes for query_cost_text() */

extern const struct figure query_cost_figures[];

/* All zeros and not known where the stream has none: of old recordings, and of other programs'. */
struct query_cost query_cost(const struct query *q);
/* "3.2% of a CPU: draining rings 0.6%, snapshots 1.1%, the rest 1.5%; 96.2M of memory, 14 tables
 * of symbols dropped; 28.0M of the kernel's memory; holders of locks followed for 12.5s: 8.1k
 * records, 3 not followed" into @buf. */
const char *query_cost_text(const struct query_cost *c, char *buf, size_t size);

#endif
