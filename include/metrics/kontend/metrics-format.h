/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_FORMAT_H
#define KONTEND_METRICS_FORMAT_H

#include <stdbool.h>

/* Format of the metrics: text, or protobuf messages, which also have native histograms. */
enum metrics_format { METRICS_TEXT, METRICS_PROTO, METRICS_FORMATS };

/*
 * The format that the header Accept prefers: messages if they have a higher weight than text, or
 * the same weight and precede it. NULL: no header; the result is text, as for clients that list
 * neither.
 */
enum metrics_format metrics_format_wanted(const char *accept);
const char *metrics_format_type(enum metrics_format f); /* for Content-Type */

#endif
