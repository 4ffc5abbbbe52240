/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_INT_H
#define KONTEND_SRC_ENGINE_ENGINE_INT_H

#include "kontend/engine.h"

/* engine.c: gives back a record that was kept. */
void engine_release(struct engine *e, struct record *r);

/* engine-snapshot.c */
/* Takes over a RECORD_SNAPSHOT. 0 or -ENOMEM (then the record is still the caller's). */
int engine_hold_snapshot(struct engine *e, const struct record *r);
/* Those taken up to @time_ns act, or are only given back. */
void engine_snapshots_until(struct engine *e, uint64_t time_ns, bool act);
/* The sums of short waits up to then, from those before and after it, if both have come. */
void engine_sums_at(struct engine *e, uint64_t time_ns);
void engine_snapshots_deinit(struct engine *e); /* gives all back */

/* engine-ask.c */
/* Fills in e->lock_requests from what the model has. */
void engine_ask(struct engine *e);

#endif
