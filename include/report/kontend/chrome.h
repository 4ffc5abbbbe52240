/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CHROME_H
#define KONTEND_CHROME_H

#include "kontend/engine.h"
#include <stdio.h>

/*
 * The waits as a trace for chrome://tracing and Perfetto (Trace Event Format, JSON): a pair of
 * async events each, one track a lock. Written while events come.
 */
struct chrome;

/* @e and @out are borrowed. 0 or -ENOMEM. */
int chrome_new(struct chrome **ret, const struct engine *e, FILE *out);
struct query_gate;
/* Only of waits that pass, from now on; NULL: of all. Borrowed. */
void chrome_gate(struct chrome *c, struct query_gate *g);
void chrome_free(struct chrome *c);
/* To be set as the engine's watch. It answers -EPIPE or another errno when writing fails. */
struct engine_watch *chrome_watch(struct chrome *c);
/* The waits in flight and the end of the file. 0, or the errno of a failed write, with @err. */
int chrome_finish(struct chrome *c, struct error *err);

#endif
