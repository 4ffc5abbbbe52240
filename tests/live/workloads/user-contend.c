// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-contend ROUNDS
 *
 * Threads that contend for locks of the C library, each holding its lock for a millisecond. Each
 * measures its own waits: prints a line for each lock: type, variable, waits of at least 50 us,
 * their time in ns, and the threads that use it. Beside them threads wait for a condition and a
 * semaphore, which are no locks.
 */
#include "user-mutex.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, HOLD_US = 1000, LEAST_NS = 50000 };

static pthread_mutex_t normal, recursive, checked, adaptive, robust, inheriting;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static _Atomic int ended;

/* In memory that processes share. */
static struct common {
	pthread_mutex_t mutex;
	_Atomic unsigned long long n, ns;
	int pids[THREADS];
} * common;

static struct lock {
	const char *type, *variable;
	pthread_mutex_t *mutex; /* NULL: the rwlock, */
	int reads;		/* in this mode */
	_Atomic unsigned long long n, ns;
	int tids[THREADS];
	_Atomic int users;
} locks[] = {
	{"mutex(u)", "normal", &normal, 0, 0, 0, {0}, 0},
	{"mutex(u)", "recursive", &recursive, 0, 0, 0, {0}, 0},
	{"mutex(u)", "checked", &checked, 0, 0, 0, {0}, 0},
	{"mutex(u)", "adaptive", &adaptive, 0, 0, 0, {0}, 0},
	{"mutex(u)", "robust", &robust, 0, 0, 0, {0}, 0},
	{"pi(u)", "inheriting", &inheriting, 0, 0, 0, {0}, 0},
	{"rwlock(u):W", "rwlock", NULL, 0, 0, 0, {0}, 0},
	{"rwlock(u):R", "rwlock", NULL, 1, 0, 0, {0}, 0},
};

enum { LOCKS = sizeof(locks) / sizeof(*locks) };

static int rounds;

static void add(_Atomic unsigned long long *n, _Atomic unsigned long long *ns,
		unsigned long long begin)
{
	unsigned long long took = now_ns() - begin;

	if (took < LEAST_NS)
		return;
	++*n;
	*ns += took;
}

static void take(struct lock *l)
{
	unsigned long long begin = now_ns();

	get(l->mutex   ? pthread_mutex_lock(l->mutex)
	    : l->reads ? pthread_rwlock_rdlock(&rwlock)
		       : pthread_rwlock_wrlock(&rwlock),
	    l->variable);
	add(&l->n, &l->ns, begin);
	usleep(HOLD_US);
	get(l->mutex ? pthread_mutex_unlock(l->mutex) : pthread_rwlock_unlock(&rwlock),
	    l->variable);
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

static void contend_common(void)
{
	for (int i = 0; i < rounds; i++) {
		unsigned long long begin = now_ns();
		get(pthread_mutex_lock(&common->mutex), "common");
		add(&common->n, &common->ns, begin);
		usleep(HOLD_US);
		get(pthread_mutex_unlock(&common->mutex), "common");
		usleep(HOLD_US / 4);
	}
}

/* No lock: it waits for work, and another thread signals that. */
static void *wait_for_work(void *arg)
{
	get(pthread_mutex_lock(&guard), "guard");
	while (!ended)
		get(pthread_cond_wait(&condition, &guard), "condition");
	get(pthread_mutex_unlock(&guard), "guard");
	return arg;
}

static void *wait_for_units(void *arg)
{
	while (!ended)
		get(sem_wait(&semaphore) < 0 ? errno : 0, "semaphore");
	return arg;
}

static void *give_work(void *arg)
{
	while (!ended) {
		usleep(HOLD_US);
		get(pthread_cond_signal(&condition), "condition");
		get(sem_post(&semaphore) < 0 ? errno : 0, "semaphore");
	}
	get(pthread_cond_broadcast(&condition), "condition");
	get(sem_post(&semaphore) < 0 ? errno : 0, "semaphore");
	return arg;
}

static void make_locks(void)
{
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (common == MAP_FAILED)
		get(errno, "mmap");
	make(&normal, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	make(&checked, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	make(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0);
	make(&robust, 0, PTHREAD_MUTEX_ROBUST, 0, 0);
	make(&inheriting, 0, 0, PTHREAD_PRIO_INHERIT, 0);
	make(&common->mutex, 0, 0, 0, PTHREAD_PROCESS_SHARED);
	get(sem_init(&semaphore, 0, 0) < 0 ? errno : 0, "semaphore");
}

static void run_threads(void)
{
	pthread_t threads[LOCKS][THREADS], others[3];

	others[0] = begin(wait_for_work, NULL);
	others[1] = begin(wait_for_units, NULL);
	others[2] = begin(give_work, NULL);
	for (int i = 0; i < LOCKS; i++)
		for (int k = 0; k < THREADS; k++)
			threads[i][k] = begin(contend, &locks[i]);
	for (int i = 0; i < LOCKS; i++)
		for (int k = 0; k < THREADS; k++)
			pthread_join(threads[i][k], NULL);
	ended = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(others[i], NULL);
}

static void print(const char *type, const char *variable, unsigned long long n,
		  unsigned long long ns, const int *tids)
{
	printf("%s %s %llu %llu", type, variable, n, ns);
	for (int i = 0; i < THREADS; i++)
		printf(" %d", tids[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	rounds = argc == 2 ? atoi(argv[1]) : 0;
	if (rounds <= 0) {
		fprintf(stderr, "usage: user-contend ROUNDS\n");
		return 2;
	}
	make_locks();
	for (int k = 0; k < THREADS; k++) {
		pid_t child = fork();
		get(child < 0 ? errno : 0, "fork");
		if (!child) {
			common->pids[k] = getpid();
			contend_common();
			_exit(0);
		}
	}
	run_threads();
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < LOCKS; i++)
		print(locks[i].type, locks[i].variable, locks[i].n, locks[i].ns, locks[i].tids);
	print("mutex(u)", "-", common->n, common->ns, common->pids);
	return 0;
}
