/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_METRICS_H
#define KONTEND_RECORD_METRICS_H

#include "kontend/error.h"

struct opts;
struct engine;
struct metrics;
struct metrics_counts;

/*
 * The steps of serving metrics; each does nothing where --metrics is not given. The port
 * is opened first, while there are the rights for it. -EINVAL: a usage error.
 */
int record_metrics_new(struct metrics **ret, const struct opts *o, struct error *err);
/* Measuring has begun, and rights have been given up. */
int record_metrics_start(struct metrics *m, const struct opts *o, struct engine *e,
			 struct error *err);
/* The engine is at a tick. An error is printed: it is no reason to end. */
void record_metrics_tick(struct metrics *m, const struct opts *o, const struct metrics_counts *c);

#endif
