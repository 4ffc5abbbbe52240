/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_QUEUES_H
#define KONTEND_QUERY_QUEUES_H

#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/query.h"

/* The latest snapshot of locks, decoded; NULL: none, or no memory. Borrowed until the next one. */
const struct locksnap *query_queues(struct query *q);
/* The queue of tasks at the lock at @addr; NULL: not known, or no task waited. */
const struct locksnap_queue *query_queue_at(struct query *q, uint64_t addr);
/* Thread @tid in it, or NULL. */
const struct locksnap_waiter *query_queue_waiter(struct query *q,
						 const struct locksnap_queue *queue, int32_t tid);
/*
 * "mm/5219 W", "mm/5219 R?" of readers, by a hint or by evidence; NULL: none, not known, or no
 * memory.
 */
const char *query_queue_holder(struct query *q, const struct locksnap_queue *queue);
/* "sure", "hint", "evidence"; NULL: there is no holder. */
const char *query_queue_certainty(const struct locksnap_queue *queue);

/* The holder's state: "running", "runnable", "asleep"; NULL: not known. */
const char *query_queue_state(const struct locksnap_queue *queue);
/* Where it sleeps: the function that called the scheduler; NULL: not known. */
const char *query_queue_function(struct query *q, const struct locksnap_queue *queue);
/* The innermost function that says more than that one sleeps; 0: none. */
uint32_t query_sleeps_in(struct query *q, const uint64_t *frames, uint32_t n);
/*
 * Where a holder runs, by the profile: the function, and the system call in which that is.
 *
 * Of a place as profile_place() has it, and where thread @tid runs, which is known while it has a
 * lock for which others wait.
 */
struct query_spot {
	uint32_t func;	       /* 0: not known */
	uint64_t frame;	       /* the place itself; 0: not known */
	const char *in, *call; /* NULL: not known; none, or not known */
};

void query_spot_of(struct query *q, uint32_t stack, struct query_spot *ret);
void query_runs_in(struct query *q, int32_t tid, struct query_spot *ret);
/* "copy_page_range (clone)", of a function that is known */
const char *query_spot_text(struct query *q, const struct query_spot *p);
/* Where thread @tid was last seen to sleep while it held a lock; NULL: never. */
const char *query_queue_last_function(struct query *q, int32_t tid);
/*
 * Both: "asleep io_schedule", "running on 1 in copy_page_range (clone)", of a reader by evidence
 * "running on 1, by show_smap"; NULL: not known, or no memory.
 */
const char *query_queue_holder_is(struct query *q, const struct locksnap_queue *queue);
/* The @nth task that seems to hold it as a reader, the holder first; NULL: no more. */
const struct locksnap_reader *query_queue_reader(struct query *q,
						 const struct locksnap_queue *queue, uint32_t nth);
/*
 * All of them, with what each does: "ps/77, running on 1, by show_smap", @between them; NULL: none.
 */
const char *query_queue_readers(struct query *q, const struct locksnap_queue *queue,
				const char *between);
/* The function among its calls that shows this; NULL. */
const char *query_queue_reads_in(struct query *q, const struct locksnap_reader *r);
/* Which file thread @tid, a holder that sleeps, is at; NULL: not known. */
const struct locksnap_sleep *query_queue_sleep(struct query *q, int32_t tid);
/* "writes /var/x.img (vda)"; NULL. */
const char *query_queue_about(struct query *q, int32_t tid);
/* The message that the task sends to rtnetlink, "RTM_NEWLINK"; NULL: none is known. */
const char *query_queue_message(struct query *q, int32_t tid);
/* That of a holder who is known by evidence; NULL: it is not. */
const char *query_queue_by_evidence(struct query *q, const struct locksnap_queue *queue);
/*
 * How long each look has seen that holder, who is sure, at most since a waiter got the lock; 0: not
 * twice.
 */
uint64_t query_queue_held_ns(const struct query *q, const struct locksnap_queue *queue);
/* The calls of a sleeping holder and of a waiter, a line each from the innermost outwards; NULL. */
const char *query_queue_holder_stack(struct query *q, const struct locksnap_queue *queue);
const char *query_queue_stack(struct query *q, const struct locksnap_waiter *w);
/* Of a lock of a program: the call there that waits; NULL: not known. */
const char *query_queue_site(struct query *q, const struct locksnap_waiter *w);
/* The same of any addresses of kernel code. */
const char *query_queue_frames(struct query *q, const uint64_t *frames, uint32_t n);
struct blame_key;
/*
 * The function in which the task that is charged got its lock; 0: not known. The writer of a
 * percpu-rwsem that has not waited for another one is seen in it as it waits for the readers.
 */
uint32_t query_got_in(struct query *q, const struct blame_key *k);
/* Of a percpu-rwsem, which no snapshot has: the writer that the model knows of, into @ret. */
struct query_lock_now;
void query_lock_now_percpu(struct query *q, uint64_t addr, enum lock_type type,
			   struct query_lock_now *ret);
int query_queues_init(struct query *q); /* 0 or -ENOMEM */
void query_queues_deinit(struct query *q);

#endif
