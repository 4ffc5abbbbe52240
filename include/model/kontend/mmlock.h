/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MMLOCK_H
#define KONTEND_MMLOCK_H

#include "kontend/event.h"
#include "kontend/hist.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"

struct mmlevel_how;

/*
 * Acquisitions of mmap_locks, from their own events: a task asks, gets the lock, gives it back.
 * They do not come in triples: a trylock does not ask, a release may come from another task, and
 * where events come for a part of the time only, each may be missing. Events without a partner are
 * counted.
 */

/* Upper bounds. Entries beyond go into the first one, or are counted in `dropped`. */
enum { MMLOCK_MMS = 4096, MMLOCK_TASKS = 65536, MMLOCK_OPEN = 4 };

struct mmlock_times {
	uint64_t n, total_ns, min_ns, max_ns;
	uint32_t hist[HIST_GROUPS];
};

struct mmlock_mode {
	uint64_t acquired;	  /* times it was got; a write lock made a read lock is none */
	uint64_t failed;	  /* times it was not: trylocks, and who was killed */
	uint64_t before;	  /* of MMLEVEL_SAMPLED: acquired until the last burst ended */
	double squares, products; /* of what each burst had, and that times its size, summed up */
	struct mmlock_times wait; /* from asking to having it: trylocks do not ask */
	struct mmlock_times hold;
};

/* An address space. Entry 0 stands for those that did not fit. */
struct mmlock_mm {
	uint64_t mm;
	int32_t pid; /* of the process whose threads take it most; 0: not known */
	uint32_t votes;
	bool over;	   /* the process ended, or has another one now */
	const char *comm;  /* of the process when it was over; NULL: it is not, or not known */
	uint64_t memcg_id; /* 0: not known */
	const char *memcg; /* its path, where the event has one; NULL: it does not */
	struct mmlock_mode mode[2]; /* readers, writers */
};

enum mmlock_state { MMLOCK_FREE, MMLOCK_ASKED, MMLOCK_HELD };

/* The phase that an event ends. */
enum mmlock_end { MMLOCK_ENDS_NOTHING, MMLOCK_ENDS_WAIT, MMLOCK_ENDS_HOLD };

struct mmlock_open {
	uint64_t mm, since_ns;
	uint32_t stack; /* where it was got; STACK_OTHER: not known */
	uint8_t state;	/* enum mmlock_state */
	bool write;
};

/* Locks that a thread asks for or has now. */
struct mmlock_task {
	int32_t tid;
	struct mmlock_open open[MMLOCK_OPEN];
};

struct mmlocks {
	struct mmlock_mm *mms;
	size_t n, cap;
	struct map64 by_mm; /* the latest of each address */
	struct mmlock_task *tasks;
	size_t n_tasks, cap_tasks;
	struct map64 by_tid;
	struct hist_pool hists;
	uint32_t lock_offset;	 /* of mmap_lock in mm_struct; 0: not known yet */
	struct mmlevel_how *how; /* how it is measured now; of its own */
	bool how_known;		 /* the stream has a record of it */
	uint64_t lost_until;	 /* events before are not all there */
	uint64_t n_events;	 /* since the start */
	uint64_t cur_n, rate_n;	 /* of the open and the closed bucket */
	uint64_t last_ns;	 /* that the last event ended, and what that was */
	uint8_t last_end;	 /* enum mmlock_end */
	bool last_write;	 /* of a hold: its mode, and where it was got */
	uint32_t last_stack;
	uint64_t counts_before[2]; /* of mmlevel_how, when the sums began */
	/* Since the sums began: */
	uint64_t seen_ns; /* of MMLEVEL_SAMPLED: time in which events came */
	uint64_t bursts;  /* and the number of times */
	double size,
		sizes_squared;	  /* their sizes: events of getting one if all are counted, or ns */
	uint64_t seen_until;	  /* of the last one: its end */
	uint64_t got, got_before; /* events of getting one, or not; until the last one ended */
	uint64_t counted, counted_inside; /* acquisitions in all this time, and in those */
	uint64_t asked_only;		  /* asked, with no later event */
	uint64_t held_only;		  /* got, without a release */
	uint64_t release_only;		  /* given back without an acquisition */
	uint64_t tried; /* got without having asked: trylocks, or the asking was not seen */
	uint64_t downgraded;
	uint64_t dropped; /* for lack of room or memory */
};

int mmlock_init(struct mmlocks *l);
void mmlock_deinit(struct mmlocks *l);
int mmlock_copy(struct mmlocks *dst, const struct mmlocks *src); /* into an uninitialized one */
size_t mmlock_bytes(const struct mmlocks *l);

/*
 * EVENT_MM_START, _ACQUIRED, _RELEASED; @names: of texts that live on; @stack: where it is got,
 * STACK_OTHER. 0 or -ENOMEM.
 */
int mmlock_event(struct mmlocks *l, const struct event *ev, struct strpool *names, uint32_t stack);
/* A wait for a reader-writer lock at @addr begins: while a thread asks it is the mmap_lock. */
void mmlock_contended(struct mmlocks *l, int32_t tid, uint64_t addr);
/* The thread has exited. */
void mmlock_exit(struct mmlocks *l, int32_t tid);
/* The address space of the process is gone: its last thread has exited, or it executes another
 * program. @comm: its name, NULL: not known. */
void mmlock_end(struct mmlocks *l, int32_t pid, const char *comm);
/*
 * Records were lost, or events not let through: what goes on cannot be paired, nor what begins
 * before @until_ns.
 */
void mmlock_lost(struct mmlocks *l, uint64_t until_ns);
/* The method of measuring, from a snapshot; sums count from @zero_ns. */
void mmlock_how(struct mmlocks *l, const struct mmlevel_how *how, uint64_t zero_ns);
void mmlock_tick(struct mmlocks *l);
void mmlock_zero(struct mmlocks *l);

#endif
