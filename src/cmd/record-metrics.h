/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_RECORD_METRICS_H
#define KONTEND_CMD_RECORD_METRICS_H

#include "kontend/error.h"

struct opts;
struct engine;
struct metrics;
struct metrics_counts;

/* Measures for --metrics alone; says errors itself, and answers the exit status. */
int cmd_record_metrics(const struct opts *o);

/*
 * Its steps, for a loop of another verb; each does nothing where --metrics is not given. The port
 * is opened first, while there are the rights for it. -EINVAL: a usage error.
 */
int cmd_record_metrics_new(struct metrics **ret, const struct opts *o, struct error *err);
/* Measuring has begun, and rights have been given up. */
int cmd_record_metrics_start(struct metrics *m, const struct opts *o, struct engine *e,
			     struct error *err);
/* The engine is at a tick. An error is printed: it is no reason to end. */
void cmd_record_metrics_tick(struct metrics *m, const struct opts *o,
			     const struct metrics_counts *c);

#endif
