/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_PAIRS_H
#define KONTEND_BENCH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The cost of something, from pairs of consecutive runs that differ only in it: how much more time
 * the second run of each pair took, in percent.
 */
enum { BENCH_PAIRS_LEAST = 5 /* for an interval */ };

struct bench_pairs {
	double *pct;
	size_t n, cap;
};

struct bench_pairs_sum {
	size_t n;
	double median;	  /* NaN: no pairs */
	double low, high; /* the confidence interval of 95 %; NaN: too few pairs */
};

/* Adds a pair: @off without and @on with it; ignored if @off is 0. 0 or -ENOMEM. */
int bench_pairs_add(struct bench_pairs *p, double off, double on);
/*
 * The interval is from a bootstrap: as many pairs are drawn again, with repetitions, and their
 * median is taken, two thousand times, always in the same way. 0 or -ENOMEM.
 */
int bench_pairs_sum(const struct bench_pairs *p, struct bench_pairs_sum *ret);
void bench_pairs_deinit(struct bench_pairs *p);

#endif
