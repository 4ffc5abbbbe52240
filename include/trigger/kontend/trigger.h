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
 * Triggers: expressions over things that happen, in the language of filters (kontend-trigger(7)).
 * "wait>5ms type:rwsem name:mysqld", "waiting>20", "wait/s>2s for 3s", "deadlock". All times are
 * the stream's. A trigger fires when it gets true, and not again before it has been false; what
 * fires again within the cooldown is counted.
 */
struct triggers;

enum {
	TRIGGERS_MOST = 64,    /* expressions of one set */
	TRIGGERS_QUEUED = 256, /* that have fired and were not asked for; more are counted */
};

/* -EINVAL with @err, which says at which column and what would be allowed. */
int trigger_check(const char *expr, struct error *err);

/*
 * The shortest wait that it must be told of to be true whenever it is; UINT64_MAX: it is not about
 * single waits, or cannot be parsed.
 */
uint64_t trigger_least_ns(const char *expr);

/*
 * Triggers of a set of expressions, on one engine: they watch its events from now on, before
 * whoever watches already; whoever wants to watch later has to put itself into that list, too. 0,
 * -ENOMEM, or -EINVAL with @err as of trigger_check(), which names the expression.
 */
int triggers_new(struct triggers **ret, struct engine *e, const char *const *exprs, size_t n,
		 struct error *err);
void triggers_free(struct triggers *t); /* NULL: nothing; before engine_deinit() */

/*
 * How long a trigger that has fired is silent at least, from when it fired on: 1 s unless it is
 * told. It is silent as long as it stays true, besides.
 */
void triggers_cooldown(struct triggers *t, uint64_t ns);

/*
 * Call after engine_pump() has returned, whatever it answered, until it answers 0: 1 and *ret is
 * what has fired, by time. from_ns and to_ns are 0: they are the file's.
 */
int triggers_next(struct triggers *t, struct incident *ret, struct error *err);

/*
 * What has become of the latest of a trigger that triggers_next() gave, however often the trigger
 * has fired since: the longest wait and its lock and holder, its end, how often it fired again. Ask
 * before the next ones are taken. True: it still goes on.
 */
bool triggers_follow(struct triggers *t, struct incident *in);

struct triggers_count {
	uint64_t fired; /* handed out, or to be */
	uint64_t again; /* within the cooldown */
	uint64_t lost;	/* while there were TRIGGERS_QUEUED that nobody had asked for */
};

struct triggers_count triggers_count(const struct triggers *t);

#endif
