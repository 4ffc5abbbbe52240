// SPDX-License-Identifier: GPL-2.0-only
/* A list under a mutex, which each side holds for one copy per tick. */
#include "kontend/lock-requests.h"
#include <string.h>

void lock_request_init(struct lock_requests *a)
{
	a->n = a->n_threads = 0;
	pthread_mutex_init(&a->mutex, NULL);
}

void lock_request_deinit(struct lock_requests *a)
{
	pthread_mutex_destroy(&a->mutex);
}

void lock_request_set(struct lock_requests *a, const struct lock_request_lock *locks, size_t n)
{
	pthread_mutex_lock(&a->mutex);
	memcpy(a->locks, locks, n * sizeof(*locks));
	a->n = n;
	pthread_mutex_unlock(&a->mutex);
}

size_t lock_request_get(struct lock_requests *a, struct lock_request_lock *ret)
{
	pthread_mutex_lock(&a->mutex);
	size_t n = a->n;
	memcpy(ret, a->locks, n * sizeof(*ret));
	pthread_mutex_unlock(&a->mutex);
	return n;
}

void lock_request_set_threads(struct lock_requests *a, const int32_t *threads, size_t n)
{
	pthread_mutex_lock(&a->mutex);
	memcpy(a->threads, threads, n * sizeof(*threads));
	a->n_threads = n;
	pthread_mutex_unlock(&a->mutex);
}

size_t lock_request_get_threads(struct lock_requests *a, int32_t *ret)
{
	pthread_mutex_lock(&a->mutex);
	size_t n = a->n_threads;
	memcpy(ret, a->threads, n * sizeof(*ret));
	pthread_mutex_unlock(&a->mutex);
	return n;
}
