/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_PAIRED_H
#define KONTEND_BENCH_PAIRED_H

#include <stddef.h>

/* Differences of pairs, and where their middle lies with a certainty of 95 %. */
struct paired {
	double *v;
	size_t n, cap;
};

struct paired_middle {
	double median, low, high;
};

void paired_add(struct paired *p, double v);
/* Of none all are 0. The interval is the bootstrap's: of medians of samples drawn from @p. */
struct paired_middle paired_middle(const struct paired *p);
void paired_free(struct paired *p);

#endif
