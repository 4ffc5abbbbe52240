// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-locks
 *
 * Threads that sleep for locks of the C library, and threads that sleep for other things in
 * futex(2), until the standard input ends. Prints a line for each thread: its number, the type of
 * the lock or "-", the variable, and the thread that owns it, or 0.
 *
 * "ab" and "ba" have a mutex each and wait for the other's; "behind" waits for one of them.
 */
#include "user-mutex.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SETTLE_US = 200000, MOST = 24, HOUR_S = 3600 };

pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER, mutex_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, checked, robust, inheriting;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER,
			read_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t own_word = 2; /* of a lock that is no pthread's */
static sem_t semaphore;
static pthread_mutex_t *shared; /* in memory that processes share */

static _Atomic int owner_a, owner_b, owner_of_all;
static _Atomic int ready;

static void *hold_all(void *arg)
{
	owner_of_all = gettid();
	get(pthread_mutex_lock(&recursive), "recursive");
	get(pthread_mutex_lock(&checked), "checked");
	get(pthread_mutex_lock(&robust), "robust");
	get(pthread_mutex_lock(&inheriting), "inheriting");
	get(pthread_mutex_lock(shared), "shared");
	get(pthread_rwlock_wrlock(&written), "written");
	get(pthread_rwlock_rdlock(&read_lock), "read_lock");
	ready++;
	pause();
	return arg;
}

static void *wait_ab(void *arg)
{
	owner_a = gettid();
	get(pthread_mutex_lock(&mutex_a), "mutex_a");
	ready++;
	usleep(SETTLE_US);
	get(pthread_mutex_lock(&mutex_b), "mutex_b");
	return arg;
}

static void *wait_ba(void *arg)
{
	owner_b = gettid();
	get(pthread_mutex_lock(&mutex_b), "mutex_b");
	ready++;
	usleep(SETTLE_US);
	get(pthread_mutex_lock(&mutex_a), "mutex_a");
	return arg;
}

static void initialize(void)
{
	ready++;
	pause();
}

static void *run_once(void *arg)
{
	pthread_once(&once, initialize);
	return arg;
}

/* By its name a function of a library that makes locks itself. */
static __attribute__((noinline)) void gomp_mutex_lock_slow(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	__asm__ volatile("");
}

static void lock_timed(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += HOUR_S;
	pthread_mutex_timedlock(&mutex_b, &at);
}

static _Atomic int tids[MOST];

#define WAITS(NAME, NUMBER, CALL)                                                                  \
	static void *NAME(void *arg)                                                               \
	{                                                                                          \
		tids[NUMBER] = gettid();                                                           \
		usleep(2 * SETTLE_US);                                                             \
		CALL;                                                                              \
		return arg;                                                                        \
	}

WAITS(wait_behind, 0, pthread_mutex_lock(&mutex_a))
WAITS(wait_recursive, 1, pthread_mutex_lock(&recursive))
WAITS(wait_checked, 2, pthread_mutex_lock(&checked))
WAITS(wait_robust, 3, pthread_mutex_lock(&robust))
WAITS(wait_inheriting, 4, pthread_mutex_lock(&inheriting))
WAITS(wait_shared, 5, pthread_mutex_lock(shared))
WAITS(write_written, 6, pthread_rwlock_wrlock(&written))
WAITS(read_written, 7, pthread_rwlock_rdlock(&written))
WAITS(write_read, 8, pthread_rwlock_wrlock(&read_lock))
WAITS(wait_semaphore, 9, sem_wait(&semaphore))
WAITS(wait_barrier, 10, pthread_barrier_wait(&barrier))
WAITS(wait_condition, 11, (pthread_mutex_lock(&guard), pthread_cond_wait(&condition, &guard)))

WAITS(wait_once, 12, pthread_once(&once, initialize))
WAITS(wait_own, 13, gomp_mutex_lock_slow(&own_word))
WAITS(wait_timed, 14, lock_timed())

static void *wait_join(void *arg)
{
	tids[15] = gettid();
	pthread_join(*(pthread_t *)arg, NULL);
	return NULL;
}

static const struct thread {
	void *(*run)(void *);
	const char *type, *variable;
	_Atomic int *owner;
} threads[] = {
	{wait_behind, "mutex(u)", "mutex_a", &owner_a},
	{wait_recursive, "mutex(u)", "recursive", &owner_of_all},
	{wait_checked, "mutex(u)", "checked", &owner_of_all},
	{wait_robust, "mutex(u)", "robust", &owner_of_all},
	{wait_inheriting, "pi(u)", "inheriting", &owner_of_all},
	{wait_shared, "mutex(u)", "-", &owner_of_all},
	{write_written, "rwlock(u):W", "written", &owner_of_all},
	{read_written, "rwlock(u):R", "written", &owner_of_all},
	{write_read, "rwlock(u):W", "read_lock", NULL},
	{wait_semaphore, "-", "-", NULL},
	{wait_barrier, "-", "-", NULL},
	{wait_condition, "-", "-", NULL},
	{wait_once, "-", "-", NULL},
	{wait_own, "futex(u)", "own_word", NULL},
	{wait_timed, "mutex(u)", "mutex_b", &owner_b},
};

enum { THREADS = sizeof(threads) / sizeof(*threads) };

static void make_locks(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		get(errno, "mmap");
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	make(&checked, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	make(&robust, 0, PTHREAD_MUTEX_ROBUST, 0, 0);
	make(&inheriting, 0, 0, PTHREAD_PRIO_INHERIT, 0);
	make(shared, 0, 0, 0, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
}

int main(void)
{
	pthread_t holder;
	char c;

	make_locks();
	holder = begin(hold_all, NULL);
	begin(wait_ab, NULL);
	begin(wait_ba, NULL);
	begin(run_once, NULL);
	while (ready < 4)
		usleep(1000);
	for (int i = 0; i < THREADS; i++)
		begin(threads[i].run, NULL);
	begin(wait_join, &holder);
	usleep(4 * SETTLE_US);
	printf("%d mutex(u) mutex_b %d\n%d mutex(u) mutex_a %d\n", owner_a, owner_b, owner_b,
	       owner_a);
	for (int i = 0; i < THREADS; i++)
		printf("%d %s %s %d\n", tids[i], threads[i].type, threads[i].variable,
		       threads[i].owner ? *threads[i].owner : 0);
	printf("%d - - 0\n", tids[THREADS]);
	fclose(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	_exit(0);
}
