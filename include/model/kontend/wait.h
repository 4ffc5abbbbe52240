/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAIT_H
#define KONTEND_WAIT_H

#include "kontend/locktype.h"
#include "kontend/waitrec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell_key;

/* Offset of the rt-mutex in a lock that wait_rt_mutex() is of: after an int, aligned for pointers.
 */
enum { WAIT_RT_MUTEX_AT = 8 };

/* A wait in flight: between contention_begin and contention_end. */
struct wait {
	uint64_t begin_ns;
	uint64_t addr;		    /* of the lock */
	uint64_t file;		    /* of a part of a file: address of the whole one's; or 0 */
	uint64_t joined_ns;	    /* since then it counts in `held` and `blame` of the model */
	uint32_t lock, stack, task; /* indices into the model's tables */
	uint32_t flags; /* of the latest begin: a mutex goes from spinning to sleeping */
	uint32_t cell;	/* where its cell was when it began: a hint, see cell_prefetch() */
	uint32_t owner; /* who held the lock when it began, if sums are by that: see cell-owner.h */
	uint32_t reported; /* the same, always; */
	uint32_t seen;	   /* of when a look saw it wait; */
	uint32_t held_by;  /* of one that has ended: who had it last before it got it */
	uint16_t cpu;	   /* where it began */
	bool used;
	bool doubtful; /* records were lost since it began: its end may have been among them */
	bool nested;   /* in another spin wait of its CPU, which spins but once */
	bool queued;   /* its lock's next release sees that it waits: see release.c */
	/* For waits that no event reported, but a snapshot of locks: */
	bool by_look;
	bool early;    /* it began before there were events */
	bool at_least; /* it began at begin_ns or earlier */
	bool no_cpu;   /* where it began is not known */
	/*
	 * Of the writer of a percpu-rwsem, as looks have seen it: the part of the wait that it is
	 * in, since when, and how long it waited for RCU before.
	 */
	uint8_t part;	   /* enum locksnap_part */
	uint32_t switches; /* see locksnap_waiter */
	uint64_t part_ns, rcu_ns;
	/* Of one without events: when a look saw it last, and when it went to sleep before. */
	uint64_t looked_ns, slept_ns;
	/*
	 * Of a mutex, in this order: since when the present phase lasts, how long it spun before
	 * that since sums began, and that part of it which no tick has yet.
	 */
	uint64_t phase_ns, spun_ns, open_spun_ns;
	bool is_split; /* the above is known */
	/*
	 * The clock of idle CPUs (wait-lost.c), 0: not known; when that was; and for how long one
	 * was idle until then, since sums began.
	 */
	uint64_t idle_ns, lost_at_ns, lost_ns;
	bool loses;	      /* that is known, or will be when it ends */
	bool is_lost;	      /* it has ended, and lost_ns is known */
	uint64_t par;	      /* parclock.h, where it began; 0: not known */
	uint64_t par_ns;      /* of one that has ended: how long other threads ran, if */
	bool is_par;	      /* that is known */
	struct waitrec_on on; /* its system call is */
	uint32_t blame;	      /* its class: see blame.h; 0: it is not sure, or blame is off */
	bool lines_up;	      /* it is in the queue of its lock, */
	uint32_t place;	      /* here, if it has a place there: see lockqueue.c */
	uint32_t next_free;
};

/* The part of it that lies between @from_ns and @to_ns. */
static inline uint64_t wait_part_ns(const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = w->begin_ns > from_ns ? w->begin_ns : from_ns;

	return to_ns > from ? to_ns - from : 0;
}

/* Does it spin for a mutex now, as far as that is known? */
static inline bool wait_spins(const struct wait *w)
{
	const uint32_t both = LCB_F_MUTEX | LCB_F_SPIN;

	return (w->flags & both) == both && w->phase_ns;
}

/* How long it has spun for a mutex, of the time since @from_ns, when sums began. */
uint64_t wait_spun_ns(const struct wait *w, uint64_t from_ns, uint64_t now_ns);

/* Has no event reported it, nor will one report its end? It is known until the last look. */
static inline bool wait_is_silent(const struct wait *w)
{
	return w->by_look && (w->part || w->flags == LCB_F_VMA);
}

/* Until when a wait in flight is known to last. */
static inline uint64_t wait_until_ns(const struct wait *w, uint64_t now_ns)
{
	return wait_is_silent(w) && w->looked_ns < now_ns ? w->looked_ns : now_ns;
}

/* Of its last part, until @now_ns. */
static inline uint64_t wait_current_part_ns(const struct wait *w, uint64_t now_ns)
{
	return now_ns > w->part_ns ? now_ns - w->part_ns : 0;
}

/*
 * For a task that waits to read for a reader-writer lock of PREEMPT_RT: the rt-mutex after the
 * count of readers with which the lock begins, for which the task waits then. 0 for others.
 */
static inline uint64_t wait_rt_mutex(const struct wait *w)
{
	return w->flags == (LCB_F_RT | LCB_F_READ) ? w->addr + WAIT_RT_MUTEX_AT : 0;
}

/* The key of the cell that the wait is added to. */
struct cell_key wait_key(const struct wait *w);

/* How far snapshots of locks have been compared with the waits in flight: see lock-snapshots.c. */
struct wait_looks {
	uint64_t due_ns; /* when events have been applied up to then the latest is; UINT64_MAX: it
			    has been */
	uint64_t lost;	 /* records, when that was last done */
	uint64_t unreported_ns; /* until then events did not report all waits; UINT64_MAX: nor do
				they now; 0: they always did */
};

/* The clock of idle CPUs, as it was shown last; `shown` 0: never. */
struct lost_clock {
	uint64_t ns, at_ns;
	uint32_t shown;
};

/* Waits by index; entry 0 is never used. Iterate 1..high-1 and skip those not `used`. */
struct wait_pool {
	struct wait *waits;
	size_t cap;
	uint32_t high;
	uint32_t free;
	uint32_t in_flight;
	struct lost_clock lost;
};

int wait_pool_init(struct wait_pool *p);
void wait_pool_deinit(struct wait_pool *p);
/* An index that was never used; 0 on ENOMEM. */
uint32_t wait_more(struct wait_pool *p);

static inline uint32_t wait_new(struct wait_pool *p) /* 0 on ENOMEM */
{
	uint32_t index = p->free;

	if (index)
		p->free = p->waits[index].next_free;
	else if (!(index = wait_more(p)))
		return 0;
	p->waits[index] = (struct wait){.used = true};
	p->in_flight++;
	return index;
}

static inline void wait_put(struct wait_pool *p, uint32_t index)
{
	p->waits[index].used = false;
	p->waits[index].next_free = p->free;
	p->free = index;
	p->in_flight--;
}

struct model;
/* How much @w has lost until its end, or until now: see `lost_ns`. False: it is not known. */
bool wait_lost(const struct model *m, const struct wait *w, bool ended, uint64_t *ret_ns);

#endif
