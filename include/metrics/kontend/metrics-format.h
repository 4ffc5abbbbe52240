/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_FORMAT_H
#define KONTEND_METRICS_FORMAT_H

#include <stdbool.h>

/* How the metrics are written: text, or messages that have native histograms beside the others. */
enum metrics_format { METRICS_TEXT, METRICS_PROTO, METRICS_FORMATS };

/*
 * What a client would rather have, by its header Accept: messages where these have a higher weight
 * than text, or the same and stand before it. NULL: it has none; then it is text, as for all who
 * name neither.
 */
enum metrics_format metrics_format_wanted(const char *accept);
const char *metrics_format_type(enum metrics_format f); /* for Content-Type */

#endif
