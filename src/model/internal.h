/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_INTERNAL_H
#define KONTEND_SRC_MODEL_INTERNAL_H

#include "holds-int.h"
#include "kontend/locktype.h"
#include "kontend/model.h"
#include "kontend/runs.h"

struct event;
struct lock;
struct locksnap;
struct model_cpu;
struct usersnap;
struct wait;

/*
 * model.c: the call chain, of kernel addresses as they come, with names of code that the kernel
 * made (ksyms.h). STACK_OTHER: it is empty, or the table is full.
 */
uint32_t model_stack(struct model *m, const uint64_t *frames, uint32_t n);

/* model.c: how many of the innermost frames of a chain are of the tracing; fewer than @n. */
uint32_t model_traced(const struct model *m, const uint64_t *frames, uint32_t n);
/*
 * model.c: the type of a lock for which a wait with that chain begins. Flags are the same for a
 * spinlock and a resilient one: the function that waits is another one.
 */
enum lock_type model_lock_type(const struct model *m, uint32_t flags, const uint64_t *frames,
			       uint32_t n);

/* user-wait.c: an EVENT_USER. 0 or -ENOMEM. */
int user_wait(struct model *m, const struct event *ev);
/* Sums of short waits. 0 or -ENOMEM. */
int user_sums(struct model *m, const struct usersnap *s);

/* pair.c: waits begin and end. 0 or -ENOMEM. */
int pair_begin(struct model *m, const struct event *ev);
int pair_end(struct model *m, const struct event *ev);
int pair_owner(struct model *m, const struct event *ev);
/* The task is gone: waits it still had lost their end. */
void pair_task_gone(struct model *m, uint32_t task);
void pair_untracked_gone(struct model *m, int32_t tid); /* the same of who has no entry */
/* Takes off what spins no more, before the bucket is closed. */
void pair_tick(struct model *m);
/*
 * Records of @cpu are missing (any CPU: PAIR_ANY_CPU) from now on and before @until_ns: ends may be
 * among them, so waits that began before cannot be trusted, now or then.
 */
#define PAIR_ANY_CPU UINT32_MAX
void pair_lost(struct model *m, uint32_t cpu, uint64_t until_ns);

/* The lock at @addr is over, but not for those who wait for it now: they wait for the next one. */
void pair_renew(struct model *m, uint64_t addr);
/* The wait at @index of the pool is known to be over, though its end was not seen. */
void pair_vanished(struct model *m, uint32_t index);
/* Puts a wait for a sleeping lock, which no event reported, among those of its task. */
void pair_insert(struct model *m, uint32_t index);

/* lock-snapshots.c: compares the latest look at the locks, which is due, with the waits in flight.
 */
void looks_settle(struct model *m);
/* No event comes any more: the latest look, if it is still due, has waits that no event reports. */
void looks_end(struct model *m);
bool looks_of_all(const struct model *m); /* every task is measured */

int shorts_take(struct model *m, const void *payload, size_t len, uint64_t time_ns);
/* Waits that were summed up, of one lock; SHORTS_LOCK: of all of a type. */
struct shorts_part {
	uint64_t lock, n, ns;
	enum lock_type type;
	uint32_t stack;
	bool is_split; /* of a mutex: so much of ns was spinning */
	uint64_t spun_ns;
	uint64_t lost_ns;	    /* in so much of ns a CPU was idle, */
	bool is_lost_known;	    /* and no more */
	uint64_t par_ns, par_of_ns; /* other threads ran so long in so much of it */
};
int shorts_add(struct model *m, const struct shorts_part *s); /* 0 or -ENOMEM */
/* account.c: what was waited goes into cells, locks, CPUs and types. */
void account_end(struct model *m, struct wait *w, const struct event *ev);
/* The wait began in a bucket that is closed: its time there is added to the open one. */
void account_late(struct model *m, const struct wait *w);
/* A doubtful wait is over, and in no figure. */
void account_doubt(struct model *m, const struct wait *w);
void account_tick(struct model *m, uint64_t time_ns);

/* blame.c: only where that is followed, which is where `blame` has room for cells. */
void blame_wait(struct model *m, struct wait *w); /* a sure wait begins */
void blame_over(struct model *m, struct wait *w); /* and is in flight, or sure, no more */
/* The chain of @w is another one; what is charged to others who wait in the same place stays. */
void blame_moves(struct model *m, const struct wait *w);
/* A wait ends, in which other threads of its process ran for so long; to be called before
 * blame_got() and blame_over(). */
