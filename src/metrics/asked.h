/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_METRICS_ASKED_H
#define KONTEND_METRICS_ASKED_H

#include "kontend/query-samples.h"

/* Profiles that clients can request below /debug/pprof/. */
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

#endif
