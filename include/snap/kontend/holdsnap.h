/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HOLDSNAP_H
#define KONTEND_HOLDSNAP_H

#include "kontend/error.h"
#include "kontend/sections.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How long one lock, or all locks of a type, were held since the measurement began, whether tasks
 * waited for it or not: the payload of SNAPSHOT_HOLDS. Each snapshot is self-contained.
 */
enum { HOLDSNAP_VERSION = 1, HOLDSNAP_BUCKETS = 320 };

enum holdsnap_kind { HOLDSNAP_MUTEX, HOLDSNAP_WRITE, HOLDSNAP_READ, HOLDSNAP_KINDS };

/* Parts that are left out, as they would cost too much: on each level also those before. */
enum holdsnap_level {
	HOLDSNAP_ALL,
	HOLDSNAP_NO_CHAINS,
	HOLDSNAP_SOME, /* one in head.every acquisitions is measured */
	HOLDSNAP_OFF,
	HOLDSNAP_LEVELS,
};

struct holdsnap_head {
	uint64_t time_ns, from_ns;
	uint64_t before_ns; /* of the snapshot before; 0: there is none */
	uint64_t lock;	    /* the address; 0: all locks of a type, or not known yet */
	uint32_t asked;	    /* text: as the user has given it */
	uint32_t reason;    /* text: why nothing is measured; 0: it is */
	uint32_t lacks;	    /* text: functions of the kernel that take locks unseen */
	uint32_t no_price;  /* text: why the price is not known */
	uint32_t level;	    /* enum holdsnap_level */
	uint32_t every;
	/*
	 * Of the programs, as the kernel counts it for some time now and then: that time, their
	 * runs, and what these took. A run is an acquisition or a release of any lock.
	 */
	uint64_t price_ns, runs, run_ns;
	uint32_t target_ppm; /* of all CPUs, of which there are so many; 0: it is not limited */
	uint32_t cpus;
	uint64_t missed;	  /* runs that the kernel left out */
	uint64_t readers_unknown; /* tasks that have it now, and had it before the measurement */
	uint64_t off_ns;	  /* since when nothing is measured any more; 0: it is */
};

/* Of a kind. Counts and times of holds are estimates where not all are measured. */
struct holdsnap_sum {
	uint32_t kind, pad;
	uint64_t acquired, acquired_before; /* each of them; up to the snapshot before */
	uint64_t holds, total_ns, max_ns;
	uint64_t unbegun, unended, by_other, chainless, no_room;
	uint64_t buckets[HOLDSNAP_BUCKETS];
};

struct holdsnap_lock {
	uint64_t addr;
	uint32_t kind, pad;
	uint64_t acquired, holds, total_ns, max_ns;
};

enum holdsnap_now_flags { HOLDSNAP_GONE = 1 /* the task has ended */ };

/* A task that has a lock now. */
struct holdsnap_now {
	uint64_t addr;
	uint64_t since_ns; /* 0: since before the measurement */
	int32_t tid, pid;
	uint32_t comm; /* text */
	uint32_t kind;
	uint32_t flags, pad; /* enum holdsnap_now_flags */
};

/* Acquisitions with the same calls. */
struct holdsnap_chain {
	uint32_t kind;
	uint32_t frame, n_frames; /* into frames, the innermost call first */
	uint32_t pad;
	uint64_t holds, total_ns, max_ns;
};

struct holdsnap_task {
	int32_t tid, pid; /* 0: those for which there was no room */
	uint32_t comm;	  /* text */
	uint32_t pad;
	uint64_t holds, total_ns, max_ns;
};

struct holdsnap {
	struct holdsnap_head head;
	struct holdsnap_sum *sums;
	struct holdsnap_lock *locks;
	struct holdsnap_now *now;
	struct holdsnap_chain *chains;
	struct holdsnap_task *tasks;
	uint64_t *frames;
	char *strings;
	size_t n_sums, n_locks, n_now, n_chains, n_tasks, n_frames, n_strings;
	size_t cap_sums, cap_locks, cap_now, cap_chains, cap_tasks, cap_frames, cap_strings;
};

SECTIONS_FUNCTIONS(holdsnap)
SECTIONS_ADD(holdsnap, sum, sums, struct holdsnap_sum)
SECTIONS_ADD(holdsnap, lock, locks, struct holdsnap_lock)
SECTIONS_ADD(holdsnap, now, now, struct holdsnap_now)
SECTIONS_ADD(holdsnap, chain, chains, struct holdsnap_chain)
SECTIONS_ADD(holdsnap, task, tasks, struct holdsnap_task)
SECTIONS_ADD_VALUE(holdsnap, frame, frames, uint64_t)
SECTIONS_ADD_TEXT(holdsnap)

/* Percentile from buckets, within 6 %; at most @max_ns. 0: buckets are empty. */
uint64_t holdsnap_percentile(const uint64_t *buckets, unsigned pct, uint64_t max_ns);
/* A lock, or all locks of a type, by the words of --holds. */
struct holdsnap_asked {
	const char *text; /* as given; borrowed */
	uint64_t lock;	  /* an address; 0: none is given */
	uint32_t kinds;	  /* bits of enum holdsnap_kind: a type; 0: none is given */
};

/* 0, or -EINVAL with @err. A text that is no address and no type may be the name of a lock. */
int holdsnap_parse(const char *text, struct holdsnap_asked *ret, struct error *err);
/* "mutex", "rwsem:W", "rwsem:R" */
const char *holdsnap_kind_name(uint32_t kind);

#endif
