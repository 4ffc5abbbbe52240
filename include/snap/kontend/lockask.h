/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKASK_H
#define KONTEND_LOCKASK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which locks the tables show, told by the thread that has the model to the one that looks at the
 * kernel. The latest list counts.
 */
enum { LOCKASK_MOST = 1024, LOCKASK_THREADS = 512 };

struct lockask_lock {
	uint64_t addr;
	uint32_t type; /* enum locksnap_lock_type; LOCKSNAP_TYPES: it has no queue of tasks */
	uint32_t life; /* another one is known to be there when this differs from before */
};

struct lockask {
	pthread_mutex_t mutex;
	size_t n;
	struct lockask_lock locks[LOCKASK_MOST];
	size_t n_threads;
	int32_t threads[LOCKASK_THREADS];
};

void lockask_init(struct lockask *a);
void lockask_deinit(struct lockask *a);
/* @n is at most LOCKASK_MOST. */
void lockask_set(struct lockask *a, const struct lockask_lock *locks, size_t n);
/* Into room for LOCKASK_MOST; how many there are. */
size_t lockask_get(struct lockask *a, struct lockask_lock *ret);
/* The same of threads whose waits may have ended unseen: do they still exist? */
void lockask_set_threads(struct lockask *a, const int32_t *threads, size_t n);
size_t lockask_get_threads(struct lockask *a, int32_t *ret);

#endif
