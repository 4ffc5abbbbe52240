/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_STATS_H
#define KONTEND_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Statistics over the runs of a benchmark. */
enum { BENCH_STATS_MOST = 1000 /* runs */, BENCH_STATS_LEAST = 3 /* for an interval */ };

/* For 1 to BENCH_STATS_MOST values; for none: NaN. The median of the distances from the median. */
double bench_stats_median(const double *v, size_t n);
double bench_stats_mad(const double *v, size_t n);

/* The ratio of the median of @b to that of @a, and its confidence interval of 95 %. */
struct bench_stats_ratio {
	double ratio, low, high;
	bool known;	   /* ratio is valid */
	bool has_interval; /* low and high are valid: both sides have enough runs */
};

/*
 * The interval is that of the percentile bootstrap: runs of each side are drawn again, as many as
 * there are, and the interval contains 95 % of the ratios. The same values give the same result.
 */
void bench_stats_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
		       struct bench_stats_ratio *ret);
/* Does the ratio differ from 1, given the interval? */
bool bench_stats_differs(const struct bench_stats_ratio *r);

#endif
