/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_TRIGGER_INT_H
#define KONTEND_INCIDENTS_TRIGGER_INT_H

#include "kontend/engine.h"
#include "kontend/event-filter.h"
#include "kontend/query.h"
#include "kontend/trigger.h"

#include <stdint.h>

struct wait;

/* The conditions of triggers. */
enum trigger_kind {
	TRIGGER_WAIT,	  /* duration of a wait that ends or is in flight: ns */
	TRIGGER_BLOCKED,  /* the same for tasks in D, because of a lock or of anything else: ns */
	TRIGGER_HUNG,	  /* duration of a sleep in D, as snapshots show it: ns */
	TRIGGER_WAITING,  /* number of waits in flight */
	TRIGGER_WAIT_S,	  /* waiting time within the last second: ns */
	TRIGGER_WAITS_S,  /* number of waits that ended within the last second */
	TRIGGER_DEADLOCK, /* tasks that provably wait for each other */
	TRIGGER_SLOTS,	  /* all breakpoint slots of a CPU are taken */
	TRIGGER_XOL,	  /* all out-of-line slots of a process are taken */
	TRIGGER_DSTATE,	  /* number of tasks in state D */
	TRIGGER_ROTATION, /* duration of a rotation: ns */
	TRIGGER_LOST,	  /* number of lost records within the last second */
	TRIGGER_KINDS,
};

struct trigger_expr {
	enum trigger_kind kind;
	uint64_t limit, for_ns;
	char *filter; /* of waits; NULL: all waits */
	/* Of TRIGGER_BLOCKED and _HUNG, for rows of the table "blocked". */
	char *tasks;		 /* the same, or NULL */
	bool no_waits, no_tasks; /* a term is not for these: none passes */
};

/* parse.c: 0, -ENOMEM, or -EINVAL with @err. */
int trigger_parse(const char *text, struct trigger_expr *ret, struct error *err);
void trigger_expr_deinit(struct trigger_expr *x);
const char *trigger_name(enum trigger_kind k); /* "wait/s" */

/*
 * The filter of waits, with results cached for a quarter of a second, as names may become known and
 * tasks may be renamed.
 */
enum { MEANT_KEPT = 1024 };
#define MEANT_NS 250000000ull
struct filter_cache {
	struct event_filter *gate; /* NULL: all waits pass */
	uint64_t generation;
	unsigned asks; /* enum event_filter_about */
	struct filter_cache_kept {
		struct filter_cache_place {
			uint32_t lock, stack, task, owner, cpu;
		} place;
		bool yes;
		uint64_t epoch; /* 0: the cache is empty */
	} * kept;
};

/* A sum over the last second: 99 complete steps of 10 ms and the current one. */
enum { RATE_STEPS = 100 };
#define RATE_STEP_NS 10000000ull

struct rate {
	uint64_t steps[RATE_STEPS];
	uint64_t sum;
	uint64_t at; /* number of the current step */
};

/* Adds @n at @ns; ignored if that is more than a second before the latest time. */
void rate_add(struct rate *r, uint64_t ns, uint64_t n);
/* Adds the time from @from_ns to @to_ns to the steps that it covers. */
void rate_add_span(struct rate *r, uint64_t from_ns, uint64_t to_ns);
/* The sum as of @ns. */
uint64_t rate_sum(struct rate *r, uint64_t ns);

/* A task that a snapshot saw asleep at that time. */
struct asleep {
	int32_t tid;
	uint64_t seen_ns;
};

enum { ASLEEP_MOST = 256 };

/* Tasks that are in D for too long by the latest snapshot. */
struct asleep_now {
	struct asleep known[ASLEEP_MOST]; /* which have had their incident */
	size_t n_known, n;		  /* n: of all */
	struct asleep last; /* that `last` of the trigger is about; tid 0: it is about a wait */
	bool waits;	    /* a wait for a lock is too long */
};

