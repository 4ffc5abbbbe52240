/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEST_USER_MUTEX_H
#define KONTEND_TEST_USER_MUTEX_H

/* Mutexes of all kinds, and what the programs that contend for them share. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends the program unless @error is 0. */
static inline void get(int error, const char *name)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", name, strerror(error));
	exit(1);
}

static inline void make(pthread_mutex_t *m, int type, int is_robust, int protocol, int is_shared)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	get(pthread_mutexattr_settype(&a, type), "type");
	get(pthread_mutexattr_setrobust(&a, is_robust), "robust");
	get(pthread_mutexattr_setprotocol(&a, protocol), "protocol");
	get(pthread_mutexattr_setpshared(&a, is_shared), "shared");
	get(pthread_mutex_init(m, &a), "mutex");
}

static inline pthread_t begin(void *(*run)(void *), void *arg)
{
	pthread_t t;

	get(pthread_create(&t, NULL, run, arg), "pthread_create");
	return t;
}

static inline unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

#endif
