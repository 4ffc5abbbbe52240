/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ASKED_H
#define KONTEND_METRICS_ASKED_H

#include "kontend/query-samples.h"

/* What a client may ask for below /debug/pprof/. */
enum { ASKED_MOST = 4 /* at once */, ASKED_SECONDS = 300, ASKED_WORDS = 160 };

struct asked {
	enum query_samples_what what;
	unsigned seconds;
};

/* Is it a path of a profile? Then which. */
bool asked_path(const char *url, struct asked *ret);
/* The name of the file that it is handed over as: "mutex", "block", "profile". */
const char *asked_name(enum query_samples_what what);
/* @seconds: as the client says it; NULL: it does not. False: @ret_why is a line to answer. */
bool asked_seconds(const char *seconds, struct asked *a, char ret_why[ASKED_WORDS]);
/*
 * Is @host, as a client says it, localhost or an address, with or without a port? Other names may
 * have been made to mean this machine, and by one of these a page in a browser here asks. NULL is
 * none, as in HTTP/1.0.
 */
bool asked_host(const char *host);

#endif
