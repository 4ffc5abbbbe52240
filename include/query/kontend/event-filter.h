/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_GATE_H
#define KONTEND_QUERY_GATE_H

#include <stdbool.h>

struct engine;
struct error;
struct wait;

/*
 * A filter as wait_filter_set() takes it, for waits of @e one at a time while events come. It
 * judges a wait by the names and figures known at that moment; or, if @known has read all of the
 * same recording in the same way, by those at its end, as wait_filter_set() does there. Both are
 * borrowed. 0, -ENOMEM, or -EINVAL with @err.
 */
struct event_filter;
int event_filter_new(struct event_filter **ret, const struct engine *e, const struct engine *known,
		     const char *filter, struct error *err);
/* May the answer about a wait be another one at the end of the recording than where it ends? */
bool event_filter_needs_names(const char *filter);
void event_filter_free(struct event_filter *g); /* NULL: nothing */
/* Subjects of its terms, or-ed: waits that agree in all of these pass together, or none does. */
enum event_filter_about {
	QUERY_GATE_LOCK = 1,
	QUERY_GATE_CHAIN = 2,
	QUERY_GATE_TASK = 4,
	QUERY_GATE_CPU = 8,
	QUERY_GATE_OWNER = 16,
};

unsigned event_filter_asks(const struct event_filter *g);
bool event_filter_passes(struct event_filter *g, const struct wait *w);

#endif
