/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCK_REQUESTS_H
#define KONTEND_LOCK_REQUESTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which locks the tables show, told by the thread that has the model to the one that looks at the
 * kernel. The latest list counts.
 */
enum { LOCKASK_MOST = 1024, LOCKASK_THREADS = 512 };

struct lock_request_lock {
	uint64_t addr;
	uint32_t type; /* enum locksnap_lock_type; LOCKSNAP_TYPES: it has no queue of tasks */
	uint32_t life; /* another one is known to be there when this differs from before */
};

struct lock_requests {
	pthread_mutex_t mutex;
	size_t n;
	struct lock_request_lock locks[LOCKASK_MOST];
	size_t n_threads;
	int32_t threads[LOCKASK_THREADS];
};

void lock_request_init(struct lock_requests *a);
void lock_request_deinit(struct lock_requests *a);
/* @n is at most LOCKASK_MOST. */
void lock_request_set(struct lock_requests *a, const struct lock_request_lock *locks, size_t n);
/* Into room for LOCKASK_MOST; how many there are. */
size_t lock_request_get(struct lock_requests *a, struct lock_request_lock *ret);
/* The same of threads whose waits may have ended unseen: do they still exist? */
void lock_request_set_threads(struct lock_requests *a, const int32_t *threads, size_t n);
size_t lock_request_get_threads(struct lock_requests *a, int32_t *ret);

#endif
