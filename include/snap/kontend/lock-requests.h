/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCK_REQUESTS_H
#define KONTEND_LOCK_REQUESTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Locks shown in tables, passed from the thread with the model to the thread that takes lock
 * snapshots. Each list replaces the previous one.
 */
enum { LOCKASK_MOST = 1024, LOCKASK_THREADS = 512 };

struct lock_request_lock {
	uint64_t addr;
	uint32_t type; /* enum locksnap_lock_type; LOCKSNAP_TYPES: no queue of tasks */
	uint32_t life; /* a change means that another lock is at the address */
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
/* Copies the list to @ret, which has room for LOCKASK_MOST; returns their number. */
size_t lock_request_get(struct lock_requests *a, struct lock_request_lock *ret);
/* The same for threads whose end of wait may be missing: do they still exist? */
void lock_request_set_threads(struct lock_requests *a, const int32_t *threads, size_t n);
size_t lock_request_get_threads(struct lock_requests *a, int32_t *ret);

#endif
