/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CAUGHT_H
#define KONTEND_CAUGHT_H

#include "kontend/opts.h"
#include "kontend/query-incidents.h"
#include "kontend/trigger.h"

/* The triggers of --trigger, and the incidents caught so far. `= {0}` is a valid empty one. */
struct caught {
	struct triggers *triggers; /* NULL: nothing is watched for */
	struct query_incidents all;
	size_t given;		      /* so many of `all` are none of theirs */
	size_t latest[TRIGGERS_MOST]; /* of each trigger: its place in `all`, + 1; 0: none */
};

/* Of all expressions: -EINVAL with @err, a usage error. */
int caught_check(const struct opts *o, struct error *err);
/*
 * Waits this long must be reported one by one, whatever that costs, because a trigger needs them:
 * the lowest limit of a wait, and no more than 16 ms. 0: there is no trigger.
 */
uint64_t caught_floor_ns(const struct opts *o);
/* From now on the engine is watched, if @o has triggers. */
int caught_begin(struct caught *c, struct engine *e, const struct opts *o, struct error *err);
/* Behind engine_pump(): how many more there are; what became of those before is in `all` as well.
 */
size_t caught_take(struct caught *c);
/* One that is known without them. */
void caught_add(struct caught *c, const struct incident *in);
void caught_end(struct caught *c); /* before the engine's */

#endif
