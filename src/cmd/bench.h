/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_BENCH_H
#define KONTEND_CMD_BENCH_H

#include "kontend/bench-figures.h"
#include "kontend/error.h"
#include "kontend/opts.h"

#include <stdio.h>

/* How a benchmark answers: its own text for people as it goes, and all of its figures. */
struct bench_out {
	FILE *text; /* NULL: figures alone are asked for */
	struct bench_figures figures;
};

/*
 * What `bench` measures, each in its own file. 0; negative with @err: -EINVAL for options that
 * cannot be had together, -ENODEV or -EOPNOTSUPP where this machine has not what is to be measured.
 */
int cmd_bench_uprobe(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_rotation(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_page_fault(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_mmap(const struct opts *o, struct bench_out *out, struct error *err);

#endif
