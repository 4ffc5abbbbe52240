/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_OPENMETRICS_H
#define KONTEND_TESTS_OPENMETRICS_H

#include <stddef.h>

/*
 * A strict reader of OpenMetrics text 1.0.0, and of what is left of it when the textfile collector
 * of node_exporter must take it too: counters, gauges and histograms only, no time stamps, no
 * exemplars. 0, or the number of the first line that is wrong with a sentence in @why.
 */
size_t openmetrics_check(const char *text, char *why, size_t size);

/* The value of the one sample written so ("kontend_events_total", "x{a=\"b\"}"); -1: none. */
double openmetrics_value(const char *text, const char *sample);

#endif
