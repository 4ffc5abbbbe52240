/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RANKS_H
#define KONTEND_RANKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Do two samples differ by more than chance? The rank sum test of Mann, Whitney and Wilcoxon, two
 * sided: it takes nothing for granted of how values are spread. For samples of up to twenty values
 * each, and for some larger ones beside a smaller one, all arrangements are counted, equal values
 * included. Larger samples take the normal distribution, corrected for equal values.
 */
struct ranked {
	double v;
	bool second; /* of the second sample */
};

/*
 * The probability of ranks as far apart as these, or farther, where nothing but chance tells the
 * two samples apart: 1 where one of them is empty. @v has room for as many again behind its @n.
 */
double ranks_probability(struct ranked *v, size_t n);
/* The smallest that samples of these sizes can have: more than is asked for, and they are too few.
 */
double ranks_least(size_t n_first, size_t n_second);

#endif
