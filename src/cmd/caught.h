/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_CAUGHT_H
#define KONTEND_CMD_CAUGHT_H

#include "kontend/opts.h"
#include "kontend/query-incidents.h"
#include "kontend/trigger.h"

/* The triggers of --trigger, and the incidents caught so far. `= {0}` is a valid empty one. */
struct cmd_caught {
	struct triggers *triggers; /* NULL: nothing is watched for */
	struct query_incidents all;
	size_t given;		      /* so many of `all` are none of theirs */
	size_t latest[TRIGGERS_MOST]; /* of each trigger: its place in `all`, + 1; 0: none */
};

/* Of all expressions: -EINVAL with @err, a usage error. */
int cmd_caught_check(const struct opts *o, struct error *err);
/* From now on the engine is watched, if @o has triggers. */
int cmd_caught_begin(struct cmd_caught *c, struct engine *e, const struct opts *o,
		     struct error *err);
/* Behind engine_pump(): how many more there are; what became of those before is in `all` as well.
 */
size_t cmd_caught_take(struct cmd_caught *c);
/* One that is known without them. */
void cmd_caught_add(struct cmd_caught *c, const struct incident *in);
void cmd_caught_end(struct cmd_caught *c); /* before the engine's */

#endif
