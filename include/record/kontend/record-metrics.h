/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_METRICS_H
#define KONTEND_RECORD_METRICS_H

#include "kontend/error.h"

struct opts;
struct engine;
struct metrics;
struct metrics_counts;

/*
 * The steps of serving metrics. Each does nothing without --metrics. The first step opens the port,
 * while the process has the rights for that. -EINVAL: a usage error.
 */
int record_metrics_new(struct metrics **ret, const struct opts *o, struct error *err);
/* To be called when measuring has begun and the rights were given up. */
int record_metrics_start(struct metrics *m, const struct opts *o, struct engine *e,
			 struct error *err);
/* To be called at each tick of the engine. Prints errors: they do not end the recording. */
void record_metrics_tick(struct metrics *m, const struct opts *o, const struct metrics_counts *c);

#endif
