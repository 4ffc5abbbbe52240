/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_STATS_H
#define KONTEND_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* What runs of a benchmark say together. */
enum { BENCH_STATS_MOST = 1000 /* runs */, BENCH_STATS_LEAST = 3 /* for an interval */ };

/* Of 1 to BENCH_STATS_MOST values; of none: NaN. The median of the distances from the median. */
double bench_stats_median(const double *v, size_t n);
double bench_stats_mad(const double *v, size_t n);

/* By how much the median of @b is another than that of @a: b / a, and where it is to 95 %. */
struct bench_stats_ratio {
	double ratio, low, high;
	bool known;	   /* ratio */
	bool has_interval; /* low and high: there were runs enough of both */
};

/*
 * The interval is that of the percentile bootstrap: runs of each side are drawn anew, as many as
 * there are, and what 95 % of such ratios are between is it. The same values give the same answer.
 */
void bench_stats_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
		       struct bench_stats_ratio *ret);
/* Is it another one, as far as the interval can tell? */
bool bench_stats_differs(const struct bench_stats_ratio *r);

#endif