struct trigger {
	struct trigger_expr x;
	char *text;
	struct filter_cache meant;
	struct rate *rate;	   /* of the last second; NULL: this kind needs none */
	struct asleep_now *asleep; /* NULL: this kind needs none */
	/* Lasting conditions: since when it has been true; 0: it is false. */
	uint64_t since_ns;
	uint64_t n_waiting;	/* of `waiting ... for`: approximate number of waits */
	bool on;		/* it has fired, and not been false since */
	uint64_t silent_ns;	/* it does not fire again before */
	struct incident last;	/* the latest incident */
	struct incident before; /* the latest incident that the caller took, in its final state */
	uint64_t nth;		/* number of `last` among all that were queued; 0: it was not */
	bool said;		/* `last` has the holder to blame */
	uint64_t looks;		/* count of lock snapshots when the holder was last looked up */
};

/* The result of evaluating a condition. */
struct found {
	uint64_t value;		  /* compared with the limit */
	uint64_t begin_ns;	  /* 0: now */
	uint64_t end_ns;	  /* 0: in flight */
	const struct wait *worst; /* the longest of the waits; NULL: not about waits */
	uint64_t worst_ns;
	const char *text;		      /* instead of name and value; or NULL */
	const struct query_caught_task *task; /* in D; NULL: not about one */
};

enum { ENTRIES = 256 };

struct triggers {
	struct engine_watch watch;
	struct engine *engine;
	struct query q;
	struct trigger *all;
	size_t n;
	bool rates;	   /* a trigger counts waits that end */
	bool breaks;	   /* a trigger counts waits that must last without a break */
	bool blocked;	   /* a trigger is about waits of tasks in D */
	bool rotation;	   /* a trigger is about rotation */
	uint64_t least_ns; /* the lowest limit of triggers about waits that end */
	uint64_t cooldown_ns;
	uint64_t now_ns;     /* earlier events have been judged already */
	uint64_t checked_ns; /* rates include waits up to then; 0: not begun */
	uint64_t next_ns;    /* next check of lasting conditions */
	struct levels {
		uint64_t lost;		       /* as of the last check */
		uint64_t perf, uprobes, locks; /* snapshots checked last */
		uint64_t circle_next_ns;       /* next check for deadlocks */
		bool circle;
	} levels;
	struct expiry {
		uint64_t timer, ns;
	} expiries[ENTRIES]; /* timers in their expiry, by CPU */
	struct incident queue[TRIGGERS_QUEUED];
	uint64_t n_put, n_taken; /* since the start */
	struct triggers_count count;
};

#define CHECK_NS RATE_STEP_NS

/* trigger-filter.c */
int filter_cache_init(struct filter_cache *m, const struct engine *e, const char *filter,
		      struct error *err);
void filter_cache_deinit(struct filter_cache *m);
bool filter_cache_has(struct filter_cache *m, const struct model *model, const struct wait *w);

/* trigger-fire.c: the condition is true now, with the result @f; it is false now. */
void trigger_true(struct triggers *t, struct trigger *tr, const struct found *f);
void trigger_false(struct triggers *t, struct trigger *tr);
/* The same for a condition that is true only at this moment. */
void trigger_pulse(struct triggers *t, struct trigger *tr, const struct found *f);
/*
 * It is true of something else than before, which is an incident of its own. False: it is silent,
 * and this is only counted.
 */
bool trigger_other(struct triggers *t, struct trigger *tr, const struct found *f);

/* trigger-state.c: evaluates all lasting conditions as of t->now_ns. */
void triggers_check_levels(struct triggers *t);
/* trigger-tasks.c: a wait that it selects, and that was too long, has ended. */
void trigger_wait_ended(struct triggers *t, struct trigger *tr, const struct found *f);
/* The same as triggers_check_levels() for tasks in D. @looked: there is a new snapshot. */
void trigger_check_tasks(struct triggers *t, struct trigger *tr, bool looked);
/* Waits in flight that it selects, and that last longer than its limit; @f gets the longest. */
bool trigger_find_longest(struct triggers *t, struct trigger *tr, struct found *f);
/* @w has begun or ended: a condition that must last without a break may be false for a moment. */
void trigger_waits_changed(struct triggers *t, struct trigger *tr, const struct wait *w, bool ends);

#endif
