/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCK_H
#define KONTEND_LOCK_H

#include "kontend/holder.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/series.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * A lock is (address, type and mode): readers and writers of one rwsem are two entries. The first
 * LOCK_TYPES entries are the "other" of each type, address 0. A lock that is known to be freed is
 * over: at its address there may be another lock, with an entry of its own.
 */
struct lock {
	uint64_t addr;
	uint64_t id;	   /* of its rows: lock_key(), unless an earlier lock has that */
	uint64_t begin_ns; /* of the first wait for it */
	uint8_t type;	   /* enum lock_type */
	uint8_t marked;
	bool over;
	bool many;	      /* locks of other kinds are at its address, or were */
	uint32_t waiting;     /* waits in flight */
	uint64_t cur_wait_ns; /* in the open bucket, waits in flight included at the tick */
	struct series
		wait_series; /* ns waited in each closed bucket; allocated when first needed */
	uint64_t cgroup;     /* of who waited for it last; 0: not known */
	/* A lock that has ended: its owner, as its own events reported; pid 0: unknown */
	struct lock_end {
		int32_t pid;
		const char *comm, *memcg; /* interned; NULL: not known */
	} end;
	uint32_t twin; /* its other mode, that is at the same address; 0: none is known */
	/* Of ended waits of the writers of a percpu-rwsem, as far as looks have seen it. */
	uint64_t rcu_ns, readers_ns;
	struct lock_has has;
	struct lock_taken taken; /* of the lock of a file */
	uint32_t holds;	  /* its holders, as far as they are followed: see holds.h; 0: none */
	uint32_t n_holds; /* so many */
	uint32_t blame;	  /* its node, with its other mode: see blame.h; 0: none */
	uint32_t n_sure;  /* waits in flight that are not doubtful, until the time below */
	uint64_t reported_ns;
	uint64_t last_got_ns; /* when a wait for it ended with it last; 0: none has */
	uint64_t waits_ns; /* since when there is one of those or of its other mode's; 0: none is */
	/* From reported releases: see release.c. */
	uint32_t n_queued; /* of those, the waits in the queue */
	uint64_t queue_ns; /* since when there is one, of either mode; 0: none is */
	uint64_t got_ns;   /* when a waiter got it last */
	struct lock_freed {
		uint64_t ns;	      /* when it was let go of last, since then; 0: it was not */
		uint32_t stack, task; /* of who did */
	} freed;
	bool due;	     /* it was got before the release by its holder was reported */
	uint64_t waited_ns;  /* how long those have waited together, ever; of this mode */
	uint64_t charged_ns; /* so much of both modes' is charged to who held it */
	/* The part of that which each holder of this mode has been charged with, and the
	 * remainder. */
	uint64_t share_ns;
	uint32_t share_rest;
	/* Charged so far to each wait in progress; the last time, and before that. */
	uint64_t share_time_ns, share_at_ns, share_from_ns;
	uint32_t queue;	 /* of both modes: see lockqueue.h; 0: two have not waited at a time */
	uint32_t latest; /* wait that is not doubtful */
	/* Hand-overs of this mode before there is a queue: see lockqueue-alone.c. */
	struct lock_alone {
		uint64_t got_ns; /* the last one; 0: none that others go on from */
		uint64_t convoy_ns, convoy_longest_ns;
		uint32_t handed, runs, run, run_most, convoys;
	} alone;
	uint32_t next_free;
};

struct lock_table {
	struct lock *locks;
	size_t n, cap;
	uint32_t max;
	uint32_t free;
	struct map64 index;  /* lock_key() -> index of the one that is not over */
	struct map64 others; /* id -> index, of those that are over or have an id of their own */
	uint32_t n_ids;	     /* that were given besides keys */
	uint32_t types;	     /* one bit for each type of which there was a lock */
};

static inline uint64_t lock_key(uint64_t addr, enum lock_type type)
{
	return addr ^ (uint64_t)type << 56; /* kernel addresses have their top bits all set */
}

/* False: there is no lock of that type, at no address. */
static inline bool lock_has_type(const struct lock_table *t, unsigned type)
{
	return t->types >> type & 1;
}

int lock_table_init(struct lock_table *t, uint32_t max);
void lock_table_deinit(struct lock_table *t);
/* Index of a lock that is not there yet; the type's "other" when the table is full. */
uint32_t lock_add(struct lock_table *t, uint64_t addr, enum lock_type type);

/* The same for any lock. */
static inline uint32_t lock_get(struct lock_table *t, uint64_t addr, enum lock_type type)
{
	const uint32_t *known = map64_get(&t->index, lock_key(addr, type));

	return known ? *known : lock_add(t, addr, type);
}

/* The lock at @addr is gone, in all its modes; @end: its owner, see struct lock. */
void lock_end(struct lock_table *t, uint64_t addr, const struct lock_end *end);
/* Is it an id that was assigned besides keys? Such an id does not contain the address. */
static inline bool lock_id_is_own(uint64_t id)
{
	return id >> 60 == 8;
}

/* Does any task wait for it, in whatever mode? */
static inline bool lock_is_waited_for(const struct lock_table *t, uint32_t index)
{
	const struct lock *l = &t->locks[index];

	return l->waiting || (l->twin && t->locks[l->twin].waiting);
}

/*
 * Index of the lock at @addr for which a task waits; of one mode, where it has two. 0: there is
 * none, or locks of several kinds are.
 */
uint32_t lock_waited_at(const struct lock_table *t, uint64_t addr);
/* When a waiter got the lock at @addr last, in any mode; 0: none has. */
uint64_t lock_last_got_ns(const struct lock_table *t, uint64_t addr);
/* Index of the lock with that id; UINT32_MAX: there is none. */
uint32_t lock_by_id(const struct lock_table *t, uint64_t id);
/* Forgets the locks that are not `marked`, and clears the marks. */
void lock_sweep(struct lock_table *t);
/* True when lock_get() would have to answer `other` for a lock not seen yet. */
static inline bool lock_table_full(const struct lock_table *t)
{
	return !t->free && t->n >= t->max;
}

#endif
