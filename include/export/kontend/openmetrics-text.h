/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_TEXT_H
#define KONTEND_OPENMETRICS_TEXT_H

#include "kontend/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * All metrics of kontend, both those in files of `export` and those of the server of `record`. The
 * manual page, the alert rules and the dashboard are checked against this list.
 */
enum openmetrics_kind { OPENMETRICS_COUNTER, OPENMETRICS_GAUGE, OPENMETRICS_HISTOGRAM };

/* Longer values of labels are cut off; paths of cgroups may be long. */
enum { OPENMETRICS_VALUE = 1024 };

enum openmetrics_where { OPENMETRICS_EXPORT = 1, OPENMETRICS_SERVER = 2 };

struct openmetrics_family {
	const char *name; /* ends in the unit; NULL: the end of the list */
	enum openmetrics_kind type;
	const char *unit;   /* NULL: a plain number */
	const char *labels; /* separated by blanks, without le; "": none */
	const char *help;
	unsigned where; /* enum openmetrics_where */
};

extern const struct openmetrics_family openmetrics_families[];
const char *openmetrics_text_kind(enum openmetrics_kind t); /* "counter" */

/* One line for each family: NAME, TYPE, UNIT, LABELS, WHERE, HELP, separated by tabs. */
void openmetrics_text_dump(FILE *out);

/*
 * Durations by bucket. Those that were counted without a bucket, because a table was full, are in
 * the last one, so that the buckets add up to @n.
 */
struct openmetrics_hist {
	uint64_t counts[HIST_BUCKETS];
	uint64_t n, total_ns;
};

/*
 * The buckets of text: bounds from 1.02 us to 17 s, powers of two; longer durations are in the last
 * bucket. Counts are not cumulative.
 */
enum { OPENMETRICS_FIRST = 10, OPENMETRICS_LAST = 34 };
enum { OPENMETRICS_BUCKETS = OPENMETRICS_LAST - OPENMETRICS_FIRST + 2 };

void openmetrics_hist_bars(const struct openmetrics_hist *h, uint64_t ret[OPENMETRICS_BUCKETS]);

/*
 * The buckets of a native histogram of Prometheus: schema 2, a quarter of an octave, which is also
 * the resolution of kontend's histograms. Bounds there are powers of two of a second, here of a
 * nanosecond, and the two differ by no whole number of quarters. So each bucket here becomes the
 * one there that contains its middle; no two become the same one, and none is left out. The bounds
 * there are 4 to 11 % above those here. Durations below 4 ns count as 0.
 */
enum { OPENMETRICS_SCHEMA = 2, OPENMETRICS_ZERO_NS = HIST_SUB };

static inline int openmetrics_hist_index(unsigned bucket) /* bounds: 2^((i-1)/4), 2^(i/4) s */
{
	return (int)bucket - 114;
}

/* The first bucket of which the upper bound reaches @upper_ns. */
static inline size_t openmetrics_text_bucket(uint64_t upper_ns)
{
	size_t k = OPENMETRICS_FIRST;

	while (k <= OPENMETRICS_LAST && upper_ns > 1ull << k)
		k++;
	return k - OPENMETRICS_FIRST;
}

/* A duration of which more is known than its bucket: the file that has its incident. */
struct openmetrics_exemplar {
	uint64_t ns, wall_ns; /* wall_ns 0: there is none */
	char incident[96];
};

/*
 * A family is its head and all its samples, in a run. Values of labels are cleaned and escaped; the
 * caller makes sure that no two samples of a family have the same ones.
 */
struct openmetrics_text {
	FILE *out;
	const struct openmetrics_family *family;
	struct openmetrics_proto *proto; /* NULL: text; else everything goes there, as messages */
};

/* Begins the family with that name, which must be in the list. */
void openmetrics_text_family(struct openmetrics_text *t, const char *name);
/* Samples of the family; @values: one for each of its labels. */
void openmetrics_text_count(struct openmetrics_text *t, const char *const *values, uint64_t n);
void openmetrics_text_seconds(struct openmetrics_text *t, const char *const *values, uint64_t ns);
void openmetrics_text_ratio(struct openmetrics_text *t, const char *const *values, double ratio);
/* @e: an exemplar for one of its buckets, or NULL */
void openmetrics_text_histogram(struct openmetrics_text *t, const char *const *values,
				const struct openmetrics_hist *h,
				const struct openmetrics_exemplar *e);

#endif
