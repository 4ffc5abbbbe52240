/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_SUITE_H
#define KONTEND_BENCH_SUITE_H

#include "kontend/bench-figures.h"
#include "kontend/bench-stats.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_SUITE_SCHEMA "kontend.bench.suite/1"

/* The results of several runs of several benchmarks on one machine. `= {0}` is empty. */
enum { BENCH_SUITE_WORD = 64, BENCH_SUITE_TEXT = 256 };

/* Values can be compared if benchmark, case, metric and unit are the same. */
struct bench_suite_figure {
	char bench[BENCH_SUITE_WORD], of[BENCH_SUITE_WORD], metric[BENCH_SUITE_WORD],
		unit[BENCH_SUITE_WORD];
	enum bench_better better;
	double *v; /* of the runs that could measure it */
	size_t n, cap;
};

struct bench_suite_skipped {
	char bench[BENCH_SUITE_WORD], why[BENCH_SUITE_TEXT];
	bool is_part; /* a single case was skipped; the benchmark has other figures */
};

struct bench_suite {
	char date[BENCH_SUITE_WORD], host[BENCH_SUITE_WORD], kernel[BENCH_SUITE_TEXT],
		machine[BENCH_SUITE_WORD], version[BENCH_SUITE_WORD];
	uint32_t cpus, runs;
	uint64_t took_ns;
	struct bench_suite_figure *figures;
	size_t n, cap;
	struct bench_suite_skipped *skipped;
	size_t n_skipped, cap_skipped;
	unsigned n_failed; /* number of these that failed during the suite */
};

/* The figure with that name, created if necessary; NULL: no memory. Valid until the next call. */
struct bench_suite_figure *bench_suite_figure(struct bench_suite *s, const char *bench,
					      const char *of, const char *metric, const char *unit);
/* The figure of @s that can be compared with @f; NULL: none */
const struct bench_suite_figure *bench_suite_find(const struct bench_suite *s,
						  const struct bench_suite_figure *f);
/* Adds a run. 0 or -ENOMEM. */
int bench_suite_add(struct bench_suite_figure *f, double value);
/* Notes that a benchmark has no result, and why; the first reason is kept. 0 or -ENOMEM. */
int bench_suite_skip(struct bench_suite *s, const char *bench, const char *why);
/* The same for one of its cases; @why begins with the case. 0 or -ENOMEM. */
int bench_suite_skip_part(struct bench_suite *s, const char *bench, const char *why);
void bench_suite_deinit(struct bench_suite *s);

/*
 * Parses the text of a file that is called @name: 0; -EBADMSG with @err, which names the place that
 * is wrong; -ENOTSUP: this program was built without a reader of JSON.
 */
int bench_suite_read(struct bench_suite *ret, const char *text, size_t len, const char *name,
		     struct error *err);

/* How a figure has changed. */
enum bench_suite_verdict {
	BENCH_SUITE_FACT,    /* a fact: it cannot get better or worse */
	BENCH_SUITE_UNKNOWN, /* too few runs, or none, or not above 0 */
	BENCH_SUITE_SAME,    /* the difference may be due to chance */
	BENCH_SUITE_BETTER,
	BENCH_SUITE_WORSE,
};

enum bench_suite_verdict bench_suite_judge(const struct bench_suite_figure *before,
					   const struct bench_suite_figure *now,
					   struct bench_stats_ratio *ret);
const char *bench_suite_verdict_name(enum bench_suite_verdict v); /* "better" */

#endif
