/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_TEXT_H
#define KONTEND_OPENMETRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Every metric that kontend has, whoever writes it: files of `export`, the server of `record`. The
 * manual page, the alert rules and the dashboard are checked against this list.
 */
enum openmetrics_kind { OPENMETRICS_COUNTER, OPENMETRICS_GAUGE, OPENMETRICS_HISTOGRAM };

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
 * Durations as a histogram, with bounds from 1.02 us to 17 s, powers of two; longer ones are in the
 * last bucket. Counts are not cumulative.
 */
enum { OPENMETRICS_FIRST = 10, OPENMETRICS_LAST = 34 };
enum { OPENMETRICS_BUCKETS = OPENMETRICS_LAST - OPENMETRICS_FIRST + 2 };

struct openmetrics_hist {
	uint64_t buckets[OPENMETRICS_BUCKETS];
	uint64_t n, total_ns;
};

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
