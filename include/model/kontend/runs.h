/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUNS_H
#define KONTEND_RUNS_H

#include "kontend/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct map_spaces;

enum {
	RUNS_KEPT = 1 << 16,		   /* the last pauses, for windows of time */
	RUNS_CELLS = 1 << 15,		   /* sums of all, */
	RUNS_PAIRS = RUNS_CELLS / 2,	   /* so many with the other task, */
	RUNS_WAKEUPS = RUNS_CELLS / 4 * 3, /* and with that of the wakeup and in the program */
	RUNS_TASKS = 1 << 14,
	RUNS_STACKS = 8192,		   /* of sleeps in the kernel, */
	RUNS_PLACES = RUNS_STACKS / 4 * 3, /* so many also with the program's part, */
	RUNS_WAKERS = RUNS_STACKS / 2,	   /* and of wakeups, which interrupts make many */
	RUNS_FRAMES = 66,		   /* 32 of the kernel, 32 of the program, and a mark */
	RUNS_ONS = 4096,
	RUNS_NAME = 40,
	RUNS_LONGEST = 32,
	RUNS_ALIKE = 2, /* of them of one task and call chain in the kernel */
	RUNS_LINKS = 8, /* of a chain of wakeups */
	RUNS_BYS = 6,
	RUNS_COMM = 16,
};

/* Innermost first: in the kernel, then in the program, as in maps.h. */
struct runs_stack {
	uint32_t n;	   /* 0: not known */
	uint32_t n_kernel; /* of them */
	uint64_t frames[RUNS_FRAMES];
};

/* On what a system call is: as in runrec.h. */
struct runs_on {
	uint64_t value;
	uint32_t dev;
	uint16_t mode, kind;
	char name[RUNS_NAME];
};

enum runs_kind { RUNS_RUNNING, RUNS_READY, RUNS_BLOCKED, RUNS_KINDS };

struct runs_who {
	int32_t pid, tid; /* taskid.h; tid 0: the idle task */
	char comm[RUNS_COMM];
};

/*
 * A record (runrec.h): a task ran, left its CPU, maybe slept, waited for a CPU. Times that are not
 * known yet, or that it does not have, are 0.
 */
struct runs_pause {
	uint64_t on_ns, off_ns, woken_ns, in_ns;
	struct runs_who waker;	      /* tid -1: not known, as its call chain has no room */
	struct runs_who by[RUNS_BYS]; /* the tasks that had its CPU, */
	uint64_t by_ns[RUNS_BYS];     /* for so long; 0: no more */
	uint32_t task;		      /* index */
	uint32_t stack, waker_stack;  /* indices */
	uint32_t kernel;	      /* the same of the part of `stack` in the kernel */
	uint32_t before;	      /* number of this task's pause before it, + 1; 0: none */
	uint32_t lock;		      /* for which it waited: index + 1; 0: none is known */
	struct runs_who holder;	      /* that had it when that began; tid 0: not known */
	uint32_t on;		      /* on what its call is: index; 0: not known */
	uint8_t state;		      /* enum runrec_state */
};

/* For what a task waits. */
struct runs_lock {
	uint32_t lock; /* index + 1; 0: none */
	struct runs_who holder;
};

struct runs_task {
	struct runs_who who;
	bool is_chosen, has_ended;
	uint64_t from_ns, to_ns; /* the time of which it is known what it did */
	uint64_t lost_ns;	 /* of it: no record came */
	uint64_t runs_since_ns;	 /* 0: it does not, or not known */
	bool is_open;		 /* `open` is what it does now */
	struct runs_pause open;
	uint32_t last; /* number of its last pause, + 1; 0: none is kept */
	uint32_t cell; /* with the sum of its last sleep, + 1; 0: it was no sleep, or none has it */
	/* A sleep for a lock of a program that is not reported yet: its begin; 0: none. */
	uint64_t lock_begin_ns;
	struct runs_lock lock;
};

