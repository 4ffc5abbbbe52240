// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of metrics: sums of the histograms that queries return. */
#include "openmetrics-int.h"

void openmetrics_hist_count(struct openmetrics_hist *to, const struct query_hist *from)
{
	uint64_t n = 0;

	for (size_t i = 0; from->counts && i < HIST_BUCKETS; i++) {
		to->counts[i] += from->counts[i];
		n += from->counts[i];
	}
	if (from->n_waits > n)
		to->counts[HIST_BUCKETS - 1] += from->n_waits - n;
}

void openmetrics_hist_add(struct openmetrics_hist *to, const struct query_hist *from)
{
	openmetrics_hist_count(to, from);
	to->n += from->n_waits;
	to->total_ns += from->total_ns;
}

void openmetrics_hist_bars(const struct openmetrics_hist *h, uint64_t ret[OPENMETRICS_BUCKETS])
{
	for (size_t i = 0; i < OPENMETRICS_BUCKETS; i++)
		ret[i] = 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		ret[openmetrics_text_bucket(hist_upper(i))] += h->counts[i];
}
