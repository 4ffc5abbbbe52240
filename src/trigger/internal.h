/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_TRIGGER_INTERNAL_H
#define KONTEND_SRC_TRIGGER_INTERNAL_H

#include "kontend/engine.h"
#include "kontend/event-filter.h"
#include "kontend/query.h"
#include "kontend/trigger.h"
#include "rate.h"

struct wait;

/* What is waited for to happen. */
enum trigger_kind {
	TRIGGER_WAIT,	  /* a wait that ends or goes on: ns */
	TRIGGER_BLOCKED,  /* the same of one that goes on, whose task is in D: ns */
	TRIGGER_WAITING,  /* waits that go on: so many */
	TRIGGER_WAIT_S,	  /* waited within the last second: ns */
	TRIGGER_WAITS_S,  /* waits that ended within the last second: so many */
	TRIGGER_DEADLOCK, /* tasks that wait for each other, proved */
	TRIGGER_SLOTS,	  /* all breakpoint slots of a CPU are taken */
	TRIGGER_XOL,	  /* all out-of-line slots of a process are */
	TRIGGER_ROTATION, /* a rotation that took longer: ns */
	TRIGGER_LOST,	  /* records, within the last second */
	TRIGGER_KINDS,
};

struct trigger_expr {
	enum trigger_kind kind;
	uint64_t limit, for_ns;
	char *filter; /* of waits, to be given back by mem_free(); NULL: all */
};

/* parse.c: 0, -ENOMEM, or -EINVAL with @err. */
int trigger_parse(const char *text, struct trigger_expr *ret, struct error *err);
const char *trigger_name(enum trigger_kind k); /* "wait/s" */

/*
 * Which waits are meant, by what is known of them: asked of a gate, and kept for a quarter of a
 * second, as names may become known and tasks be renamed.
 */
enum { MEANT_KEPT = 1024 };
#define MEANT_NS 250000000ull
struct filter_cache {
	struct event_filter *gate; /* NULL: all are */
	uint64_t generation;
	unsigned asks; /* enum event_filter_about */
	struct filter_cache_kept {
		struct filter_cache_place {
			uint32_t lock, stack, task, owner, cpu;
		} place;
		bool yes;
		uint64_t epoch; /* 0: nothing is kept */
	} * kept;
};

struct trigger {
	struct trigger_expr x;
	char *text;
	struct filter_cache meant;
	struct rate *rate; /* of the last second; NULL: its kind needs none */
	/* A condition that lasts: since when it has been true; 0: it is not. */
	uint64_t since_ns;
	uint64_t n_waiting;	/* of `waiting ... for`: that it counts, about */
	bool on;		/* it has fired, and not been false since */
	uint64_t silent_ns;	/* until then it does not fire anew */
	struct incident last;	/* the latest one that it has made */
	struct incident before; /* the latest one that was taken, as it was in the end */
	uint64_t nth;		/* of all that were queued, `last` is; 0: it was not */
	bool said;		/* who is to blame is in `last` */
	uint64_t looks;		/* at locks, as of when that was asked last */
};

/* What a condition has found. */
struct found {
	uint64_t value;		  /* that is compared */
	uint64_t begin_ns;	  /* 0: now */
	uint64_t end_ns;	  /* 0: it goes on */
	const struct wait *worst; /* the longest of the waits; NULL: it is of none */
	uint64_t worst_ns;
	const char *text; /* instead of name and value; NULL */
};

enum { ENTRIES = 256 };

struct triggers {
	struct engine_watch watch;
	struct engine *engine;
	struct query q;
	struct trigger *all;
	size_t n;
	bool rates;	   /* one counts waits that end */
	bool breaks;	   /* one counts waits that must be there without a break */
	bool blocked;	   /* one is about waits of tasks in D */
	bool rotation;	   /* one is about rotation */
	uint64_t least_ns; /* the lowest limit of those about waits that end */
	uint64_t cooldown_ns;
	uint64_t now_ns;     /* what is earlier was judged already */
	uint64_t checked_ns; /* waits up to then are in the rates; 0: not begun */
	uint64_t next_ns;    /* conditions that last are looked at */
	struct levels {
		uint64_t lost;		 /* as of the last check */
		uint64_t perf, uprobes;	 /* snapshots that were looked at */
		uint64_t circle_next_ns; /* deadlocks are */
		bool circle;
	} levels;
	struct expiry {
		uint64_t timer, ns;
	} expiries[ENTRIES]; /* of timers, that go on, by CPU */
	struct incident queue[TRIGGERS_QUEUED];
	uint64_t n_put, n_taken; /* ever */
	struct triggers_count count;
};

#define CHECK_NS RATE_STEP_NS

/* filter-cache.c */
int filter_cache_init(struct filter_cache *m, const struct engine *e, const char *filter,
		      struct error *err);
void filter_cache_deinit(struct filter_cache *m);
bool filter_cache_has(struct filter_cache *m, const struct model *model, const struct wait *w);

/* trigger-fire.c: it is true at the moment, by that; false. */
void trigger_true(struct triggers *t, struct trigger *tr, const struct found *f);
void trigger_false(struct triggers *t, struct trigger *tr);
/* The same of what does not last: true at that moment alone. */
void trigger_pulse(struct triggers *t, struct trigger *tr, const struct found *f);

/* trigger-state.c: all that lasts is looked at, as of t->now_ns. */
void triggers_check_levels(struct triggers *t);
/* @w has begun, or is over: what must last without a break may be false for a moment. */
void trigger_waits_changed(struct triggers *t, struct trigger *tr, const struct wait *w, bool ends);

#endif
