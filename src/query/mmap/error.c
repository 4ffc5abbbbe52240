// SPDX-License-Identifier: GPL-2.0-only
/*
 * The possible error of a count that was made in bursts: that of an estimate by a ratio, where each
 * burst is one observation, however many events are in it, as events of one burst depend on each
 * other. With few bursts their spread is uncertain, which the quantiles of t take into account; and
 * they may be alike by chance, so that one more is assumed in which a quarter is missing.
 */
#include "list.h"

#include <math.h>

/* 97.5 % of the t distributions of 1 to 20 degrees of freedom. */
static const double quantiles[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				   2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
				   2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

static double quantile(uint64_t freedom)
{
	const uint64_t n = sizeof(quantiles) / sizeof(*quantiles);

	return freedom <= n ? quantiles[freedom - 1] : 1.96 + 2.5 / (double)freedom;
}

double query_mmap_deviation(const struct mmlock_mode *m, const struct mmlocks *l)
{
	double part = l->size > 0 ? (double)m->before / l->size : 0;
	double rest = m->squares - 2 * part * m->products + part * part * l->sizes_squared;

	return rest > 0 ? sqrt(rest) : 0;
}

/*
 * The largest error: acquisitions that were seen did happen, and all unseen ones may be of this
 * row.
 */
static double most(const struct query_mmap_events *e, double scale, double all)
{
	double seen = (double)e->before, told = seen * scale, unseen = all - all / scale;
	double above = seen + unseen - told, below = told - seen;

	return above > below ? above : below;
}

double query_mmap_error(const struct query_mmap_events *e, const struct mmlocks *l, double scale,
			double all)
{
	double n = (double)l->bursts, quarter = n > 0 ? (double)e->before / n / 4 : 0;

	if (l->bursts < 2)
		return all > 0 && l->bursts ? most(e, scale, all) : -1;
	double spread = e->deviation * e->deviation + quarter * quarter;
	double error =
		quantile(l->bursts - 1) * scale * sqrt(n / (n - 1) * spread * (1 - 1 / scale));
	return all > 0 ? fmin(error, most(e, scale, all)) : error;
}
