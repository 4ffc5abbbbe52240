/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_RUN_H
#define KONTEND_BENCH_RUN_H

#include "kontend/bench-figures.h"
#include "kontend/error.h"
#include "kontend/opts.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How a benchmark answers: its own text for people as it goes, and all of its figures. */
struct bench_out {
	int (*report)(const struct opts *o); /* `kontend report`; answers the exit status */
	FILE *text;			     /* NULL: figures alone are asked for */
	struct bench_figures figures;
	struct error lacks; /* a case that cannot be had here, and why; "": none */
};

/*
 * The benchmarks, each in its own file. 0; negative with @err: -EINVAL for options that cannot be
 * had together, -ENODEV or -EOPNOTSUPP if this machine lacks the thing to measure, -ERANGE for
 * figures beyond a limit.
 */
int bench_run_uprobe(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_rotation(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_breakpoint(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_page_fault(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_mmap(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_mutex(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_rwsem(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_spinlock(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_futex(const struct opts *o, struct bench_out *out, struct error *err);
int bench_run_selftest(const struct opts *o, struct bench_out *out, struct error *err);

/* One of them. */
struct bench_entry {
	const char *name;
	int (*run)(const struct opts *o, struct bench_out *out, struct error *err);
	unsigned takes;	   /* options */
	const char *suite; /* its options in a suite, "" for none; NULL: it is in no suite */
};

/* With --threads as one number, where it takes no list of them. */
int bench_run(const struct bench_entry *b, const struct opts *o, struct bench_out *out,
	      struct error *err);

/* The options of a benchmark, as if they had been typed; @line keeps the words. */
enum { BENCH_LINE = 256 };
int bench_options(const struct bench_entry *b, const char *options, char line[BENCH_LINE],
		  struct opts *ret, struct error *err);

extern const struct bench_entry bench_table[]; /* ended by one without a name */

/* `bench suite`: a run of each, several times; it answers with the exit status. */
int bench_suite_main(const struct opts *o);

/* Parses --threads: "8", "1,4,all". -EINVAL with @err. */
enum { BENCH_COUNTS = 32 };

struct bench_counts {
	uint32_t v[BENCH_COUNTS]; /* 0: one for each CPU */
	size_t n;
	bool is_list; /* a table is asked for, whose rows these are */
};

int bench_counts(const struct opts *o, struct bench_counts *ret, struct error *err);

struct bench_mm_options;
/* run-retries.c: tries again of down_read_trylock(), or why that is not known. */
void bench_retries(const struct bench_mm_options *o, struct bench_out *out);

/* run-mmap-cost.c: `bench mmap --cost`. */
int bench_run_mmap_cost(const struct opts *o, struct bench_out *out, struct error *err);

#endif
