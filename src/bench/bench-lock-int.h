/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_LOCK_INT_H
#define KONTEND_BENCH_LOCK_INT_H

#include "kontend/bench-lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { BENCH_LOCK_PAGE = 4096, BENCH_LOCK_THREADS = 64 };

/* A thread that waits once in each round. */
struct bench_lock_waiter {
	struct bench_lock_held *held;
	pthread_t thread;
	unsigned index;
	_Atomic pid_t tid;
	_Atomic uint64_t go, entered, left; /* rounds */
	uint64_t enter_ns, leave_ns, asleep_ns;
};

struct bench_lock_held_ops {
	const char *lock, *types[2]; /* of all waiters, or of writers and of readers */
	char asleep;		     /* state of a waiting thread */
	int (*prepare)(struct bench_lock_held *h, struct error *err);
	int (*begin)(struct bench_lock_held *h); /* a thread holds it on return */
	int (*end)(struct bench_lock_held *h);	 /* and releases it */
	int (*wait)(struct bench_lock_held *h, const struct bench_lock_waiter *w);
	void (*close)(struct bench_lock_held *h);
	int (*hold)(struct bench_lock_held *h); /* of locks whose holder sleeps in a page */
};

/* A lock that is held for a known time while a known number of threads waits. */
struct bench_lock_held {
	const struct bench_lock_held_ops *ops;
	unsigned n, writers; /* threads; the first ones, as many as `writers`, write */
	uint64_t rounds, hold_ns;
	struct bench_lock_waiter waiters[BENCH_LOCK_THREADS];
	atomic_bool done;
	atomic_int failed; /* errno of a call */
	int fds[2], page_fd;
	char *page; /* the page that the kernel has to wait for */
	char dir[256];
	pthread_t holder;
	bool has_holder;
	_Atomic uint64_t hold_go, hold_left;
	_Atomic uint32_t word; /* of a lock in memory: 0 free, 1 taken, 2 with waiters */
	uint64_t *hands;       /* ns from one holder to the next */
	size_t n_hands;
	struct bench_lock_result *ret;
};

extern const struct bench_lock_held_ops bench_lock_pipe, bench_lock_dir, bench_lock_word;

/* Runs rounds of @ops; adds the sums to @ret. */
int bench_lock_hold(const struct bench_lock_held_ops *ops, const struct bench_lock_options *o,
		    struct bench_lock_result *ret, struct error *err);

struct bench_lock_storm;

struct bench_lock_storm_ops {
	const char *lock, *type;
	int (*prepare)(struct bench_lock_storm *s, struct error *err);
	void (*call)(struct bench_lock_storm *s);  /* takes the lock once, and holds it long */
	void (*empty)(struct bench_lock_storm *s); /* the same call if it takes no lock */
	void (*close)(struct bench_lock_storm *s);
};

extern const struct bench_lock_storm_ops bench_lock_records, bench_lock_bucket;

struct bench_lock_call {
	uint64_t enter_ns, leave_ns;
};

enum { BENCH_LOCK_SLEEPERS = 256 };

struct bench_lock_storm {
	const struct bench_lock_storm_ops *ops;
	unsigned n;
	uint64_t each;			       /* calls of each thread */
	pthread_mutex_t start;		       /* held until all threads are there */
	struct bench_lock_call *calls;	       /* of the first thread, of the second, ... */
	uint64_t empty_ns, alone_ns, least_ns; /* a call without the lock, and without other
						* threads */
	int fd, empty_fd;
	_Atomic uint32_t word, empty_word;
	pthread_t sleepers[BENCH_LOCK_SLEEPERS];
	unsigned n_sleepers;
	atomic_bool done, give_up;
	atomic_uint n_ready, n_in; /* threads */
};

/* The waits of @n calls, which are sorted. */
void bench_lock_storm_sum(const struct bench_lock_call *calls, size_t n, uint64_t empty_ns,
			  uint64_t least_ns, struct bench_lock_sum *ret);

#endif
