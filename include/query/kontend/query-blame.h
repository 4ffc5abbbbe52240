/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_BLAME_H
#define KONTEND_QUERY_BLAME_H

#include "kontend/blame.h"
#include "kontend/query.h"

/*
 * Which tasks waiting is due to, as src/model/blame.c charges it. Rows are by a property of the
 * root: its task or process, the lock that it has, where it got that lock, what it did.
 */
enum query_blame_by {
	BLAME_BY_TASK,
	BLAME_BY_PROCESS,
	BLAME_BY_LOCK,
	BLAME_BY_TYPE,
	BLAME_BY_CALLER,
	BLAME_BY_SYSCALL, /* in which the holder got the lock */
	BLAME_BY_AT,
	BLAME_BY_STACK,
	BLAME_BY_STATE,
	BLAME_BYS,
};

const char *query_blame_by_name(enum query_blame_by by);
int query_blame_by_parse(const char *s, enum query_blame_by *ret); /* 0 or -EINVAL */

/* The first four are parts of `waited_ns`, and make it up. */
struct query_blame_sum {
	uint64_t tasks_ns;    /* because of tasks that are known */
	uint64_t readers_ns;  /* of readers of which it is not known who they are */
	uint64_t others_ns;   /* of holders that are forgotten */
	uint64_t unknown_ns;  /* no holder of the lock is known, or none yet; and lost_ns */
	uint64_t waited_ns;   /* by all sure waits, those in flight too */
	uint64_t followed_ns; /* of it: what the holder did is known */
	uint64_t doubtful_ns; /* not in it: by waits whose end was lost, until that was known */
	bool doubtful_known;  /* not of a window, or with a filter of waits */
	uint64_t tasks;	      /* that are known */
	uint64_t not_followed, lost_ns, folded; /* as struct blame has them */
	const char *refused;			/* why there is nothing; NULL: there is */
};

const char *query_blame_why_not(const struct query *q);		   /* the same reason */
int query_blame_sum(struct query *q, struct query_blame_sum *ret); /* 0 or -ENOMEM */

/*
 * The table "blame": one row for each task, process, lock, type, function or call chain that tasks
 * have waited for. It has three sets of columns, each with its own measure:
 * BLAME_WAITS  what was waited, charged to the root of each moment: of all rows it is all waiting
 * BLAME_HELD   how often and how long tasks that had waited held locks while others waited; upper
 *              bounds, see src/model/holds.c, except the exact ones, see src/model/release.c
 * BLAME_DID    what holders did while others waited for their lock, as a clock shows it; not by
 *              BLAME_BY_STATE
 * A set has the rows of which it says something, so a task may be in one and not in another.
 */
enum blame_set {
	BLAME_WAITS,
	BLAME_HELD,
	BLAME_DID,
	BLAME_SETS,
	BLAME_ALL =
		BLAME_SETS, /* all columns, each with a key of its own, and the rows of all sets */
};

struct query_blame_spec {
	enum query_blame_by by;
	enum blame_set set; /* its keys are those of sort and filter; its order is the default */
	bool all;	    /* BLAME_ALL, ordered and filtered by that set */
};

const char *query_blame_set_name(enum blame_set set); /* "waits", "held", "did" */
/* Has the set rows by that? */
bool query_blame_has(enum blame_set set, enum query_blame_by by);
/* The grouping of a set if the user chose none. */
enum query_blame_by query_blame_default(enum blame_set set);
/* A scope is about the lock that was held, who held it and where that one got it. */
int query_blame(struct query *q, const struct query_blame_spec *b, const struct query_spec *s,
		struct table *ret, struct error *err);
/* A column set each, under the name that --view has for it; and all of them. */
extern const struct table_kind query_blame_kind, query_blame_held_kind, query_blame_did_kind,
	query_blame_all_kind;

/* The same of one lock, both modes of it: how long, by what holders did, and why most of all. */
struct query_blame_lock {
	uint64_t time_ns; /* that its holders are known of; 0: of none */
	uint64_t state_ns[BLAME_STATES];
	const char *why[BLAME_STATES]; /* "kept off by stress/99"; NULL: not known */
};

/* Of the lock that has this id by BY_LOCK. 0 or -ENOMEM. */
int query_blame_lock(struct query *q, uint64_t id, struct query_blame_lock *ret);

/* Why tasks waited for one lock, in either mode, as far as tasks are known that had it. */
struct query_blame_cause {
	const char *who; /* "fault/5825 and 23 of its threads"; NULL: no cause is known */
	double pct;	 /* of all that was waited for the lock */
	const char *did; /* "running"; NULL: that is not known */
	const char *at;	 /* the line at which they had waited for their locks; NULL: not known */
};

int query_blame_cause(struct query *q, uint64_t id, struct query_blame_cause *ret); /* 0, -ENOMEM */

/* Sums of the column set "held" of the table "blame". */
struct query_held_sum {
	uint64_t got;	     /* locks that were waited for and got */
	uint64_t known;	     /* of them, those with a known hold time */
	uint64_t exact;	     /* of these, those with an exact time: no upper bound */
	uint64_t waited_ns;  /* for locks, by all tasks */
	uint64_t charged_ns; /* to holds that ended, with the time before a window */
	/* Waits whose end was lost, which are not in it; see struct query_blame_sum. */
	uint64_t doubtful_ns;
	bool doubtful_known;
	uint64_t only_ns; /* of a window: only holds within this time are known; 0: all of it */
};

/* The time from a release until the next task had the lock, over all waits of the query. */
struct query_handed {
	uint64_t n, p50_ns, p99_ns, max_ns; /* n 0: the others are unknown */
};

int query_blame_held_sum(struct query *q, struct query_held_sum *ret); /* 0 or -ENOMEM */
int query_blame_handed(struct query *q, struct query_handed *ret);     /* the same */
bool query_blame_has_releases(const struct query *q);

#endif
