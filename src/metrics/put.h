/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_PUT_H
#define KONTEND_METRICS_PUT_H

#include "kontend/metrics.h"
#include "kontend/query.h"
#include "sums.h"

/* Writes the server's whole text to @t, except its end. -ENOMEM: it is incomplete. */
int metrics_put_all(const struct metrics_sums *s, struct query *q, const struct metrics_counts *c,
		    uint64_t n_scrapes, struct openmetrics_text *t);

#endif
