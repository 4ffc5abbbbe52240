/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPENMETRICS_H
#define KONTEND_OPENMETRICS_H

#include "kontend/locktype.h"
#include "kontend/openmetrics-text.h"
#include "kontend/query-hist.h"
#include "kontend/query.h"
#include <stdio.h>

struct openmetrics_spec {
	size_t callers; /* number of callers, those with the longest waiting times; 0: all */
	/*
	 * For a server: no callers; all types, so that a first wait is an increase; and memory
	 * cgroups within the limits of its other series.
	 */
	bool live;
	const char *version; /* of the program; borrowed */
};

/*
 * Totals for files and for the server, which adds series of its own. As text they are OpenMetrics
 * 1.0.0, restricted to what the older text format of Prometheus (textfile collector of
 * node_exporter) takes, too: no time stamps, no types that it does not know. They only grow, as
 * counters must, whatever the model drops, and their number is limited (named-sums.h).
 */
struct openmetrics;

int openmetrics_new(struct openmetrics **ret, const struct openmetrics_spec *s); /* -ENOMEM */
void openmetrics_free(struct openmetrics *m);
/*
 * Adds the sums of the model; the caller clears them before more is added. Other values replace the
 * old ones. 0, or -ENOMEM with @err: then the totals may be incomplete.
 */
int openmetrics_add(struct openmetrics *m, struct query *q, struct error *err);
/*
 * The file that contains a wait, for the histogram of the lock's type. @wall_ns: time of the wait.
 * If that type has no such wait, there is no exemplar.
 */
void openmetrics_incident(struct openmetrics *m, enum lock_type type, uint64_t wait_ns,
			  uint64_t wall_ns, const char *file);
/* Adds the counts and the sum of a histogram; the first function adds the counts only, with those
 * that had no bucket. */
void openmetrics_hist_count(uint64_t to[HIST_BUCKETS], const struct query_hist *from);
void openmetrics_hist_add(struct openmetrics_hist *to, const struct query_hist *from);

struct openmetrics_sum {
	uint64_t n, total_ns, waiting;
};

/* The totals of each type. */
void openmetrics_sums(const struct openmetrics *m, struct openmetrics_sum ret[LOCK_TYPES]);
/* Families that files and the server share, for callers that add others. */
void openmetrics_put_source(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_types(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_longest(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_mmap(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_quality(const struct openmetrics *m, struct openmetrics_text *t);
void openmetrics_put_loss(const struct openmetrics *m, struct openmetrics_text *t);
/* Clears the longest waits, after a reader has got them. */
void openmetrics_clear_longest(struct openmetrics *m);
/* Series that ended to make room for others. */
uint64_t openmetrics_ended(const struct openmetrics *m);
/* All metrics of a file. 0, or the errno of a failed write, with @err. */
int openmetrics_put(const struct openmetrics *m, FILE *out, struct error *err);

/*
 * The same families as messages of Prometheus' own format, each after its length, for scrapers that
 * take native histograms, which the text format lacks. A family without samples is left out.
 */
struct openmetrics_proto;

bool openmetrics_proto_is_built(void);
int openmetrics_proto_new(struct openmetrics_proto **ret, FILE *out); /* -ENOMEM, -ENOTSUP */
/* The counterparts of the functions in openmetrics-text.h. */
void openmetrics_proto_family(struct openmetrics_proto *p, const struct openmetrics_family *f);
void openmetrics_proto_value(struct openmetrics_proto *p, const char *const *labels, double value);
/* @e: may be NULL */
void openmetrics_proto_histogram(struct openmetrics_proto *p, const char *const *labels,
				 const struct openmetrics_hist *h,
				 const struct openmetrics_exemplar *e);
/* Writes the last family and frees everything. -ENOMEM: something is missing. NULL is fine. */
int openmetrics_proto_end(struct openmetrics_proto *p);

#endif
