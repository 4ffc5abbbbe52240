/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HOLDS_H
#define KONTEND_HOLDS_H

#include "kontend/cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The owner in the key of a cell of `held`: its times are exact, as the kernel reported the
 * release. Other times are upper bounds.
 */
enum { HOLD_EXACT = 1 << 30 };

/* A task that has waited for a lock, got it, and has it until the next waiter gets it. */
struct hold {
	uint64_t got_ns;
	uint32_t stack, task;	/* of the wait */
	uint32_t next;		/* of the same lock, or free; 0: none */
	bool free;		/* no task has the lock, and this one is to take it */
	bool seen;		/* it took the lock some time before `got_ns`, maybe unseen */
	uint64_t share_ns;	/* of its lock, when it was got */
	uint64_t waited_ns;	/* in the end: how long others have waited meanwhile, together */
	uint64_t share_time_ns; /* of its lock, when it was got */
	/* In the end: one who waited since then has lost so much because of it. */
	uint64_t since_ns, alone_ns;
	/* Readers: the time of the release; what is "in the end" is complete then. 0: it may still
	 * hold the lock */
	uint64_t gone_ns;
};

/* A time in which a task had a lock for which others waited, when it is known how long. */
struct hold_reported {
	const struct hold *hold; /* its waited_ns is complete */
	uint32_t lock;
	uint64_t end_ns;
	bool exact; /* else `end_ns`, or when it was got, is a bound */
};

struct holds_watch {
	void (*reported)(struct holds_watch *w, const struct hold_reported *h);
};

enum { HOLDS_MET = 64 };

/* Charges of a hold, kept while a wait is in progress to which they may belong. */
struct holds_done {
	uint64_t since_ns, end_ns, alone_ns, waited_ns;
	struct cell_key key;
};

/* Holds are lists that begin in struct lock. Their durations are in cells: `held` of a model. */
struct holds {
	struct hold *v; /* 0 is no entry */
	size_t cap;
	uint32_t n, free;
	uint64_t got;		 /* locks that were waited for and got, since the sums began */
	uint64_t waited_ns;	 /* for all locks; of it, */
	uint64_t charged_ns;	 /* what is charged to those of whom that is known */
	uint64_t doubtful_ns;	 /* taken out of waited_ns, as the ends of waits were lost */
	struct holds_done *done; /* in the order of their ends; of those before floor_ns not all */
	size_t n_done, cap_done;
	uint64_t floor_ns;
	uint64_t known;		   /* of them, those of which it is known how long they were held */
	uint64_t exact;		   /* of these, those that are no upper bounds */
	uint64_t releases;	   /* reported by their own events, ever */
	uint32_t met[HOLDS_MET];   /* locks let go of lately, by address; 0: none */
	struct holds_watch *watch; /* NULL: none; borrowed, of this one, not of copies */
};

#endif
