/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCRIPT_H
#define KONTEND_SCRIPT_H

#include "kontend/engine.h"
#include <stdio.h>

/*
 * One line for each event, in time order: begin and end of every wait, and lost records. Lines of
 * ends have the duration of the wait. It needs no memory beyond its own.
 */
struct script;

/* @e and @out are borrowed. 0 or -ENOMEM. */
int script_new(struct script **ret, const struct engine *e, FILE *out, bool json);
struct event_filter;
/*
 * Only lines of waits that pass @g (NULL: all) and are not shorter than the model's limit, which
 * only their ends can know. Other lines, like those of losses, are always written. Borrowed.
 */
void script_gate(struct script *s, struct event_filter *g);
void script_free(struct script *s);
/* The caller sets it as the engine's watch. It returns -EPIPE or another errno when writing
 * fails. */
struct engine_watch *script_watch(struct script *s);

#endif
