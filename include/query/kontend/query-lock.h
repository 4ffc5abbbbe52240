/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LOCK_H
#define KONTEND_QUERY_LOCK_H

#include "kontend/locktype.h"
#include "kontend/query.h"

/* The parts of the wait of a percpu-rwsem's writer, as far as snapshots have seen them. */
struct query_parts {
	uint64_t rcu_ns, readers_ns; /* a grace period of RCU; until the readers were through */
};

/*
 * The holder and waiters of a lock at this moment: from the latest snapshot of locks, and without
 * one from the waits in flight, which have no holder. Texts are NULL where there is no task or
 * nothing is known, else they lie in the query's arena.
 */
struct query_lock_now {
	const char *holder;    /* "mm/5219 W", "mm/5219 R?", "ps/77 reader?" */
	const char *next;      /* of a free lock: which task is to take it; NULL: not known */
	const char *certainty; /* "sure", "hint", "evidence", "free" */
	const char *readers;   /* who seems to hold it for reading, the holder first, a line each */
	const char *is;	       /* "running on 1", "asleep io_schedule" */
	const char *owner_at;  /* the line of its program, "db.c:412 commit_log" */
	uint64_t held_ns;      /* how long each look has seen it so; 0: not twice */
	bool held_exact;       /* the lock of a file was seen to be taken then */
	const char *held;      /* of a file: "fd 9, held 3.2s or more"; NULL: not known */
	const char *owner_comm;
	int32_t owner_pid, owner_tid;
	uint32_t readers_waiting, writers_waiting; /* locks without modes: writers */
	const char *unknown;			   /* query_lock_unknown() */
	struct query_parts parts;		   /* of all its waits since sums began */
	const char *parts_text;			   /* NULL: none was seen */
	const char *inversion; /* "priority inversion: ...", of the longest wait; NULL: none */
};

/* Facts that no event reports, only lock snapshots. */
enum query_lock_missing {
	QUERY_LOCK_NO_NAMES = 1 << 0, /* what locks belong to */
	QUERY_LOCK_NO_HOLDERS = 1 << 1,
	QUERY_LOCK_NO_PLACES = 1 << 2, /* in their queues */
};

/* Whether lock snapshots have those facts. */
struct query_lock_look {
	uint32_t missing;   /* enum query_lock_missing */
	bool refused;	    /* there is a snapshot, and `reason` says why it is empty */
	const char *reason; /* why it is missing, or "" */
	/* Of locks that readers hold: why no evidence of these is there, or "". */
	const char *no_readers;
	bool many_tasks; /* more than were looked at for it */
	/* Why it is not known in which objects of the kernel locks are, or "". */
	const char *no_names;
};

/* The line of programs where most of the waiting for a lock is, and its share of that. */
struct query_lock_at {
	const char *at;	     /* "db.c:412 commit_log"; NULL: not known */
	const char *syscall; /* in which that is; NULL: in none, or not known */
	double pct;
};

/* 0; -ENOMEM or -EINVAL with nothing in @ret. */
int query_lock_at(struct query *q, const struct query_scope *scope, struct query_lock_at *ret);
void query_lock_look(struct query *q, struct query_lock_look *ret);
/* The key of reports, by bit: "names", "holders", "places"; NULL: no such bit. */
const char *query_lock_missing_key(unsigned bit);

void query_lock_now(struct query *q, uint64_t addr, enum lock_type type,
		    struct query_lock_now *ret);
/* A fact that cannot be known of any lock of that type, for users; NULL: there is none. */
const char *query_lock_unknown(enum lock_type type);
/* Of locks that were waited for: the next type with such a text from *@at = 0 on; false: no more.
 */
bool query_lock_unknowns(const struct query *q, unsigned *at, enum lock_type *ret);
/* "RCU grace period 12.1ms, readers 3.2ms"; NULL: no part was seen, or no memory. */
const char *query_parts_text(struct query *q, const struct query_parts *p);
/* Of the lock with that id in the dimension BY_LOCK; false: it is not there any more. */
bool query_lock_now_by_id(struct query *q, uint64_t id, struct query_lock_now *ret);
/* The writer because of whom the readers of a percpu-rwsem have waited: evidence, never sure. */
struct query_lock_writer {
	const char *name;   /* of the task that has the greatest part: "stress-ng-flock/812" */
	const char *caller; /* the function in which it, or another one, does so; NULL: not known */
	bool many;	    /* there are others */
	double per_s;	    /* so often there was one since the first wait for the lock, at least */
};

/* Of the lock at @addr; false: none is known, or it is no percpu-rwsem. */
bool query_lock_writer(struct query *q, uint64_t addr, struct query_lock_writer *ret);

/* Where that lock is; 0: it is not there any more, or stands for several. */
uint64_t query_lock_addr(const struct query *q, uint64_t id);
/* Of a lock of a program that is a number which stands for process and place. */
bool query_lock_has_address(const struct query *q, uint64_t id);

#endif
