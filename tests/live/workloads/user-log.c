// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-log SECONDS
 *
 * Threads that contend for locks of the C library, and log each acquisition. At the end it prints a
 * line for each: type and mode, variable, thread, and in ns of CLOCK_MONOTONIC when it called to
 * lock, had it, called to unlock, and had unlocked; how long it was off its CPU within the first
 * call, how often it slept there, and how often it was preempted. The log is written while the lock
 * is held, so that the times of one lock follow each other. CPU time and switches are the kernel's
 * own counts: they stay right where the thread is late to read a clock.
 *
 * Each thread has the name "u-NUMBER", with its number in its own PID namespace. Threads that wait
 * for a condition and in a queue have lines of type "-".
 */
#include "user-mutex.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, MOST = 4000, LEAST_HOLD_US = 200, MORE_HOLD_US = 1500, PAUSE_US = 300 };

struct acquired {
	uint64_t call_ns, got_ns, free_ns, freed_ns, off_ns;
	long sleeps, preempted;
};

static pthread_mutex_t normal, recursive, checked, adaptive, robust, inheriting, *common;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, mixed = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, queue;

struct kind {
	const char *type, *variable;
	int (*lock)(void *), (*unlock)(void *);
	void *object;
};

/* A thread, or a process, and what it did. */
struct user {
	struct kind kind;
	int tid, n;
	struct acquired log[MOST];
};

enum { USERS = 12 * THREADS };

/* In memory that processes share. */
static struct shared {
	pthread_mutex_t mutex;
	_Atomic int ended;
	int n_users;
	struct user users[USERS];
} * shared;

static uint64_t clock_of(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int lock_mutex(void *m)
{
	return pthread_mutex_lock(m);
}

static int unlock_mutex(void *m)
{
	return pthread_mutex_unlock(m);
}

static int lock_write(void *l)
{
	return pthread_rwlock_wrlock(l);
}

static int lock_read(void *l)
{
	return pthread_rwlock_rdlock(l);
}

static int unlock_rwlock(void *l)
{
	return pthread_rwlock_unlock(l);
}

static int wait_unit(void *s)
{
	return sem_wait(s) < 0 ? errno : 0;
}

static int post_unit(void *s)
{
	return sem_post(s) < 0 ? errno : 0;
}

static void take(struct user *u, struct acquired *a)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	uint64_t cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
	a->call_ns = clock_of(CLOCK_MONOTONIC);
	get(u->kind.lock(u->kind.object), u->kind.variable);
	a->got_ns = clock_of(CLOCK_MONOTONIC);
	cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	getrusage(RUSAGE_THREAD, &after);
	a->off_ns = a->got_ns - a->call_ns > cpu_ns ? a->got_ns - a->call_ns - cpu_ns : 0;
	a->sleeps = after.ru_nvcsw - before.ru_nvcsw;
	a->preempted = after.ru_nivcsw - before.ru_nivcsw;
}

static void set_name(int tid)
{
	char name[16];

	snprintf(name, sizeof(name), "u-%d", tid);
	prctl(PR_SET_NAME, name);
}

static void *contend(void *arg)
{
	struct user *u = arg;
	unsigned seed = 0;

	u->tid = gettid();
	seed = (unsigned)u->tid;
	set_name(u->tid);
	while (!shared->ended && u->n < MOST) {
		struct acquired *a = &u->log[u->n];
		take(u, a);
		usleep(LEAST_HOLD_US + (unsigned)rand_r(&seed) % MORE_HOLD_US);
		u->n++;
		a->free_ns = clock_of(CLOCK_MONOTONIC);
		get(u->kind.unlock(u->kind.object), u->kind.variable);
		a->freed_ns = clock_of(CLOCK_MONOTONIC);
		usleep(PAUSE_US);
	}
	return NULL;
}

/* No locks: they wait for work. */
static void *wait_for_work(void *arg)
{
	struct user *u = arg;

	u->tid = gettid();
	set_name(u->tid);
	get(pthread_mutex_lock(&guard), "guard");
	while (!shared->ended)
		get(pthread_cond_wait(&condition, &guard), "condition");
	get(pthread_mutex_unlock(&guard), "guard");
	return NULL;
}

