/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_KEEP_H
#define KONTEND_CMD_KEEP_H

#include "kontend/engine.h"
#include "kontend/event-filter.h"
#include "kontend/map64.h"

enum { KEEP_GOES_ON = 4, KEEP_CPUS = 4096 };

/* Which events of a recording are of waits that are meant: found by one pass of an engine. */
struct keep {
	struct engine_watch watch;
	const struct engine *engine;
	struct event_filter *gate; /* NULL: all waits pass */
	struct map64 events;	   /* hashes of those to keep */
	struct keep_wait {
		uint64_t begin_ns, more[KEEP_GOES_ON];
		unsigned n;
	} * waits; /* by place in the model: begins after the first */
	size_t cap_waits, n_waits;
	uint64_t n_kept;	    /* waits */
	bool with_begin[KEEP_CPUS]; /* was the last begin of that CPU kept? */
};

/* Watches @e, which it borrows as it does @gate. keep_deinit() must follow. */
void keep_init(struct keep *k, struct engine *e, struct event_filter *gate);
/* The stream has ended: what waits in flight began with is kept, too. 0 or -ENOMEM. */
int keep_finish(struct keep *k);
void keep_deinit(struct keep *k);
/* For cut_range(). */
bool keep_has(void *keep, const struct event *ev);

#endif
