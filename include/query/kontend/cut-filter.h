/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CUT_FILTER_H
#define KONTEND_CUT_FILTER_H

#include "kontend/engine.h"
#include "kontend/event-filter.h"
#include "kontend/map64.h"

enum { CUT_FILTER_GOES_ON = 4, CUT_FILTER_CPUS = 4096 };

/* Which events of a recording are of waits that are meant: found by one pass of an engine. */
struct cut_filter {
	struct engine_watch watch;
	const struct engine *engine;
	struct event_filter *gate; /* NULL: all waits pass */
	struct map64 events;	   /* hashes of those to keep */
	struct cut_filter_wait {
		uint64_t begin_ns, more[CUT_FILTER_GOES_ON];
		unsigned n;
	} * waits; /* by place in the model: begins after the first */
	size_t cap_waits, n_waits;
	uint64_t n_kept;		  /* waits */
	bool with_begin[CUT_FILTER_CPUS]; /* was the last begin of that CPU kept? */
};

/* Watches @e, which it borrows as it does @gate. cut_filter_deinit() must follow. */
void cut_filter_init(struct cut_filter *k, struct engine *e, struct event_filter *gate);
/* The stream has ended: what waits in flight began with is kept, too. 0 or -ENOMEM. */
int cut_filter_finish(struct cut_filter *k);
void cut_filter_deinit(struct cut_filter *k);
/* For cut_range(). */
bool cut_filter_has(void *keep, const struct event *ev);

#endif
