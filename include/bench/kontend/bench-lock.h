/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_LOCK_H
#define KONTEND_BENCH_LOCK_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Waits for one lock of the kernel, made so that this program knows how many there were and the
 * limits of their length. A user can compare any observer's results with these, on any machine.
 *
 * A sleeping lock is held by a call that the kernel suspends because of a missing page
 * (userfaultfd); meanwhile the waiters are let in one after the other, and each was seen asleep
 * before the next one. A spinning lock cannot be held on purpose: calls that hold it long are made
 * on all CPUs without pause, and since only one at a time can have the lock, the times of their
 * begins and returns show which threads waited.
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
	uint32_t threads; /* waiting threads; 0: 4, or one for each permitted CPU */
	uint64_t rounds;  /* number of holds; for spinlocks, of all calls; 0: the default */
};

enum { BENCH_LOCK_SUMS = 3 };

/* Waits of one type and mode. */
struct bench_lock_sum {
	const char *type;     /* as in tables of locks: "rwsem:R"; NULL: no lock of the kernel */
	uint64_t least, most; /* number of waits */
	uint64_t least_ns, most_ns; /* their total length */
	/* Spinlocks only: waits behind another waiter. Some kernels report no others. */
	uint64_t behind, behind_ns;
};

struct bench_lock_result {
	const char *lock, *called; /* description: of the lock that is held, of the call; NULL:
				    * none */
	uint32_t threads, callers;
	uint64_t holds;			   /* holds during which others waited */
	uint64_t held_ns;		   /* their total length */
	uint64_t hand_p50_ns, hand_p99_ns; /* from one holder to the next; 0: unknown */
	uint64_t calls;			   /* of spinning locks; 0: none */
	double calls_per_s;		   /* of all threads */
	uint64_t call_ns;		   /* one of them without other threads */
	struct bench_lock_sum sums[BENCH_LOCK_SUMS];
	size_t n_sums;
};

/* 0; -EPERM, -EOPNOTSUPP: not by this user, or not on this machine; others, with @err. */
int bench_lock(enum bench_lock_kind kind, const struct bench_lock_options *o,
	       struct bench_lock_result *ret, struct error *err);

#endif