/* All of one task, kind and cause. */
struct runs_cell {
	uint32_t task, stack, waker_stack, lock;
	uint8_t kind, state;
	struct runs_who other; /* who has woken it, or had the CPU; tid -1: not kept */
	uint64_t n, total_ns, max_ns;
	uint64_t max_before_ns; /* without the last one */
	uint32_t kernel;	/* as in runs_pause */
	uint32_t on;		/* of the longest */
};

/*
 * The activity of a task in the time of another one's sleep that it ended: how long it slept,
 * waited for a CPU and ran, and the longest of its sleeps, which another task may have ended.
 */
struct runs_link {
	uint32_t task; /* index */
	uint64_t all_ns, slept_ns, ready_ns;
	struct runs_pause longest; /* of sleeps; off_ns 0: it did not sleep */
};

struct runs_chain {
	uint32_t n;
	bool not_followed; /* what the next task did is not known, as it had woken none before */
	struct runs_link links[RUNS_LINKS];
};

/* A sleep of a chosen task, with what led to its end. */
struct runs_block {
	struct runs_pause pause;
	struct runs_chain chain;
};

/*
 * The activity of chosen tasks, and of those that woke them. Sums are of all records; single ones
 * are kept as long as there is room, and of the longest sleeps also their chain.
 */
struct runs {
	struct runs_task *tasks;
	struct runs_cell *cells;
	struct runs_stack *stacks; /* [0] is empty */
	struct runs_on *ons;	   /* the same */
	struct runs_pause *kept;   /* a ring; NULL: there was none */
	size_t cap_tasks, cap_cells, cap_stacks, cap_ons, cap_kept;
	uint32_t n_tasks, n_cells, n_stacks, n_ons;
	uint32_t n_kept;	  /* all that ever were: number % RUNS_KEPT is the place */
	uint64_t kept_dropped_ns; /* end of the latest pause without room; 0: none */
	struct map64 by_tid, by_key, by_chain, by_on;
	struct runs_block *longest; /* the longest first */
	uint32_t n_longest;
	uint64_t from_ns, seen_ns; /* sums begin; time of the latest record */
	uint64_t missed;	   /* records that were not written */
	uint64_t dropped;	   /* tasks and sums for which there was no room */
};

static inline uint64_t runs_slept_ns(const struct runs_pause *p)
{
	return p->woken_ns - p->off_ns;
}

/*
 * How long the @nth task of @p had the CPU from @from_ns to @to_ns while this one waited for it, as
 * shares of all of that time; @nth RUNS_BYS: all others, or it is not known, tid -1.
 */
uint64_t runs_ready(const struct runs_pause *p, uint64_t from_ns, uint64_t to_ns, unsigned nth,
		    struct runs_who *ret);
/* The sum to which the sleep of @p belongs, without its times. */
struct runs_cell runs_sleep_cell(const struct runs_pause *p);
/* EVENT_RUN. @lock: for which the task waits now. 0 or -ENOMEM. */
int runs_event(struct runs *r, const struct event *ev, const struct runs_lock *lock,
	       struct map_spaces *spaces);
/* A sleep of @tid since @begin_ns, which has just ended, was for @lock. 0 or -ENOMEM. */
int runs_lock(struct runs *r, int32_t tid, uint64_t begin_ns, const struct runs_lock *lock);
/* Forgets objects of maps.h as map_frames_forget(). */
void runs_forget_objects(struct runs *r, const uint8_t *keep, size_t n);
/* The chain that led to the end of the sleep @p, from pauses that are kept. */
void runs_chain(const struct runs *r, const struct runs_pause *p, struct runs_chain *ret);
/*
 * Puts @p into a list of the longest sleeps, of RUNS_LONGEST at most, and returns its place, whose
 * chain is to be filled; NULL: others are longer.
 */
struct runs_block *runs_longest_slot(struct runs_block *list, uint32_t *n,
				     const struct runs_pause *p);
/* The pause of that number, + 1; NULL: 0, or not kept any more. */
const struct runs_pause *runs_at(const struct runs *r, uint32_t number);
void runs_zero(struct runs *r);				 /* sums begin again */
int runs_copy(struct runs *dst, const struct runs *src); /* 0 or -ENOMEM */
void runs_deinit(struct runs *r);
size_t runs_bytes(const struct runs *r);

#endif
