/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_RUN_SUITE_H
#define KONTEND_BENCH_RUN_SUITE_H

#include "kontend/bench-suite.h"
#include "kontend/jsonw.h"

#include <stdio.h>

/* How the reason begins of one that was tried, and failed. */
#define FAILED "failed: "

/* As text: the head, a line a figure, what was skipped. */
void bench_suite_print(FILE *out, const struct bench_suite *s);
/* Columns that the longest case takes. */
int bench_suite_width(const struct bench_suite *s);
/* As members of an object that is open. */
void bench_suite_put(struct jsonw *j, const struct bench_suite *s);

/* Prints the changes from @before to @now; @name: of the file that @before is from. */
void bench_compare_print(FILE *out, const struct bench_suite *before, const struct bench_suite *now,
			 const char *name);
void bench_compare_put(struct jsonw *j, const struct bench_suite *before,
		       const struct bench_suite *now, const char *name);

/* "12.3us", "1.20M/s", "3.4%": a value in its unit, for people. */
enum { BENCH_SUITE_VALUE = 48 };
const char *bench_suite_value(char buf[BENCH_SUITE_VALUE], double v, const char *unit);

#endif
