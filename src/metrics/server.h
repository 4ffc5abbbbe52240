/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_SERVER_H
#define KONTEND_METRICS_SERVER_H

#include "kontend/metrics.h"
#include "kontend/pprof.h"
#include "kontend/query-samples.h"

#include <stdbool.h>
#include <stddef.h>

/* asked.c: profiles that clients can request below /debug/pprof/. */
enum { ASKED_MOST = 4 /* at once */, ASKED_SECONDS = 300, ASKED_WORDS = 160 };

struct asked {
	enum query_samples_what what;
	unsigned seconds;
};

/* True if the path is that of a profile; then @ret is set. */
bool asked_path(const char *url, struct asked *ret);
/* Name of the downloaded file: "mutex", "block", "profile". */
const char *asked_name(enum query_samples_what what);
/* @seconds: as in the request; NULL: not given. False: @ret_why is the answer. */
bool asked_seconds(const char *seconds, struct asked *a, char ret_why[ASKED_WORDS]);
/*
 * True if @host, as in the request, is localhost or an address, with or without a port. Other names
 * may have been made to resolve to this machine, so that a web page in a browser here can use them.
 * NULL: no host, as in HTTP/1.0.
 */
bool asked_host(const char *host);

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

/* profiles.c: profiles in progress for clients, each since the tick after its request. */
struct metrics_profiles {
	const char *version; /* of the program; borrowed */
	struct metrics_profile {
		struct pprof *p; /* NULL: free */
		struct asked asked;
		uint64_t begin_ns; /* session clock */
	} of[ASKED_MOST];
};

/*
 * Call at a tick, before the model starts from zero: adds to profiles in progress, answers complete
 * ones, starts new ones.
 */
void metrics_profiles_tick(struct metrics_profiles *all, struct metrics_server *s, struct query *q);
void metrics_profiles_deinit(struct metrics_profiles *all);

#endif
