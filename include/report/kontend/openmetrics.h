/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_H
#define KONTEND_OPENMETRICS_H

#include "kontend/locktype.h"
#include "kontend/openmetrics-text.h"
#include "kontend/query.h"
#include <stdio.h>

struct openmetrics_spec {
	size_t callers;	 /* those that wait most; 0: all */
	bool no_callers; /* they are not summed up */
	bool no_memcgs;	 /* nor are mmap_locks by memory cgroup */
	bool all_types;	 /* also those that nobody has waited for, so that a first wait is a rise */
	const char *version; /* of the program; borrowed */
};

/*
 * Totals as OpenMetrics text 1.0.0, written so that the older text format of Prometheus (textfile
 * collector of node_exporter) takes it as well: no time stamps, no types that it does not know.
 * They only grow, whatever the model forgets, as counters have to, and are bounded: callers beyond
 * a number are added up as "other".
 */
struct openmetrics;

int openmetrics_new(struct openmetrics **ret, const struct openmetrics_spec *s); /* -ENOMEM */
void openmetrics_free(struct openmetrics *m);
/*
 * Adds what the model has summed up; the caller has it zeroed before more is added. What is no sum
 * is as it is now. 0, or -ENOMEM with @err: then some of it may be missing from the totals.
 */
int openmetrics_add(struct openmetrics *m, struct query *q, struct error *err);
/*
 * The file in which is what a wait was a part of, for the histogram of its type. @wall_ns: when. A
 * type that had no such wait is not meant, and no exemplar comes of it.
 */
void openmetrics_incident(struct openmetrics *m, enum lock_type type, uint64_t wait_ns,
			  uint64_t wall_ns, const char *file);
/* Adds the counts and sums of a histogram; the counts alone, and those that had no bucket. */
void openmetrics_hist_count(struct openmetrics_hist *to, const struct query_hist *from);
void openmetrics_hist_add(struct openmetrics_hist *to, const struct query_hist *from);

struct openmetrics_sum {
	uint64_t n, total_ns, waiting;
};

/* What has been added up of each type. */
void openmetrics_sums(const struct openmetrics *m, struct openmetrics_sum ret[LOCK_TYPES]);
/* Families of both, for who writes others beside them. */
void openmetrics_put_source(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_types(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_longest(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_quality(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_loss(const struct openmetrics *m, struct openmetrics_text *t);
/* The longest waits, which somebody has got, begin anew. */
void openmetrics_no_longest(struct openmetrics *m);
/* All that files have. 0, or the errno of a failed write, with @err. */
int openmetrics_put(const struct openmetrics *m, FILE *out, struct error *err);

#endif