void blame_par(struct model *m, const struct wait *w, uint64_t par_ns, uint64_t of_ns);
void blame_got(struct model *m, const struct wait *w);
/* @w is about to end: its task has not got the lock, or has got it already. */
void blame_not_taken(struct model *m, const struct wait *w);
/* A record or snapshot has @task, which has @lock, at @seen_ns; of readers, as a hint. */
void blame_report(struct model *m, uint32_t lock, uint32_t task, bool hint, uint64_t seen_ns);
/* No task holds @lock, and @next is to take it; TASK_OTHER: that task is unknown. */
void blame_free(struct model *m, uint32_t lock, uint32_t next);
void blame_task_gone(struct model *m, uint32_t task);
void blame_lost(struct model *m); /* who has which lock is not known any more */
void blame_tick(struct model *m, uint64_t time_ns);
void blame_forget_lock(struct model *m, uint32_t lock);
void blame_end_tasks(struct model *m, uint64_t until_ns); /* they are "other" */
/* blame-holder.c */
int blame_holder(struct model *m, const struct event *ev); /* 0 or -ENOMEM */
/* An EVENT_SAMPLE of @task: from now on, while it runs, it is charged for this place. */
void blame_sample(struct model *m, const struct event *ev, uint32_t task);
void blame_mark(struct model *m);  /* what it names */
void blame_sweep(struct model *m); /* forgets what is not marked */
void blame_zero(struct model *m);
/* blame-pool.c, blame-cell.c */
int blame_copy(struct blame *dst, const struct blame *src); /* 0 or -ENOMEM */
void blame_deinit(struct blame *b);
size_t blame_bytes(const struct blame *b);
void blame_close_bucket(struct model *m, uint64_t time_ns);
void blame_mark_cells(struct model *m);
/* release.c: a task releases a lock for which others wait. */
void release_event(struct model *m, const struct event *ev);
/* @w is in the queue: releases of its lock are reported until it is not. */
void release_queue(struct model *m, struct wait *w);
void release_unqueue(struct model *m, struct wait *w);
/* The wait has got its lock; true: it is known when that was let go of. */
bool release_got(struct model *m, const struct wait *w, uint64_t ns);
void release_mark(struct model *m, struct lock *l);
/*
 * lockqueue.c: a wait begins, is over at @ns and has got the lock or not, becomes doubtful, or is
 * taken off as its end was lost. Only where holders are followed; the last two do nothing for waits
 * that are in no queue.
 */
void lockqueue_begin(struct model *m, uint32_t index);
void lockqueue_end(struct model *m, struct wait *w, uint64_t ns, bool got);
void lockqueue_doubt(struct model *m, struct wait *w);
void lockqueue_give_up(struct model *m, struct wait *w);
/* To hand the lock (of either mode) over took so long, as its release was reported: release.c. */
void lockqueue_handed(struct model *m, uint32_t lock, uint64_t took_ns);
void lockqueue_tick(struct model *m, uint64_t time_ns);
/* Marks the tasks that queues name; queues of locks that are not marked are forgotten. */
void lockqueue_mark(struct model *m);
void lockqueue_end_tasks(struct model *m, uint64_t until_ns); /* that ended until then */
void lockqueue_zero(struct model *m);
int lockqueues_copy(struct lockqueues *dst, const struct lockqueues *src); /* 0 or -ENOMEM */
void lockqueues_deinit(struct lockqueues *s);
size_t lockqueues_bytes(const struct lockqueues *s);

/* lock-lifetime.c: the address space of process @pid, that was called @comm (NULL), is gone. */
void lock_lifetime_end(struct model *m, int32_t pid, uint64_t time_ns, const char *comm);
/* The names of @snap, of @time_ns, are known: who had their locks before, did not have them. */
void lock_lifetime_named(struct model *m, const struct locksnap *snap, uint64_t time_ns);

/* An event reports which inode has a lock: what waits for it now waits for that one's. 0 or
 * -ENOMEM.
 */
int lock_lifetime_inode(struct model *m, const struct event *ev);
/* Names the lock of a file by the inode in the begin of a wait, unless it has a name. 0 or -ENOMEM.
 */
int lock_lifetime_file(struct model *m, const struct event *ev);
/* The same of the lock of a program, by process and address. */
int lock_lifetime_user(struct model *m, const struct event *ev);

/* fold.c: makes room in the tables. */
uint32_t fold_coarse_lock(const void *locks, uint32_t lock); /* what it is a part of then */
void fold_cells(struct model *m);
void fold_in_turn(struct model *m); /* unless that was a moment ago */
/* The older half of the tasks that have ended is given up. 0 or -ENOMEM: samples are missing. */
int fold_ended(struct model *m);
/* Folds when locks, stacks or tasks have run out, at most once in a while. */
void fold_if_full(struct model *m);

/* Makes room for CPU @cpu; NULL on ENOMEM or a nonsensical number. */
struct model_cpu *model_add_cpu(struct model *m, uint32_t cpu);

/* The state of a CPU, made if absent. */
struct model_cpu *model_cpu(struct model *m, uint32_t cpu);

/* holder.c. A wait for the lock begins; call it before the wait is counted. */
void holder_waits(struct model *m, uint32_t lock);
/* @owner (cell-owner.h) has the lock since @ns at the latest. */
void holder_since(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns);
/* The same, as an event of exactly @ns reports: lockqueue-steal.c counts it as well. */
void holder_report(struct model *m, uint32_t lock, uint32_t owner, uint64_t ns);
/* Readers have the lock, but the known one has exited: the others are unknown. */
void holder_readers(struct model *m, uint32_t lock, uint64_t ns);
void holder_got(struct model *m, const struct wait *w, uint64_t ns);
/* The process @pid (0: not known) took the lock of a file at @ns; 0: that is not known any more. */
void holder_taken(struct model *m, uint32_t lock, int32_t pid, uint64_t ns);
void holder_let_go(struct model *m, uint32_t lock, uint32_t task, uint64_t ns);
/* The last holder of the lock during @w, which is about to end. */
uint32_t holder_last(const struct model *m, const struct wait *w);
/* @w is about to end without the lock, so its task is not the next holder. */
void holder_gives_up(struct model *m, const struct wait *w);
/* For what the wait of that index is; 0: for nothing. */
struct runs_lock model_waits_for(const struct model *m, uint32_t wait);
/* All that is known about the holder of the lock, in either mode. */
struct lock_has holder_state(const struct model *m, uint32_t lock);
/* Waits for @lock were counted for another one, of which @was is known, unless later reports are.
 */
void holder_move(struct model *m, uint32_t lock, const struct lock_has *was);
void holder_mark(struct model *m);

#endif
