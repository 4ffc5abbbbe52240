// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-futex2 ROUNDS
 *
 * Threads that contend for mutexes, but sleep by themselves, in the calls that are newer than
 * futex(2): futex_wait(2), futex_waitv(2) with one word, and futex_wait(2) woken by
 * futex_requeue(2). Prints for each what user-contend prints. Beside them a thread sleeps for
 * several words, which is no lock. Status 77: this kernel lacks the calls.
 */
#include "user-mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAITV = 449, WAKE = 454, WAIT = 455, REQUEUE = 456 }; /* numbers of the calls */
enum { THREADS = 3, HOLD_US = 1000, LEAST_NS = 50000, SKIP = 77 };
enum { FLAGS = 128 | 2 }; /* private, of 32 bits */

struct word {
	uint64_t value, addr;
	uint32_t flags, reserved;
};

static pthread_mutex_t by_wait, by_waitv, by_requeue;

static struct lock {
	const char *variable;
	pthread_mutex_t *mutex;
	long wait, wake;
	_Atomic unsigned long long n, ns;
	int tids[THREADS];
	_Atomic int users;
} locks[] = {
	{"by_wait", &by_wait, WAIT, WAKE, 0, 0, {0}, 0},
	{"by_waitv", &by_waitv, WAITV, WAKE, 0, 0, {0}, 0},
	{"by_requeue", &by_requeue, WAIT, REQUEUE, 0, 0, {0}, 0},
};

enum { LOCKS = sizeof(locks) / sizeof(*locks) };

static int rounds;
static _Atomic int words[2], ended;

static struct word word_of(const void *addr, uint32_t value)
{
	return (struct word){value, (uintptr_t)addr, FLAGS, 0};
}

static void sleep_for(long number, const void *addr, uint32_t value)
{
	struct word w = word_of(addr, value);

	if (number == WAIT)
		syscall(WAIT, addr, (long)value, 0xffffffffL, FLAGS, NULL, CLOCK_MONOTONIC);
	else
		syscall(WAITV, &w, 1L, 0L, NULL, CLOCK_MONOTONIC);
}

static void wake_one(long number, const void *addr)
{
	struct word w[2] = {word_of(addr, 0), word_of(&words[0], 0)};

	if (number == WAKE)
		syscall(WAKE, addr, 0xffffffffL, 1L, FLAGS);
	else
		syscall(REQUEUE, w, 0L, 1L, 0L);
}

/* As the C library takes a mutex, but for the calls. */
static void take(struct lock *l)
{
	_Atomic int *at = (_Atomic int *)&l->mutex->__data.__lock;
	unsigned long long begin = now_ns();
	int none = 0;

	if (!atomic_compare_exchange_strong(at, &none, 1))
		while (atomic_exchange(at, 2))
			sleep_for(l->wait, at, 2);
	unsigned long long took = now_ns() - begin;
	l->mutex->__data.__owner = gettid();
	l->mutex->__data.__nusers = 1;
	if (took >= LEAST_NS) {
		l->n++;
		l->ns += took;
	}
	usleep(HOLD_US);
	l->mutex->__data.__owner = 0;
	l->mutex->__data.__nusers = 0;
	if (atomic_exchange(at, 0) == 2)
		wake_one(l->wake, at);
}

static void *contend(void *arg)
{
	struct lock *l = arg;

	l->tids[l->users++] = gettid();
	for (int i = 0; i < rounds; i++) {
		take(l);
		usleep(HOLD_US / 4);
	}
	return NULL;
}

static void *wait_for_several(void *arg)
{
	struct word w[2] = {word_of(&words[0], 0), word_of(&words[1], 0)};

	while (!ended)
		syscall(WAITV, w, 2L, 0L, NULL, CLOCK_MONOTONIC);
	return arg;
}

static void run_threads(void)
{
	pthread_t threads[LOCKS][THREADS], several = begin(wait_for_several, NULL);

	for (int i = 0; i < LOCKS; i++)
		for (int k = 0; k < THREADS; k++)
			threads[i][k] = begin(contend, &locks[i]);
	for (int i = 0; i < LOCKS; i++)
		for (int k = 0; k < THREADS; k++)
			pthread_join(threads[i][k], NULL);
	ended = 1;
	words[1] = 1;
	wake_one(WAKE, &words[1]);
	pthread_join(several, NULL);
}

int main(int argc, char **argv)
{
	rounds = argc == 2 ? atoi(argv[1]) : 0;
	if (rounds <= 0) {
		fprintf(stderr, "usage: user-futex2 ROUNDS\n");
		return 2;
	}
	if (syscall(REQUEUE, NULL, 0L, 0L, 0L) < 0 && errno == ENOSYS)
		return SKIP;
	for (int i = 0; i < LOCKS; i++)
		make(locks[i].mutex, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	run_threads();
	for (int i = 0; i < LOCKS; i++) {
		printf("mutex(u) %s %llu %llu", locks[i].variable, locks[i].n, locks[i].ns);
		for (int k = 0; k < THREADS; k++)
			printf(" %d", locks[i].tids[k]);
		printf("\n");
	}
	return 0;
}
