// SPDX-License-Identifier: GPL-2.0-only
/* A list under a mutex, held for a copy of it, once a tick by either side. */
#include "kontend/lockask.h"
#include <string.h>

void lockask_init(struct lockask *a)
{
	a->n = a->n_threads = 0;
	pthread_mutex_init(&a->mutex, NULL);
}

void lockask_deinit(struct lockask *a)
{
	pthread_mutex_destroy(&a->mutex);
}

void lockask_set(struct lockask *a, const struct lockask_lock *locks, size_t n)
{
	pthread_mutex_lock(&a->mutex);
	memcpy(a->locks, locks, n * sizeof(*locks));
	a->n = n;
	pthread_mutex_unlock(&a->mutex);
}

size_t lockask_get(struct lockask *a, struct lockask_lock *ret)
{
	pthread_mutex_lock(&a->mutex);
	size_t n = a->n;
	memcpy(ret, a->locks, n * sizeof(*ret));
	pthread_mutex_unlock(&a->mutex);
	return n;
}

void lockask_set_threads(struct lockask *a, const int32_t *threads, size_t n)
{
	pthread_mutex_lock(&a->mutex);
	memcpy(a->threads, threads, n * sizeof(*threads));
	a->n_threads = n;
	pthread_mutex_unlock(&a->mutex);
}

size_t lockask_get_threads(struct lockask *a, int32_t *ret)
{
	pthread_mutex_lock(&a->mutex);
	size_t n = a->n_threads;
	memcpy(ret, a->threads, n * sizeof(*ret));
	pthread_mutex_unlock(&a->mutex);
	return n;
}