static void *wait_for_units(void *arg)
{
	struct user *u = arg;

	u->tid = gettid();
	set_name(u->tid);
	while (!shared->ended)
		get(wait_unit(&queue), "queue");
	return NULL;
}

static void make_locks(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		get(errno, "mmap");
	common = &shared->mutex;
	make(&normal, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	make(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	make(&checked, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	make(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0);
	make(&robust, 0, PTHREAD_MUTEX_ROBUST, 0, 0);
	make(&inheriting, 0, 0, PTHREAD_PRIO_INHERIT, 0);
	make(common, 0, 0, 0, PTHREAD_PROCESS_SHARED);
	get(sem_init(&semaphore, 0, 1) < 0 ? errno : 0, "semaphore");
	get(sem_init(&queue, 0, 0) < 0 ? errno : 0, "queue");
}

static struct user *new_user(const struct kind *kind)
{
	struct user *u = &shared->users[shared->n_users++];

	u->kind = *kind;
	return u;
}

static void begin_process(struct user *u)
{
	pid_t child = fork();

	get(child < 0 ? errno : 0, "fork");
	if (child)
		return;
	contend(u);
	_exit(0);
}

static void give_work(unsigned seconds)
{
	uint64_t until = clock_of(CLOCK_MONOTONIC) + (uint64_t)seconds * 1000000000;

	while (clock_of(CLOCK_MONOTONIC) < until) {
		usleep(LEAST_HOLD_US);
		get(pthread_cond_signal(&condition), "condition");
		get(post_unit(&queue), "queue");
	}
	shared->ended = 1;
	get(pthread_cond_broadcast(&condition), "condition");
	get(post_unit(&queue), "queue");
}

static void run_all(unsigned seconds)
{
	const struct kind kinds[] = {
		{"mutex(u)", "normal", lock_mutex, unlock_mutex, &normal},
		{"mutex(u)", "recursive", lock_mutex, unlock_mutex, &recursive},
		{"mutex(u)", "checked", lock_mutex, unlock_mutex, &checked},
		{"mutex(u)", "adaptive", lock_mutex, unlock_mutex, &adaptive},
		{"mutex(u)", "robust", lock_mutex, unlock_mutex, &robust},
		{"pi(u)", "inheriting", lock_mutex, unlock_mutex, &inheriting},
		{"rwlock(u):W", "written", lock_write, unlock_rwlock, &written},
		{"rwlock(u):W", "mixed", lock_write, unlock_rwlock, &mixed},
		{"rwlock(u):R", "mixed", lock_read, unlock_rwlock, &mixed},
		{"sem(u)", "semaphore", wait_unit, post_unit, &semaphore},
	};
	enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
	const struct kind in_common = {"mutex(u)", "common", lock_mutex, unlock_mutex, common};
	const struct kind work = {"-", "condition", NULL, NULL, NULL};
	const struct kind units = {"-", "queue", NULL, NULL, NULL};
	pthread_t threads[KINDS * THREADS + 2];
	int n = 0;

	for (int k = 0; k < THREADS; k++)
		begin_process(new_user(&in_common));
	for (int i = 0; i < KINDS * THREADS; i++)
		threads[n++] = begin(contend, new_user(&kinds[i / THREADS]));
	threads[n++] = begin(wait_for_work, new_user(&work));
	threads[n++] = begin(wait_for_units, new_user(&units));
	give_work(seconds);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
}

static void print(const struct user *u)
{
	if (*u->kind.type == '-')
		printf("- %s %d 0 0 0 0 0 0 0\n", u->kind.variable, u->tid);
	for (int k = 0; k < u->n; k++) {
		const struct acquired *a = &u->log[k];
		printf("%s %s %d %ju %ju %ju %ju %ju %ld %ld\n", u->kind.type, u->kind.variable,
		       u->tid, a->call_ns, a->got_ns, a->free_ns, a->freed_ns, a->off_ns, a->sleeps,
		       a->preempted);
	}
}

int main(int argc, char **argv)
{
	int seconds = argc == 2 ? atoi(argv[1]) : 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: user-log SECONDS\n");
		return 2;
	}
	make_locks();
	run_all((unsigned)seconds);
	for (int i = 0; i < shared->n_users; i++)
		print(&shared->users[i]);
	return 0;
}
