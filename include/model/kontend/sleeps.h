/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SLEEPS_H
#define KONTEND_SLEEPS_H

#include "kontend/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct map_spaces;
struct sleptsnap;

enum {
	SLEEPS_CELLS = 12288, /* more than a measurement has */
	SLEEPS_STACKS = 4096,
	SLEEPS_FRAMES = 24,
	SLEEPS_PARTS = 8192, /* for windows of time */
	SLEEPS_KEPT = 2048,  /* the last sleeps with a record each */
	SLEEPS_LONGEST = 32, /* and the longest of them */
	SLEEPS_REASON = 192,
};

struct sleeps_stack {
	uint32_t n; /* 0: the chain is not known */
	/* Innermost first: of the kernel, or of a program, as in maps.h. */
	uint64_t frames[SLEEPS_FRAMES];
};

/* Sleeps in state D that have ended, of one process, kind and call chain. */
struct sleeps_cell {
	int32_t pid;	/* 0: of processes for which the programs had no room */
	uint32_t stack; /* index */
	bool io;
	char comm[16];		   /* of the process */
	uint64_t sleeps, total_ns; /* since the sums begin */
	uint64_t max_ns;	   /* 0: not known, or of sleeps that are too short for a record */
	/* As in the latest snapshot, since that measurement began. */
	uint64_t seen_from_ns, seen_sleeps, seen_ns, seen_max_ns;
	uint64_t since_max_ns; /* of records since then */
};

/* The same between two snapshots. */
struct sleeps_part {
	uint64_t begin_ns, end_ns;
	uint32_t cell;
	uint64_t sleeps, total_ns, max_ns;
};

/* One that had a record. */
struct sleeps_one {
	uint64_t begin_ns, length_ns;
	int32_t pid, tid, waker_pid, waker_tid; /* waker_tid 0: the idle task */
	uint32_t stack, user;			/* of the kernel, and of the program */
	bool io;
	char comm[16], waker_comm[16];
};

/*
 * Sums of all sleeps are differences of snapshots, so they are exact for any time between two; each
 * sleep that is long enough has a record of its own, by which the longest of that time is known.
 */
struct sleeps {
	struct sleeps_cell *cells;
	struct sleeps_stack *stacks; /* [0] is empty */
	size_t cap_cells, cap_stacks;
	uint32_t n_cells, n_stacks;
	struct map64 by_key, by_chain; /* hashes -> index */
	struct sleeps_part *parts;     /* a ring; NULL: none are kept */
	uint32_t n_parts, next_part;
	uint64_t dropped_ns;	 /* end of the latest part without room; 0: none */
	struct sleeps_one *kept; /* a ring; NULL: there was none */
	uint32_t n_kept, next_kept;
	uint64_t kept_dropped_ns; /* end of the latest sleep without room; 0: none */
	struct sleeps_one longest[SLEEPS_LONGEST]; /* the longest first */
	uint32_t n_longest;
	char reason[SLEEPS_REASON]; /* why nothing is known; "" */
	uint64_t from_ns, seen_ns;  /* of this measurement; of its latest snapshot */
	uint64_t covered_ns;	    /* the time in which the sleeps of the sums ended */
	/* Of the latest snapshot: see sleptsnap.h; and of the one at which the sums begin. */
	uint32_t level;
	uint64_t min_ns, switch_ps, now, now_ns;
	uint64_t dropped, missed, off_ns;
	uint64_t dropped_before, missed_before, off_before_ns;
};

/* @recent: keep its parts for windows of time. 0 or -ENOMEM: then it is not in the sums. */
int sleeps_snapshot(struct sleeps *s, const struct sleptsnap *snap, bool recent);
/* EVENT_SLEEP: 0 or -ENOMEM. @spaces: what its process has mapped. */
int sleeps_event(struct sleeps *s, const struct event *ev, struct map_spaces *spaces);
/* map_frames_forget() of all chains. */
void sleeps_forget_objects(struct sleeps *s, const uint8_t *keep, size_t n);
void sleeps_zero(struct sleeps *s);			       /* sums begin again */
int sleeps_copy(struct sleeps *dst, const struct sleeps *src); /* 0 or -ENOMEM */
void sleeps_deinit(struct sleeps *s);
size_t sleeps_bytes(const struct sleeps *s);

#endif
