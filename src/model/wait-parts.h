/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MODEL_WAIT_PARTS_H
#define KONTEND_MODEL_WAIT_PARTS_H

#include "kontend/wait.h"

struct locksnap_waiter;
struct model;

/* How well the scheduler's clock and that of events are compared. */
enum { WAIT_CLOCKS_NS = 1000000 };

/* A look at @look_ns has seen it as @v. */
void wait_parts_see(const struct model *m, struct wait *w, const struct locksnap_waiter *v,
		    uint64_t look_ns);
/* Is @v, which a later look has seen, the same wait? */
bool wait_parts_go_on(const struct wait *w, const struct locksnap_waiter *v);
/* No event reports the end of this one: it has lasted until a look saw it last, or longer. */
void wait_parts_over(struct model *m, struct wait *w);
/* It ends: the parts that looks have seen are added to its lock's. */
void wait_parts_end(struct model *m, const struct wait *w, uint64_t ns);

#endif
