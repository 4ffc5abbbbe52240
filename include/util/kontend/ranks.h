/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RANKS_H
#define KONTEND_RANKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Do two samples differ by more than chance? The two-sided rank sum test of Mann, Whitney and
 * Wilcoxon: it assumes no distribution of the values. For samples of up to twenty values each, and
 * for some larger ones next to a smaller one, all arrangements are counted, ties included. Larger
 * samples use the normal distribution, corrected for ties.
 */
struct ranked {
	double v;
	bool second; /* of the second sample */
};

/*
 * The probability that ranks differ this much or more by chance alone; 1 if a sample is empty. @v
 * has room for another @n values after its @n.
 */
double ranks_probability(struct ranked *v, size_t n);
/*
 * The lowest probability possible with samples of these sizes: if it is above the requested level,
 * there are too few values.
 */
double ranks_least(size_t n_first, size_t n_second);

#endif
