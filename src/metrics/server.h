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
 * HTTP, for one text at one place, in the format that a client would rather have. The text is made
 * when somebody asks: the server's thread says so and waits for it, a moment, else it sends what it
 * has; whoever makes it never waits. Below /debug/pprof/ there are profiles, of which each client
 * gets its own; the server's thread does not wait for these, and has others meanwhile.
 */
struct metrics_server;

/* Opens the port of @a, which then has the number that was taken where it was 0. */
int metrics_server_new(struct metrics_server **ret, struct metrics_address *a, struct error *err);
/* Starts its thread. */
int metrics_server_start(struct metrics_server *s, struct error *err);
/* Bits of the formats that somebody waits for. Also ends what has gone on for too long. */
unsigned metrics_server_wanted(struct metrics_server *s);
/* The text of a format from now on, taken over: of mem_calloc() or mem_resize(). */
void metrics_server_publish(struct metrics_server *s, enum metrics_format f, char *text,
			    size_t len);
/* The next profile that was asked for, to be answered by its slot below ASKED_MOST. */
bool metrics_server_asked(struct metrics_server *s, unsigned *ret_slot, struct asked *ret);
/* Of one that is being made: nobody waits for it any more. It is not to be answered then. */
bool metrics_server_has_left(struct metrics_server *s, unsigned slot);
/*
 * The answer: bytes of a profile with @status 200, else a sentence; taken over as above. NULL:
 * there was no memory for it.
 */
void metrics_server_answer(struct metrics_server *s, unsigned slot, unsigned status, char *data,
			   size_t len);
void metrics_server_free(struct metrics_server *s); /* NULL is fine */

#endif
