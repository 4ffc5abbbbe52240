/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_H
#define KONTEND_LOCKSNAP_H

#include "kontend/locksnap-items.h"
#include "kontend/locksnap-sleepers.h"
#include "kontend/sections.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names, holders and waiters of locks at one moment, read from kernel structures: the payload of a
 * SNAPSHOT record of kind SNAPSHOT_LOCKS. It has the names of requested locks and of locks with
 * waiters, and the queues of sleeping locks that tasks waited for. As in perfsnap.h, arrays refer
 * to texts by offset, 0 being "".
 */
enum { LOCKSNAP_VERSION = 1 };

struct locksnap_head {
	uint64_t time_ns, cost_ns; /* session clock; duration of taking it */
	uint32_t dropped;	   /* names, queues, waiters without room */
	uint32_t partial; /* waiters are known only for mmap_locks and requested locks: the kernel
			     does not record what a task is blocked on (before 6.16) */
	uint32_t reason;  /* text: why nothing is known; 0: it is known */
	uint32_t mmap_offset; /* of mmap_lock in mm_struct; 0: not known */
	uint32_t no_readers;  /* text: why there is no evidence of readers; 0: it was searched */
	uint32_t many_tasks;  /* too many tasks to search all */
	uint32_t counts_sleepers;   /* 1: `sleepers` are known; 0: see no_sleepers */
	uint32_t no_sleepers;	    /* text: why not; 0: not requested */
	uint32_t sleepers_dropped;  /* tasks without room */
	uint32_t files;		    /* enum locksnap_files */
	uint32_t knows_blocked;	    /* 1: `blocked` are all such tasks; 0: see no_sleepers */
	uint32_t blocked_dropped;   /* tasks without room */
	uint32_t blocked_unwatched; /* tasks in state S whose calls were not read, as too many */
	uint32_t no_objects;	    /* text: why it is not known for what these wait; 0: it is */
	uint32_t users;		    /* enum locksnap_users */
	uint32_t blocked_by;	    /* enum locksnap_blocked_by */
	uint32_t no_runs;  /* text: why it is not known how holders are scheduled; 0: it is */
	uint32_t no_names; /* text: why it is not known in which objects locks are; 0: it is */
};

struct locksnap {
	struct locksnap_head head;
	struct locksnap_name *names;
	struct locksnap_queue *queues;
	struct locksnap_waiter *waiters; /* in the order of their queues and positions */
	struct locksnap_area *areas;
	struct locksnap_var *vars; /* by offset */
	uint64_t *frames;	   /* addresses of kernel code, from the innermost call outwards */
	uint64_t *empty;	   /* requested locks with an empty queue */
	int32_t *gone;		   /* requested threads that do not exist */
	struct locksnap_reader *readers;
	struct locksnap_sleep *sleeps;
	uint64_t *ended; /* locks with earlier names that no longer belong to these files */
	struct locksnap_sleepers *sleepers;
	struct locksnap_blocked *blocked;
	struct locksnap_user_frame *user_frames;
	struct locksnap_futex *futexes;
	struct locksnap_run *runs;
	struct locksnap_stack *stacks;
	struct locksnap_call *calls;
	struct locksnap_preempted *preempted;
	char *strings;
	size_t n_names, n_queues, n_waiters, n_areas, n_vars, n_frames, n_empty, n_gone, n_readers,
		n_sleeps, n_ended, n_sleepers, n_blocked, n_user_frames, n_futexes, n_runs,
		n_stacks, n_calls, n_preempted, n_strings;
	/* For the code that fills it. */
	size_t cap_names, cap_queues, cap_waiters, cap_areas, cap_vars, cap_frames, cap_empty,
		cap_gone, cap_readers, cap_sleeps, cap_ended, cap_sleepers, cap_blocked,
		cap_user_frames, cap_futexes, cap_runs, cap_stacks, cap_calls, cap_preempted,
		cap_strings;
};

static inline bool locksnap_is_file(const struct locksnap_queue *q)
{
	return q->type >= LOCKSNAP_FLOCK && q->type <= LOCKSNAP_LEASE;
}

SECTIONS_FUNCTIONS(locksnap)
SECTIONS_ADD(locksnap, name, names, struct locksnap_name)
SECTIONS_ADD(locksnap, queue, queues, struct locksnap_queue)
SECTIONS_ADD(locksnap, waiter, waiters, struct locksnap_waiter)
SECTIONS_ADD(locksnap, area, areas, struct locksnap_area)
SECTIONS_ADD(locksnap, var, vars, struct locksnap_var)
SECTIONS_ADD(locksnap, frame, frames, uint64_t)
SECTIONS_ADD_VALUE(locksnap, empty, empty, uint64_t)
SECTIONS_ADD_VALUE(locksnap, gone, gone, int32_t)
SECTIONS_ADD(locksnap, reader, readers, struct locksnap_reader)
SECTIONS_ADD(locksnap, sleep, sleeps, struct locksnap_sleep)
SECTIONS_ADD_VALUE(locksnap, ended, ended, uint64_t)
SECTIONS_ADD(locksnap, sleepers, sleepers, struct locksnap_sleepers)
SECTIONS_ADD(locksnap, blocked, blocked, struct locksnap_blocked)
SECTIONS_ADD(locksnap, user_frame, user_frames, struct locksnap_user_frame)
SECTIONS_ADD(locksnap, futex, futexes, struct locksnap_futex)
SECTIONS_ADD(locksnap, run, runs, struct locksnap_run)
SECTIONS_ADD(locksnap, stack, stacks, struct locksnap_stack)
SECTIONS_ADD(locksnap, call, calls, struct locksnap_call)
SECTIONS_ADD(locksnap, preempted, preempted, struct locksnap_preempted)
SECTIONS_ADD_TEXT(locksnap)

#endif
