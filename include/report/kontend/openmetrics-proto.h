/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_PROTO_H
#define KONTEND_OPENMETRICS_PROTO_H

#include "kontend/openmetrics-text.h"

/*
 * The same families as messages of Prometheus' own format, each behind its length, for scrapers
 * that take native histograms, which no text has. A family without samples is left out.
 */
struct openmetrics_proto;

bool openmetrics_proto_is_built(void);
int openmetrics_proto_new(struct openmetrics_proto **ret, FILE *out); /* -ENOMEM, -ENOTSUP */
/* What openmetrics-text.h has for text. */
void openmetrics_proto_family(struct openmetrics_proto *p, const struct openmetrics_family *f);
void openmetrics_proto_value(struct openmetrics_proto *p, const char *const *labels, double value);
/* @e: NULL, there is none. */
void openmetrics_proto_histogram(struct openmetrics_proto *p, const char *const *labels,
				 const struct openmetrics_hist *h,
				 const struct openmetrics_exemplar *e);
/* Writes the last family and frees all. -ENOMEM: something is missing. NULL is fine. */
int openmetrics_proto_end(struct openmetrics_proto *p);

#endif
