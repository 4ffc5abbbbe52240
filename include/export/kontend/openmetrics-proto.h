/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_PROTO_H
#define KONTEND_OPENMETRICS_PROTO_H

#include "kontend/openmetrics-text.h"

/*
 * The same families as messages of Prometheus' own format, each after its length, for scrapers that
 * take native histograms, which the text format lacks. A family without samples is left out.
 */
struct openmetrics_proto;

bool openmetrics_proto_is_built(void);
int openmetrics_proto_new(struct openmetrics_proto **ret, FILE *out); /* -ENOMEM, -ENOTSUP */
/* The counterparts of the functions in openmetrics-text.h. */
void openmetrics_proto_family(struct openmetrics_proto *p, const struct openmetrics_family *f);
void openmetrics_proto_value(struct openmetrics_proto *p, const char *const *labels, double value);
/* @e: may be NULL */
void openmetrics_proto_histogram(struct openmetrics_proto *p, const char *const *labels,
				 const struct openmetrics_hist *h,
				 const struct openmetrics_exemplar *e);
/* Writes the last family and frees everything. -ENOMEM: something is missing. NULL is fine. */
int openmetrics_proto_end(struct openmetrics_proto *p);

#endif
