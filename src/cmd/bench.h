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
 * cannot be had together, -ENODEV or -EOPNOTSUPP where this machine has not what is to be measured,
 * -ERANGE for figures that are there, and beyond a limit.
 */
int cmd_bench_uprobe(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_rotation(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_page_fault(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_mmap(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_mutex(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_rwsem(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_spinlock(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_futex(const struct opts *o, struct bench_out *out, struct error *err);
int cmd_bench_selftest(const struct opts *o, struct bench_out *out, struct error *err);

/* One of them. */
struct bench_entry {
	const char *name;
	int (*run)(const struct opts *o, struct bench_out *out, struct error *err);
	unsigned takes;	   /* options */
	const char *suite; /* its options in a suite, "" for none; NULL: it is in no suite */
};

extern const struct bench_entry bench_table[]; /* ended by one without a name */

/* `bench suite`: a run of each, several times; it answers with the exit status. */
int bench_suite_main(const struct opts *o);

#endif
