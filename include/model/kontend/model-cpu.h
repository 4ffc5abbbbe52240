/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_CPU_H
#define KONTEND_MODEL_CPU_H

#include "kontend/limits.h"
#include "kontend/series.h"
#include <stdbool.h>
#include <stdint.h>

/* Per CPU: the spin waits in flight (innermost last) and what the overview shows. */
struct model_cpu {
	uint32_t waits[WAIT_DEPTH];
	uint32_t depth;
	bool seen, offline;
	uint64_t last_event_ns; /* time of the last event of this CPU */
	uint64_t contended, total_ns;
	uint64_t spin_ns;	       /* of waits that ended, since the sums began */
	uint64_t lost, lost_before;    /* records; of them before the range */
	bool unreported;	       /* how many of those it had no room for last */
	uint64_t lost_until;	       /* its records before are not all there */
	uint64_t slept_ns;	       /* latest begin or end of a sleeping wait there */
	uint32_t fill_used, fill_size; /* bytes: fullest state of its ring in the closed bucket */
	uint32_t fill_next;	       /* in the open one */
	uint32_t fill_most;	       /* since the sums began */
	uint64_t cur_n, cur_wait_ns, cur_spin_ns;    /* in the open bucket */
	uint64_t rate_n, rate_wait_ns, rate_spin_ns; /* in the closed one */
	struct series n_series, wait_series;
};

/* One row a lock type, for the overview. */
struct model_type {
	uint64_t contended, total_ns;
	uint64_t waited_ns; /* as in a cell */
	uint64_t cur_n, cur_wait_ns, rate_n, rate_wait_ns;
	struct series wait_series;
};

#endif
