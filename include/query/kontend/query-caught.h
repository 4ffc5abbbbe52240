/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CAUGHT_H
#define KONTEND_QUERY_CAUGHT_H

#include "kontend/query.h"

struct wait;

/* Figures of one moment that triggers ask for. Texts lie in the query's arena; "": not known. */

/* A wait in words, which may just have ended. */
struct query_caught {
	const char *lock, *task; /* name; comm */
	const char *because;	 /* "mysqld/812 W, running on 1" */
	const char *chain;	 /* as query_chains_of(); "" of one that has ended */
	/* Of the wait: "flock"; "/var/db/log"; "db.c:412 commit_log". */
	const char *syscall, *on, *at;
	int32_t pid, tid, holder_pid, holder_tid; /* 0: not known */
};

int query_caught(struct query *q, const struct wait *w, struct query_caught *ret); /* 0, -ENOMEM */

/* The blocked task that a trigger is about. */
struct query_caught_task {
	int32_t pid, tid;
	uint64_t slept_ns, ran_ns;		    /* for how long; when it ran last */
	uint64_t seen_ns;			    /* when the snapshot saw it */
	const char *comm, *cause, *because, *chain; /* "" */
	int32_t by_pid, by_tid;			    /* 0: not known */
};

/*
 * Tasks in state D in the latest snapshot for longer than @least_ns, by the filter of the table
 * "blocked"; @waits: also those whose wait for a lock is known. Without their chains, which
 * query_caught_chain() adds. The longest comes first. 0 or -ENOMEM.
 */
int query_caught_blocked(struct query *q, uint64_t least_ns, const char *filter, bool waits,
			 struct query_caught_task **ret, size_t *ret_n);
void query_caught_chain(struct query *q, struct query_caught_task *task);

/* Tasks that wait for each other, proved. @is: is it about that wait? One of them must be. */
struct query_caught_circle {
	uint32_t tasks;		    /* 0: there are none */
	const struct wait *longest; /* of those that @is says yes to */
};

int query_caught_circle(struct query *q, bool (*is)(void *ctx, const struct wait *w), void *ctx,
			struct query_caught_circle *ret); /* 0 or -ENOMEM */

/* Is the function of a timer one that rotates perf events? */
bool query_caught_rotates(const struct query *q, uint64_t function);

/* "4 of 4 slots of CPU 1", "31 of 31 up/7301"; NULL: none are all taken, or it is not known. */
const char *query_caught_slots(struct query *q, uint64_t *ret_used);
const char *query_caught_xol(struct query *q, uint64_t *ret_used);

#endif
