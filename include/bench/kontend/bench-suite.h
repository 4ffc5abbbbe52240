/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_SUITE_H
#define KONTEND_BENCH_SUITE_H

#include "kontend/bench-figures.h"
#include "kontend/bench-stats.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_SUITE_SCHEMA "kontend.bench.suite/1"

/* What several runs of several benchmarks gave, on one machine. `= {0}` is an empty one. */
enum { BENCH_SUITE_WORD = 64, BENCH_SUITE_TEXT = 256 };

/* Whose values can be compared with another's: the same benchmark, case, metric and unit. */
struct bench_suite_figure {
	char bench[BENCH_SUITE_WORD], of[BENCH_SUITE_WORD], metric[BENCH_SUITE_WORD],
		unit[BENCH_SUITE_WORD];
	enum bench_better better;
	double *v; /* of the runs that could measure it */
	size_t n, cap;
};

struct bench_suite_skipped {
	char bench[BENCH_SUITE_WORD], why[BENCH_SUITE_TEXT];
	bool is_part; /* a case of it; the others have figures */
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
	unsigned n_failed; /* of these, while it ran */
};

/* The figure of that name, made if it is not there; NULL: no memory. Valid until the next call. */
struct bench_suite_figure *bench_suite_figure(struct bench_suite *s, const char *bench,
					      const char *of, const char *metric, const char *unit);
/* The one of @s that can be compared with @f; NULL: there is none. */
const struct bench_suite_figure *bench_suite_find(const struct bench_suite *s,
						  const struct bench_suite_figure *f);
/* One more run. 0 or -ENOMEM. */
int bench_suite_add(struct bench_suite_figure *f, double value);
/* This benchmark says nothing, and why; the first reason is kept. 0 or -ENOMEM. */
int bench_suite_skip(struct bench_suite *s, const char *bench, const char *why);
/* A case of it says nothing; @why begins with the case. 0 or -ENOMEM. */
int bench_suite_skip_part(struct bench_suite *s, const char *bench, const char *why);
void bench_suite_deinit(struct bench_suite *s);

/*
 * From the text of a file that is called @name: 0; -EBADMSG with @err, which says where it is no
 * suite; -ENOTSUP: this program was built without a reader of JSON.
 */
int bench_suite_read(struct bench_suite *ret, const char *text, size_t len, const char *name,
		     struct error *err);

/* How a figure has changed. */
enum bench_suite_verdict {
	BENCH_SUITE_FACT,    /* it is none that gets better or worse */
	BENCH_SUITE_UNKNOWN, /* too few runs, or none, or not above 0 */
	BENCH_SUITE_SAME,    /* not by more than chance may do */
	BENCH_SUITE_BETTER,
	BENCH_SUITE_WORSE,
};

enum bench_suite_verdict bench_suite_judge(const struct bench_suite_figure *before,
					   const struct bench_suite_figure *now,
					   struct bench_stats_ratio *ret);
const char *bench_suite_verdict_name(enum bench_suite_verdict v); /* "better" */

#endif
