/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_SERVER_H
#define KONTEND_METRICS_SERVER_H

#include "asked.h"
#include "kontend/error.h"
#include "kontend/metrics-address.h"
#include "kontend/metrics-format.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * An HTTP server for one text, in the client's preferred format. The text is made on request: the
 * server's thread requests it and waits a moment, else it sends the previous one; the thread that
 * makes it never waits. Below /debug/pprof/ each client gets a profile of its own; the server's
 * thread serves other clients meanwhile.
 */
struct metrics_server;

/* Opens the port of @a; port 0 is replaced by the chosen number. */
int metrics_server_new(struct metrics_server **ret, struct metrics_address *a, struct error *err);
/* Starts its thread. */
int metrics_server_start(struct metrics_server *s, struct error *err);
/* Bits of the requested formats. Also ends connections over the time limit. */
unsigned metrics_server_wanted(struct metrics_server *s);
/* Replaces the text of a format; takes over memory of mem_calloc() or mem_resize(). */
void metrics_server_publish(struct metrics_server *s, enum metrics_format f, char *text,
			    size_t len);
/* The next requested profile, to be answered by its slot below ASKED_MOST. */
bool metrics_server_asked(struct metrics_server *s, unsigned *ret_slot, struct asked *ret);
/* True if the client of this profile in progress has gone: it then needs no answer. */
bool metrics_server_has_left(struct metrics_server *s, unsigned slot);
/*
 * Answers with the bytes of a profile and @status 200, else with a sentence; takes over the memory
 * as above. NULL: no memory for it.
 */
void metrics_server_answer(struct metrics_server *s, unsigned slot, unsigned status, char *data,
			   size_t len);
void metrics_server_free(struct metrics_server *s); /* NULL is fine */

#endif
