/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCRIPT_H
#define KONTEND_SCRIPT_H

#include "kontend/engine.h"
#include <stdio.h>

/*
 * A line an event, in time order: the begin and the end of every wait, and where records were lost.
 * At ends it says how long the wait took that ended. Needs no memory beyond its own.
 */
struct script;

/* @e and @out are borrowed. 0 or -ENOMEM. */
int script_new(struct script **ret, const struct engine *e, FILE *out, bool json);
struct event_filter;
/*
 * Only lines of waits that pass, NULL: of all, and that are no shorter than the model keeps, which
 * is known at their ends alone. What is no wait, like losses, has its line all the same. Borrowed.
 */
void script_gate(struct script *s, struct event_filter *g);
void script_free(struct script *s);
/* To be set as the engine's watch. It answers -EPIPE or another errno when writing fails. */
struct engine_watch *script_watch(struct script *s);

#endif
