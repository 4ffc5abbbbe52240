/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_H
#define KONTEND_METRICS_H

#include "kontend/engine.h"
#include "kontend/incident.h"
#include "kontend/metrics-address.h"
#include "kontend/metrics-format.h"

#include <stdio.h>

/*
 * What an engine measures, as OpenMetrics over HTTP while it goes on. The thread that pumps the
 * engine adds up once a second, and writes the text when somebody has asked for it; a thread of the
 * server sends it. Neither waits for a client: the one only for a lock that is held for a moment.
 */
struct metrics;

struct metrics_options {
	const char *listen;  /* [ADDR:]PORT; NULL: nobody listens, for metrics_put() alone */
	const char *version; /* of the program; borrowed */
};

/* What the engine does not know: counts since the start. */
struct metrics_counts {
	uint64_t incidents;		    /* files that were written */
	uint64_t fired, suppressed, failed; /* triggers */
	bool triggers;			    /* there are any: else none of these is shown */
};

/*
 * Opens the port, which may take rights that are given up later. -EINVAL with @err: it makes no
 * sense; others: it cannot be had.
 */
int metrics_new(struct metrics **ret, const struct metrics_options *o, struct error *err);
/* Where it is served: "http://127.0.0.1:9417/metrics"; "" without a port. */
const char *metrics_url(const struct metrics *m);
/*
 * From now on clients are answered, by a thread that has the rights and the CPU share of the
 * caller, and no signals. @e is borrowed until the end. 0 or a negative errno with @err.
 */
int metrics_start(struct metrics *m, struct engine *e, struct error *err);
/*
 * Once a second, by the thread that pumps the engine: adds what the model has summed up, has it
 * zeroed (model_zero()), and writes the text if a client waits for it. A step that has no memory is
 * left out: then -ENOMEM with @err, and sums of a second may be missing.
 */
int metrics_tick(struct metrics *m, const struct metrics_counts *c, struct error *err);
/* Its parts: adds; has somebody asked? */
int metrics_add(struct metrics *m, struct error *err);
bool metrics_wanted(struct metrics *m);
/* The text itself. Longest waits begin anew, as it is for a scrape. 0 or a negative errno. */
int metrics_put(struct metrics *m, const struct metrics_counts *c, enum metrics_format f, FILE *out,
		struct error *err);
/* A file was written of it: an exemplar, where the wait of it is one of one type of lock. */
void metrics_incident(struct metrics *m, const struct incident *i, const char *file);
/* Answers no more; NULL is fine. */
void metrics_free(struct metrics *m);

#endif
