/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_OVERVIEW_H
#define KONTEND_QUERY_OVERVIEW_H

#include "kontend/locktype.h"
#include "kontend/query-damage.h"
#include "kontend/record.h"
#include "kontend/sym.h"

struct query;

/* Header line and overview block. */
struct query_overview {
	uint64_t elapsed_ns, bucket_ns;
	uint64_t start_ns, from_ns, to_ns; /* of all, and what the sums are about: session clock */
	double events_per_s, contended_per_s, wait_ns_per_s;
	uint64_t n_events;
	struct model_damage damage;
	double unmatched_pct;		  /* unmatched and doubtful of all waits */
	struct query_loss loss, loss_now; /* of the sums and of the rates */
	uint32_t waiting, waiting_rwsem_r, waiting_rwsem_w, waiting_by_type[LOCK_TYPES];
	/* Of these, as columns of waiters have it; of any kontend: never the longest. */
	uint32_t waiting_early, waiting_doubtful, own_waiting;
	uint64_t own_waits, own_wait_ns;
	bool no_ends, any_longest,
		longest_approx; /* no ends are reported; it is at least that long */
	uint64_t longest_ns;
	const char *longest_task;		 /* "mm/5215" */
	const char *longest_lock, *longest_type; /* as the NAME and TYPE columns have it */
	uint64_t longest_lock_id;		 /* of its row by lock */
	const uint64_t *contended_series, *wait_series, *waiting_series;
	uint32_t n_series, n_range;	      /* buckets; the last ones that are of the range */
	uint32_t fill_pct;		      /* fullest ring */
	uint32_t cpus_offline, first_offline; /* how many went away, and the first one */
	uint64_t contended, total_ns;	      /* finished waits since the start (or zeroing) */
	uint64_t inflight_ns, waited_ns; /* by those in flight, whole; by all, the part within */
	double user_ns_per_s; /* the same sums of locks of programs: part of wait_ns_per_s, ... */
	uint64_t user_waited_ns;
	uint32_t user_waiting;
	const struct record_host *host;
	const uint64_t *n_snapshots; /* by enum record_snapshot_kind */
	enum sym_state sym_state;
	bool no_kernel_names; /* there are none, and a note or the state says why */
};

int query_overview(struct query *q, struct query_overview *ret);

#endif
