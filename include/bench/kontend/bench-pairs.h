/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_PAIRS_H
#define KONTEND_BENCH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What something costs, from pairs of runs that are the same but for it, one right after the other:
 * how much more the second of each took, in percent.
 */
enum { BENCH_PAIRS_LEAST = 5 /* for an interval */ };

struct bench_pairs {
	double *pct;
	size_t n, cap;
};

struct bench_pairs_sum {
	size_t n;
	double median;	  /* NaN of none */
	double low, high; /* in which it lies with a certainty of 95 %; NaN: too few */
};

/* The same took @off without and @on with it; nothing is a pair without an @off. 0 or -ENOMEM. */
int bench_pairs_add(struct bench_pairs *p, double off, double on);
/*
 * The interval is of a bootstrap: as many pairs are drawn anew, some twice, and their median is
 * taken, two thousand times, always in the same way. 0 or -ENOMEM.
 */
int bench_pairs_sum(const struct bench_pairs *p, struct bench_pairs_sum *ret);
void bench_pairs_deinit(struct bench_pairs *p);

#endif
