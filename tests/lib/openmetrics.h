/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_OPENMETRICS_H
#define KONTEND_TESTS_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A strict reader of OpenMetrics text 1.0.0, in the subset that the textfile collector of
 * node_exporter takes, too: counters, gauges and histograms only, no time stamps; and exemplars of
 * buckets, which node_exporter does not take. 0, or the number of the first wrong line with a
 * sentence in @why.
 */
size_t openmetrics_check(const char *text, char *why, size_t size);

/* The value of the one sample written so ("kontend_events_total", "x{a=\"b\"}"); -1: none. */
double openmetrics_value(const char *text, const char *sample);

/*
 * Every counter of @before, parts of histograms included, is in @now and no smaller: false; else
 * true, with the sample in @buf. Adds how many were compared to *@n.
 */
bool openmetrics_fell(const char *before, const char *now, unsigned *n, char *buf, size_t size);

/* The sum of all samples that begin with @prefix and have @within in their labels; how many. */
double openmetrics_total(const char *text, const char *prefix, const char *within, unsigned *ret_n);

#endif
