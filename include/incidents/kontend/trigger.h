/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TRIGGER_H
#define KONTEND_TRIGGER_H

#include "kontend/incident.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct error;

/*
 * Triggers: conditions with a filter of waits, in the language of filters (kontend-trigger(7)).
 * "wait>5ms type:rwsem name:mysqld", "waiting>20", "wait/s>2s for 3s", "deadlock". All times are
 * the stream's. A trigger fires when its condition becomes true, and not again before it was false;
 * if it is true again within the cooldown that is only counted.
 */
struct triggers;

enum {
	TRIGGERS_MOST = 64,    /* expressions of one set */
	TRIGGERS_QUEUED = 256, /* fired, but not yet taken by the caller; more are counted */
};

/* -EINVAL with @err, which names the column and what would be allowed. */
int trigger_check(const char *expr, struct error *err);

/*
 * The shortest wait that the kernel must report for this trigger; UINT64_MAX: it is not about
 * single waits, or cannot be parsed.
 */
uint64_t trigger_least_ns(const char *expr);

/*
 * Triggers for a set of expressions, on one engine: they watch its events from now on, before the
 * engine's present watch; a later watch must be linked in by its owner. 0, -ENOMEM, or -EINVAL with
 * @err as from trigger_check(), which names the expression.
 */
int triggers_new(struct triggers **ret, struct engine *e, const char *const *exprs, size_t n,
		 struct error *err);
void triggers_free(struct triggers *t); /* NULL: nothing; before engine_deinit() */

/*
 * Minimum time from one firing of a trigger to the next; default: 1 s. It also does not fire while
 * its condition stays true.
 */
void triggers_cooldown(struct triggers *t, uint64_t ns);

/*
 * Call after engine_pump() has returned, whatever its result, until this returns 0: 1 and *ret is
 * an incident, in time order. from_ns and to_ns are 0: they are the file's.
 */
int triggers_next(struct triggers *t, struct incident *ret, struct error *err);

/*
 * Updates the latest incident of a trigger that triggers_next() returned, however often the trigger
 * has fired since: the longest wait with its lock and holder, its end, how often it fired again.
 * Call it before taking the next ones. True: it is still in progress.
 */
bool triggers_follow(struct triggers *t, struct incident *in);

struct triggers_count {
	uint64_t fired; /* taken by the caller or queued */
	uint64_t again; /* within the cooldown */
	uint64_t lost;	/* dropped while TRIGGERS_QUEUED were queued */
};

struct triggers_count triggers_count(const struct triggers *t);

#endif
