/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CHAINS_H
#define KONTEND_QUERY_CHAINS_H

#include "kontend/query.h"

/*
 * Because of whom is waited: table "chains", a tree from each task that holds what others wait for
 * and waits for nothing itself, over the locks that it holds to the tasks that wait for these, to
 * the locks that those hold, and so on. Where such a task sleeps for something else, as for a
 * device, that is the root, or the task that is to wake it up. Tasks that wait for each other are
 * a root of their own.
 * Rows are in the order of the tree, the root with most waiting behind it first. Behind them are
 * the same trees of the longest waits that have ended in the last 10 s (longest-recent.h).
 */

enum query_chain_kind {
	CHAIN_ROOT,
	CHAIN_DEADLOCK, /* tasks that wait for each other */
	CHAIN_LOCK,
	CHAIN_OBJECT, /* what tasks sleep for, and a task is to give: as the commit of a journal */
	CHAIN_WAITER, /* a task, or several alike that hold nothing others wait for */
	CHAIN_MORE,   /* stands for what lies deeper than is shown */
};

/* Of all rows, for the line above them. */
struct query_chains_sum {
	uint32_t roots, tasks;	  /* that wait behind them */
	uint32_t circles, proved; /* that are certainly deadlocks */
	uint32_t doubtful;	  /* waits that are left out, as they may have ended */
	uint64_t sum_ns, longest_ns;
	uint32_t ended_roots, ended_tasks; /* of the longest waits that have just ended */
	uint64_t ended_sum_ns, ended_longest_ns;
};

int query_chains(struct query *q, const struct query_spec *s, struct table *ret, struct error *err);
extern const struct table_kind query_chains_kind;
/*
 * "dd/8119 W, asleep: I/O, in io_schedule": the root that the holder of the lock at @addr itself
 * waits for; NULL: it waits for none, or it is not known.
 */
const char *query_chains_root(struct query *q, uint64_t addr);
/*
 * "cat/200 -> rwsem mmap_lock t/100 -> t/100 -> FUSE daemon /mnt/f -> d/55": from a blocked task
 * to what it waits for in the end; NULL: it waits for nothing that is known, or no memory.
 */
const char *query_chains_of(struct query *q, int32_t tid);
int query_chains_sum(struct query *q, struct query_chains_sum *ret); /* 0 or -ENOMEM */

/* Of the deadlock with most tasks behind it. */
struct query_deadlock {
	uint32_t n;		/* all that are proved; 0: the rest is not known */
	uint32_t tasks;		/* that wait for each other */
	uint64_t longest_ns;	/* of their waits */
	bool approx;		/* it may have lasted longer */
	const char *who, *have; /* "a/1, b/2"; "a/1 has A, b/2 has B" */
};

int query_chains_deadlock(struct query *q, struct query_deadlock *ret); /* 0 or -ENOMEM */

#endif
