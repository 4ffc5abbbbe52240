/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_FIGURES_H
#define KONTEND_BENCH_FIGURES_H

#include <stddef.h>

/*
 * The results of one run of a benchmark: a value for each pair of a case and a metric, in the order
 * of the output. Runs of the same benchmark with the same options have the same pairs.
 */
enum bench_better {
	BENCH_FACT, /* describes the work, not its speed: printed, but never compared */
	BENCH_HIGHER,
	BENCH_LOWER,
};

struct bench_figure {
	char of[64];	    /* the case: "uprobe-nop, 2 cpus" */
	const char *metric; /* "calls"; a constant, as is @unit */
	const char *unit;   /* "ns", "1/s", "B/s", "%", "1" for a count or a ratio */
	enum bench_better better;
	double value; /* NaN: it could not be measured */
};

struct bench_figures {
	struct bench_figure *v;
	size_t n, cap;
	int code; /* -ENOMEM: some are missing */
};

/* The common part of a figure's values; a constant of the benchmark. */
struct bench_metric {
	const char *name, *unit;
	enum bench_better better;
};

__attribute__((format(printf, 4, 5))) void bench_figures_put(struct bench_figures *f,
							     const struct bench_metric *metric,
							     double value, const char *of, ...);
void bench_figures_deinit(struct bench_figures *f);
const char *bench_figures_better(enum bench_better b); /* "fact", "higher", "lower" */

#endif
