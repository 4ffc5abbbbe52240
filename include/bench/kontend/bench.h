/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_H
#define KONTEND_BENCH_H

#include "kontend/bench-figures.h"
#include "kontend/opts.h"

/* `kontend bench`: answers the exit status. @report is the verb `report`, which --measure runs. */
int bench_main(const struct opts *o, int (*report)(const struct opts *o));

/*
 * Runs the benchmark of @line, as it would be typed after `kontend bench`, without printing. 0, or
 * negative with @err.
 */
int bench_line(const char *line, struct bench_figures *ret, struct error *err);

#endif
