/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_GATE_H
#define KONTEND_QUERY_GATE_H

#include <stdbool.h>

struct engine;
struct error;
struct wait;

/*
 * A filter as query_only_set() takes it, for waits of @e one at a time while events come. It judges
 * them by what is known of them at that moment; or, if @known has read all of the same recording in
 * the same way, by what is known at its end, as query_only_set() does there. Both are borrowed. 0,
 * -ENOMEM, or -EINVAL with @err.
 */
struct query_gate;
int query_gate_new(struct query_gate **ret, const struct engine *e, const struct engine *known,
		   const char *filter, struct error *err);
/* May the answer about a wait be another one at the end of the recording than where it ends? */
bool query_gate_needs_names(const char *filter);
void query_gate_free(struct query_gate *g); /* NULL: nothing */
/* What its terms are about, or-ed: waits that have the same of these all pass, or none does. */
enum query_gate_about {
	QUERY_GATE_LOCK = 1,
	QUERY_GATE_CHAIN = 2,
	QUERY_GATE_TASK = 4,
	QUERY_GATE_CPU = 8,
	QUERY_GATE_OWNER = 16,
};

unsigned query_gate_asks(const struct query_gate *g);
bool query_gate_passes(struct query_gate *g, const struct wait *w);

#endif
