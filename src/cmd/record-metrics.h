/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_RECORD_METRICS_H
#define KONTEND_CMD_RECORD_METRICS_H

#include "kontend/opts.h"

/* Measures for --metrics alone; says errors itself, and answers the exit status. */
int cmd_record_metrics(const struct opts *o);

#endif
