/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_HIST_H
#define KONTEND_QUERY_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct query_scope;

/* Histogram of the finished waits in scope, a row an octave, from the first to the last filled. */
struct query_bar {
	uint64_t lower_ns, upper_ns, n;
	double pct;
};

struct query_hist {
	struct query_bar *bars;
	size_t n;
	const uint64_t *counts; /* by bucket of kontend/hist.h, HIST_BUCKETS; NULL: not of these */
	uint64_t n_waits, total_ns, min_ns, max_ns, p50_ns, p90_ns, p99_ns;
	uint64_t inflight_ns; /* by those that go on; whether these are in the sums, see below */
	uint64_t n_inflight;
	uint64_t spun_ns;	     /* by these on a CPU; 0: not at all, or not reported */
	bool at_least, max_at_least; /* some go on: of all sums; and of the longest */
};

/* Of waits that have ended alone, as who adds up several answers needs it. */
int query_hist(struct query *q, const struct query_scope *scope, struct query_hist *ret);
/* The total, the longest and percentiles have waits that go on, too, so far; bars and n_waits have
 * not. */
int query_hist_now(struct query *q, const struct query_scope *scope, struct query_hist *ret);

#endif
