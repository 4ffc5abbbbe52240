/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_TEXT_H
#define KONTEND_OPENMETRICS_TEXT_H

#include "kontend/hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Every metric that kontend has, whoever writes it: files of `export`, the server of `record`. The
 * manual page, the alert rules and the dashboard are checked against this list.
 */
enum openmetrics_kind { OPENMETRICS_COUNTER, OPENMETRICS_GAUGE, OPENMETRICS_HISTOGRAM };

/* A value of a label is cut off there; paths of cgroups may be long. */
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

/* A line a family: NAME, TYPE, UNIT, LABELS, WHERE, HELP, separated by tabs. */
void openmetrics_text_dump(FILE *out);

/*
 * Durations by the buckets that they were counted in; what was not counted there, as a table was
 * full, is in the last one, so that they add up to @n.
 */
struct openmetrics_hist {
	uint64_t counts[HIST_BUCKETS];
	uint64_t n, total_ns;
};

/*
 * What text has of it: bounds from 1.02 us to 17 s, powers of two; longer ones are in the last
 * bucket. Counts are not cumulative.
 */
enum { OPENMETRICS_FIRST = 10, OPENMETRICS_LAST = 34 };
enum { OPENMETRICS_BUCKETS = OPENMETRICS_LAST - OPENMETRICS_FIRST + 2 };

void openmetrics_hist_bars(const struct openmetrics_hist *h, uint64_t ret[OPENMETRICS_BUCKETS]);

/*
 * What is a native histogram of Prometheus of it: with the resolution that ours have, a quarter of
 * an octave, which is schema 2. Its bounds are powers of two of a second, ours of a nanosecond, and
 * between these there is no whole number of quarters: so each of our buckets is one of its, those
 * in which its middle is, that has no other and leaves none out. Its bounds are 4 to 11 % above
 * ours. What is shorter than 4 ns is 0.
 */
enum { OPENMETRICS_SCHEMA = 2, OPENMETRICS_ZERO_NS = HIST_SUB };

static inline int openmetrics_hist_index(unsigned bucket) /* its bounds: 2^((i-1)/4), 2^(i/4) s */
{
	return (int)bucket - 114;
}

/* The bucket of durations below a bound: the first one that reaches it. */
static inline size_t openmetrics_text_bucket(uint64_t upper_ns)
{
	size_t k = OPENMETRICS_FIRST;

	while (k <= OPENMETRICS_LAST && upper_ns > 1ull << k)
		k++;
	return k - OPENMETRICS_FIRST;
}

/* A duration of which more is known than its bucket: the file in which its incident is. */
struct openmetrics_exemplar {
	uint64_t ns, wall_ns; /* wall_ns 0: there is none */
	char incident[96];
};

/*
 * A family is its head and all its samples, in a run. Values of labels are cleaned and escaped; the
 * caller sees to it that no two samples of a family have the same ones.
 */
struct openmetrics_text {
	FILE *out;
	const struct openmetrics_family *family;
	struct openmetrics_proto *proto; /* NULL: text; else all goes there, as messages */
};

/* Begins a family by its name, which must be in the list. */
void openmetrics_text_family(struct openmetrics_text *t, const char *name);
/* Samples of it; as many @values as the family has labels. */
void openmetrics_text_count(struct openmetrics_text *t, const char *const *values, uint64_t n);
void openmetrics_text_seconds(struct openmetrics_text *t, const char *const *values, uint64_t ns);
void openmetrics_text_ratio(struct openmetrics_text *t, const char *const *values, double ratio);
/* @e: of its buckets, where they have one; NULL: there are none. */
void openmetrics_text_histogram(struct openmetrics_text *t, const char *const *values,
				const struct openmetrics_hist *h,
				const struct openmetrics_exemplar *e);

#endif
