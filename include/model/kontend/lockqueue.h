/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKQUEUE_H
#define KONTEND_LOCKQUEUE_H

#include "kontend/hist.h"
#include "kontend/locktype.h"
#include "kontend/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCKQUEUE_W, LOCKQUEUE_R, LOCKQUEUE_MODES }; /* locks without modes: W */

/* The wait that had it worst. */
struct lockqueue_worst {
	uint32_t n, task;
	uint64_t ns; /* how long it lasted */
};

/* Sums over a queue. */
struct lockqueue_sums {
	uint64_t handed[LOCKQUEUE_MODES]; /* times that who waited got the lock */
	uint64_t phases[LOCKQUEUE_MODES]; /* runs of these of one mode */
	uint32_t phase_most;		  /* readers in one of them */
	uint64_t passed, passed_waits;	  /* times that waits were passed over; waits that were */
	uint64_t passed_longest_ns;	  /* of those waits */
	struct lockqueue_worst passed_most;
	uint64_t starved; /* waits that lasted longer than so many hand-overs */
	struct lockqueue_worst starved_most;
	uint64_t convoys, convoy_ns, convoy_longest_ns;
	uint32_t longest; /* queue */
	uint64_t stolen;  /* at least so often: lockqueue-steal.c */
};

/* The same of a closed bucket, for windows of time. */
struct lockqueue_part {
	uint64_t end_ns;
	uint32_t queue, serial; /* which it was of */
	struct lockqueue_sums sums;
};

/* A wait in the queue, by when it began: see src/model/lockqueue.c. */
struct lockqueue_place {
	uint32_t wait; /* 0: it is over */
	uint32_t seq;  /* hand-overs before it began */
	uint32_t passed;
	uint32_t tree[LOCKQUEUE_MODES];
};

/* Tasks that wait for the lock at an address, in whichever mode. */
struct lockqueue {
	struct lockqueue_place *places; /* [0] is none */
	uint32_t cap, end, first;	/* below `first` all places are empty */
	uint32_t n[LOCKQUEUE_MODES];	/* that wait, of those that are not doubtful */
	uint32_t seq;			/* hand-overs, ever */
	uint64_t busy_ns;		/* since when the queue is not empty */
	uint64_t seen_ns;   /* when the holder was reported last; 0: that says nothing more */
	uint32_t seen;	    /* the task that it was; 0: none had the lock */
	bool let_in;	    /* readers that had waited got the lock since */
	uint64_t handed_ns; /* the last hand-over; 0: none that others go on from */
	uint32_t phase_n;   /* hand-overs of the current phase */
	bool phase_reads;
	bool used;
	uint32_t most[LOCKQUEUE_MODES], cur_handed; /* in the open bucket */
	struct series series;			    /* lockqueue_bucket; when first needed */
	struct lockqueue_sums sums, cur; /* of closed buckets since zero; of the open one */
	uint64_t times_n, times_min_ns, times_max_ns; /* of hand-overs with a reported release, */
	uint32_t times[HIST_GROUPS];		      /* in a histogram of the pool */
	uint32_t serial;			      /* no two queues have the same */
	uint32_t next_free;
};

/* Beginning in struct lock, by index; both modes of a lock have the same. */
struct lockqueues {
	struct lockqueue *v; /* 0 is no entry */
	size_t cap;
	uint32_t n, free, in_use;
	struct hist_pool hists; /* made with the first time of a hand-over */
	uint64_t no_room;	/* times that there was none for a queue */
	uint32_t serials;
	struct lockqueue_part *parts; /* a ring of those of late; NULL: none are kept */
	uint32_t n_parts, next_part;
	uint64_t dropped_ns; /* end of the latest one that had no room; 0: none */
};

enum {
	LOCKQUEUE_MOST = 4096, /* locks; */
	LOCKQUEUE_PARTS = 4096,
	LOCKQUEUE_CONVOY_NS = 10000000, /* a queue that is not empty for longer is a convoy, */
	LOCKQUEUE_STARVED = 16,		/* a wait that more hand-overs go by is starved */
};

/* A closed bucket of the series: the longest queue of each mode within it, and hand-overs. */
struct lockqueue_bucket {
	uint32_t n[LOCKQUEUE_MODES], handed;
};

static inline struct lockqueue_bucket lockqueue_bucket(uint64_t packed)
{
	return (struct lockqueue_bucket){.n = {packed & 0xffff, packed >> 16 & 0xffff},
					 .handed = (uint32_t)(packed >> 32)};
}

/* Frees all queues with what they point to; what is in other arrays stays. */
void lockqueues_clear(struct lockqueues *s);

struct model;
struct wait;

/* Events of a wait in flight so far; all 0 where it is in no queue. */
struct lockqueue_wait {
	uint32_t passed, handed;
};

struct lockqueue_wait lockqueue_wait(const struct model *m, const struct wait *w);

/* Are all tasks measured and holders reported? Otherwise `stolen` stays 0, and is not known. */
bool lockqueue_sees_stealing(const struct model *m);
bool lockqueue_names_holder(enum lock_type type); /* does the lock's own word name its holder? */

/* All since the sums began. */
struct lockqueue_sums lockqueue_all(const struct lockqueue *q);
void lockqueue_add(struct lockqueue_sums *to, const struct lockqueue_sums *from);
/* Adds to @s what @w, which is in flight, has gone through until @ns. */
void lockqueue_count(const struct model *m, const struct wait *w, uint64_t ns,
		     struct lockqueue_sums *s);

#endif
