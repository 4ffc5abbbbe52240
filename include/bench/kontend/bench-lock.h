/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_LOCK_H
#define KONTEND_BENCH_LOCK_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Waits for one lock of the kernel, made so that this program knows of them by itself: how many
 * there were, and for how long at least and at most. What an observer says of them can be compared
 * with that, on any machine.
 *
 * A sleeping lock is held by a call that the kernel makes wait for a page of ours (userfaultfd);
 * meanwhile each of the waiters is let in, and has been seen asleep before the next one. A spinning
 * lock cannot be held on purpose: calls that hold it long follow upon each other on all CPUs, and
 * since only one can be in at a time, the moments at which they begin and return say who waited.
 */
enum bench_lock_kind {
	BENCH_LOCK_MUTEX,    /* that of a pipe */
	BENCH_LOCK_RWSEM,    /* i_rwsem of a directory, by readers and writers */
	BENCH_LOCK_SPINLOCK, /* flc_lock of a file with many record locks */
	BENCH_LOCK_FUTEX,    /* a lock in memory, and the spinlock of its futex's bucket */
	BENCH_LOCK_KINDS,
};

const char *bench_lock_name(enum bench_lock_kind kind); /* "mutex" */

struct bench_lock_options {
	uint32_t threads; /* that wait; 0: 4, or one for each CPU that may be used */
	uint64_t rounds;  /* times that it is held; calls in all; 0: the default */
};

enum { BENCH_LOCK_SUMS = 3 };

/* Waits of one type and mode. */
struct bench_lock_sum {
	const char *type; /* as tables of locks name it: "rwsem:R"; NULL: no lock of the kernel */
	uint64_t least, most;	    /* how many */
	uint64_t least_ns, most_ns; /* for how long, all together */
	/* Of spinlocks: those behind another one who waited. Some kernels tell of no others. */
	uint64_t behind, behind_ns;
};

struct bench_lock_result {
	const char *lock, *called; /* in words: that is held, that is called for; NULL: none */
	uint32_t threads, callers;
	uint64_t holds;			   /* times that it was held, with others waiting */
	uint64_t held_ns;		   /* for how long, all together */
	uint64_t hand_p50_ns, hand_p99_ns; /* from one who had it to the next; 0: not known */
	uint64_t calls;			   /* of spinning locks; 0: none */
	double calls_per_s;		   /* of all threads */
	uint64_t call_ns;		   /* one of them without others */
	struct bench_lock_sum sums[BENCH_LOCK_SUMS];
	size_t n_sums;
};

/* 0; -EPERM, -EOPNOTSUPP: not by this user, or not on this machine; others, with @err. */
int bench_lock(enum bench_lock_kind kind, const struct bench_lock_options *o,
	       struct bench_lock_result *ret, struct error *err);

#endif
