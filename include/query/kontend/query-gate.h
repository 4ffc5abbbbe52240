/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_GATE_H
#define KONTEND_QUERY_GATE_H

#include <stdbool.h>

struct engine;
struct error;
struct wait;

/*
 * A filter as query_only_set() takes it, for waits one at a time while events come: by what is
 * known of them at that moment. @e is borrowed. 0, -ENOMEM, or -EINVAL with @err.
 */
struct query_gate;
int query_gate_new(struct query_gate **ret, const struct engine *e, const char *filter,
		   struct error *err);
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
