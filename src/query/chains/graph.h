/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CHAINS_GRAPH_H
#define KONTEND_QUERY_CHAINS_GRAPH_H

#include "../blocked-rows.h"
#include "../internal.h"
#include "../locks/holder.h"
#include "kontend/locksnap.h"
#include "kontend/map64.h"

/*
 * Which tasks wait for which at this moment. A wait is for one lock, a lock has one known holder at
 * most, and a holder waits for one lock at most: so each lock leads to at most one other, and all
 * of them are circles, and trees whose roots do not wait.
 *
 * A task that sleeps for another cause waits for an object, which takes the place of a lock: the
 * task that is to wake it up, as the thread that writes a journal, in place of a holder, or a
 * device, a file or a server, which has no task.
 */

#define CHAIN_NONE UINT32_MAX

/* How a holder is known. */
enum chain_evidence {
	CHAIN_UNKNOWN,	/* no holder is known */
	CHAIN_SURE,	/* a writer, or the owner of a mutex */
	CHAIN_HINT,	/* a reader that had it last */
	CHAIN_EVIDENCE, /* a reader, as its calls say */
	CHAIN_FREE,	/* no task holds it: it is being handed over */
	CHAIN_EVIDENCES,
};

/* Sum of the waits behind a lock: how many, how long they have lasted. */
struct chain_sum {
	uint32_t n;
	uint64_t sum_ns, longest_ns;
	uint64_t last_ns; /* when the latest of those that have ended did */
	bool approx;	  /* one at least may have lasted longer */
};

/* A sleep for something else than a lock, as of the latest snapshot (sleeps.c). */
struct chain_sleep {
	const struct locksnap_blocked *task;
	struct blocked_why why;
	const char *object; /* "jbd2 commit vda1" */
};

struct chain_wait {
	const struct wait *wait;	 /* NULL: it is a sleep */
	const struct chain_sleep *sleep; /* NULL: it is for a lock */
	int32_t pid, tid;
	uint32_t lock;	  /* that it is for */
	uint32_t next;	  /* of the same lock */
	uint32_t holds;	  /* first of the locks that this task holds; CHAIN_NONE */
	uint64_t ns;	  /* that it has lasted */
	uint64_t end_ns;  /* of one that has ended; 0 */
	const char *comm; /* of its process */
};

struct chain_lock {
	uint64_t addr;
	uint32_t number;		   /* of the model */
	const struct chain_sleep *object;  /* one that waits for it; NULL: it is a lock */
	const struct locksnap_queue *seen; /* by the latest look; NULL */
	struct query_holder by;		   /* all that is known of who holds it */
	enum chain_evidence evidence;
	int32_t holder;		 /* thread id; 0: not known */
	uint32_t waits;		 /* first */
	uint32_t up;		 /* the wait of its holder; CHAIN_NONE: a root */
	uint32_t beside;	 /* the next lock of the same holder */
	struct chain_sum behind; /* all that wait for it, and for locks that these hold */
	bool in_circle;
};

/*
 * A task that waits for no other and for which others do, or a circle, or a lock without a known
 * holder.
 */
struct chain_root {
	uint32_t lock; /* the first of its locks */
	struct chain_sum behind;
	bool circle; /* these wait for each other */
	bool proved; /* all of them at one moment: they do so for ever */
};

struct chain_graph {
	struct query *q;
	struct chain_wait *waits;
	struct chain_lock *locks;
	struct chain_root *roots; /* by number of waits behind them, the largest first */
	uint32_t n_waits, n_locks, n_roots, n_doubtful;
	bool ended; /* of the longest waits that have just ended (longest-recent.h) */
	struct map64 by_tid, by_addr;
};

/* 0 or -ENOMEM; what it points to lies in the query's arena. After query_sync(). */
int chain_graph_make(struct query *q, struct chain_graph *ret);
/* With the chain of that thread, whatever it sleeps for. */
int chain_graph_make_of(struct query *q, int32_t tid, struct chain_graph *ret);
/* Of waits for locks alone. */
int chain_graph_make_locks(struct query *q, struct chain_graph *ret);
/* The same of waits that have just ended: a lock is there once for each of its holders. */
int chain_graph_make_ended(struct query *q, struct chain_graph *ret);
void chain_graph_deinit(struct chain_graph *g);

/*
 * sleeps.c: adds the sleeps of holders, of the tasks that these wait for, and of tasks in state D
 * that wait for another task, with their objects. 0 or -ENOMEM. @most: so many at most. @start: of
 * that thread, too; 0: of none.
 */
int chain_sleeps_add(struct chain_graph *g, size_t most, int32_t start);
/* For how many there must be room. */
size_t chain_sleeps_most(struct query *q);

/* "cat/200": its task, and in words the process of which there are several. */
const char *chain_task_name(const struct chain_graph *g, const struct chain_wait *w);
const char *chain_process_name(const struct chain_graph *g, const struct chain_wait *w);
/* "rwsem mmap_lock mysqld/800", "jbd2 commit vda1" */
const char *chain_lock_text(const struct chain_graph *g, const struct chain_lock *l);

/*
 * way.c: "jbd2 commit vda1 -> jbd2/vda1-8/300 -> disk write vda": the object for which a task
 * sleeps, and where that leads; NULL: it does not, or no memory.
 */
const char *chain_way_of_sleep(struct chain_graph *g, int32_t tid);

/* The wait for @l that has lasted longest. */
uint32_t chain_longest(const struct chain_graph *g, const struct chain_lock *l);
struct chain_sum chain_sum_one(const struct chain_wait *w);
void chain_sum_add(struct chain_sum *to, const struct chain_sum *s);

/*
 * tasks.c: tasks that waited in a graph of ended waits, each counted once, or -ENOMEM: behind a
 * lock, with @beside also behind the others of its holder; in some waits for one lock; in all.
 */
int64_t chain_tasks_of_locks(const struct chain_graph *g, uint32_t lock, bool beside);
int64_t chain_tasks_of_waits(const struct chain_graph *g, const uint32_t *waits, uint32_t n);
int64_t chain_tasks_of_all(const struct chain_graph *g);

#endif
