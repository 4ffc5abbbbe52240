/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_H
#define KONTEND_OPENMETRICS_H

#include "kontend/query.h"
#include <stdio.h>

struct openmetrics_spec {
	size_t callers;	     /* those that wait most; 0: all */
	const char *version; /* of the program; borrowed */
};

/*
 * Totals as OpenMetrics text 1.0.0, written so that the older text format of Prometheus (textfile
 * collector of node_exporter) takes it as well: no time stamps, no types that it does not know.
 * They only grow, whatever the model forgets, as counters have to, and are bounded: callers beyond
 * a number are added up as "other".
 */
struct openmetrics;

int openmetrics_new(struct openmetrics **ret, const struct openmetrics_spec *s); /* -ENOMEM */
void openmetrics_free(struct openmetrics *m);
/*
 * Adds what the model has summed up; the caller has it zeroed before more is added. What is no sum
 * is as it is now. 0, or -ENOMEM with @err: then some of it may be missing from the totals.
 */
int openmetrics_add(struct openmetrics *m, struct query *q, struct error *err);
/* 0, or the errno of a failed write, with @err. */
int openmetrics_put(const struct openmetrics *m, FILE *out, struct error *err);

#endif
