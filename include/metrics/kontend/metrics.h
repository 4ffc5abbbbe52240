/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_H
#define KONTEND_METRICS_H

#include "kontend/engine.h"
#include "kontend/incident.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An address to listen on, in numbers: names are not resolved. */
struct metrics_address {
	bool is_v6;
	uint8_t bytes[16]; /* network order; of IPv4 the first four */
	uint16_t port;	   /* 0: any free port */
};

/*
 * Parses "PORT" on 127.0.0.1, "ADDR:PORT" or "[ADDR]:PORT". -EINVAL with @err, which names @option.
 */
int metrics_address_parse(const char *text, const char *option, struct metrics_address *ret,
			  struct error *err);
/* "127.0.0.1:9417", "[::1]:9417" */
enum { METRICS_ADDRESS_TEXT = 64 };
const char *metrics_address_text(const struct metrics_address *a, char buf[METRICS_ADDRESS_TEXT]);
/* True if only programs on this machine can connect. */
bool metrics_address_is_loopback(const struct metrics_address *a);

/* Format of the metrics: text, or protobuf messages, which also have native histograms. */
enum metrics_format { METRICS_TEXT, METRICS_PROTO, METRICS_FORMATS };

/*
 * The format that the header Accept prefers: messages if they have a higher weight than text, or
 * the same weight and precede it. NULL: no header; the result is text, as for clients that list
 * neither.
 */
enum metrics_format metrics_format_wanted(const char *accept);
const char *metrics_format_type(enum metrics_format f); /* for Content-Type */

/*
 * Serves the figures of an engine as OpenMetrics over HTTP during the measurement. The thread that
 * pumps the engine adds up once a second, and writes the text on request; a thread of the server
 * sends it. The measuring thread never waits for a client, only for a lock that is held briefly.
 */
struct metrics;

struct metrics_options {
	const char *listen;  /* [ADDR:]PORT; NULL: no server, only metrics_put() */
	const char *version; /* of the program; borrowed */
};

/* Counts since the start that the engine lacks. */
struct metrics_counts {
	uint64_t incidents;		    /* files written */
	uint64_t fired, suppressed, failed; /* triggers */
	bool triggers;			    /* there are triggers: else these counts are left out */
};

/*
 * Opens the port, while there are privileges for it. -EINVAL with @err: invalid address; others:
 * not available.
 */
int metrics_new(struct metrics **ret, const struct metrics_options *o, struct error *err);
/* URL: "http://127.0.0.1:9417/metrics"; "" without a port. */
const char *metrics_url(const struct metrics *m);
/*
 * Starts the thread that answers clients, with the capabilities and the CPU share of the caller and
 * all signals blocked. @e is borrowed until the end. 0 or a negative errno with @err.
 */
int metrics_start(struct metrics *m, struct engine *e, struct error *err);
/*
 * Call once a second in the thread that pumps the engine: adds the model's sums, zeroes them
 * (model_zero()), and writes the text if a client waits for it. Without memory for a step, it is
 * left out: -ENOMEM with @err, and sums of a second may be missing.
 */
int metrics_tick(struct metrics *m, const struct metrics_counts *c, struct error *err);
/* Its parts: adds; returns whether a client waits. */
int metrics_add(struct metrics *m, struct error *err);
bool metrics_wanted(struct metrics *m);
/* Writes the text for a scrape and resets the longest waits. 0 or a negative errno. */
int metrics_put(struct metrics *m, const struct metrics_counts *c, enum metrics_format f, FILE *out,
		struct error *err);
/* Adds the file of an incident as an exemplar, if its cause is a wait for one type of lock. */
void metrics_incident(struct metrics *m, const struct incident *i, const char *file);
/* Stops the server; NULL is fine. */
void metrics_free(struct metrics *m);

#endif
