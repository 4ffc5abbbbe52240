// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-classes CASE
 *
 * Three threads that sleep in futex(2) as CASE says, until the standard input ends. Their names
 * begin with "L-" if they wait for a lock, and with "W-" if they wait for anything else: that is
 * the truth which test-user-classes.py compares with. The first thread has the lock, and sleeps in
 * another call. Without a case it prints the names of all, a line each.
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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, HOUR_S = 3600, NAME_MOST = 16 };

static pthread_mutex_t mutex;
static pthread_mutex_t *shared; /* in memory that processes share */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static FILE *stream;
static _Atomic int waiting, initializing;

/* Of futexes that are no pthread's. */
static uint32_t own_word = 2;
static _Thread_local struct worker {
	uint32_t state, jobs, tid, users, kind;
} worker;

static void hold_normal(void)
{
	make(&mutex, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_recursive(void)
{
	make(&mutex, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_checked(void)
{
	make(&mutex, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_adaptive(void)
{
	make(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_robust(void)
{
	make(&mutex, 0, PTHREAD_MUTEX_ROBUST, 0, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_inheriting(void)
{
	make(&mutex, 0, 0, PTHREAD_PRIO_INHERIT, 0);
	get(pthread_mutex_lock(&mutex), "mutex");
}

static void hold_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		get(errno, "mmap");
	make(shared, 0, 0, 0, PTHREAD_PROCESS_SHARED);
	get(pthread_mutex_lock(shared), "shared");
}

static void hold_c11(void)
{
	get(mtx_init(&c11_mutex, mtx_timed) != thrd_success, "mtx_init");
	get(mtx_lock(&c11_mutex) != thrd_success, "mtx_lock");
}

static void hold_written(void)
{
	get(pthread_rwlock_wrlock(&rwlock), "rwlock");
}

static void hold_read(void)
{
	get(pthread_rwlock_rdlock(&rwlock), "rwlock");
}

static void hold_semaphore(void)
{
	get(sem_init(&semaphore, 0, 1) < 0 ? errno : 0, "semaphore");
	get(sem_wait(&semaphore) < 0 ? errno : 0, "semaphore");
}

static void hold_stream(void)
{
	stream = fopen("/dev/null", "w");
	get(stream ? 0 : errno, "/dev/null");
	flockfile(stream);
}

static void make_guard(void)
{
	make(&mutex, PTHREAD_MUTEX_NORMAL, 0, 0, 0);
}

static void make_c11(void)
{
	get(mtx_init(&c11_mutex, mtx_plain) != thrd_success, "mtx_init");
	get(cnd_init(&c11_condition) != thrd_success, "cnd_init");
}

static void make_empty(void)
{
	get(sem_init(&semaphore, 0, 0) < 0 ? errno : 0, "semaphore");
}

static void make_barrier(void)
{
	get(pthread_barrier_init(&barrier, NULL, THREADS + 1), "barrier");
}

static void initialize(void)
{
	initializing = 1;
	pause();
}

static void *run_once(void *arg)
{
	pthread_once(&once, initialize);
	return arg;
}

static void make_once(void)
{
	begin(run_once, NULL);
	while (!initializing)
		usleep(1000);
}

static struct timespec in_an_hour(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += HOUR_S;
	return at;
}

static void *sleep_on(void *arg)
{
	prctl(PR_SET_NAME, "joined");
	pause();
	return arg;
}

static void wait_for_work(void)
{
	get(pthread_mutex_lock(&mutex), "mutex");
	waiting++;
	pthread_cond_wait(&condition, &mutex);
}

/* When all wait the mutex is locked for good, and they need it again. */
static void take_back(void)
{
	while (waiting < THREADS)
		usleep(1000);
	get(pthread_mutex_lock(&mutex), "mutex");
	get(pthread_cond_broadcast(&condition), "condition");
}

static void wait_for_work_timed(void)
{
	struct timespec at = in_an_hour();

	get(pthread_mutex_lock(&mutex), "mutex");
	pthread_cond_timedwait(&condition, &mutex, &at);
}

static void wait_for_c11(void)
{
	mtx_lock(&c11_mutex);
	cnd_wait(&c11_condition, &c11_mutex);
}

static void join_one(void)
{
	pthread_join(begin(sleep_on, NULL), NULL);
}

/* No function of its own has a name that says what it is. */
static void sleep_for(uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* As threads of pools do it; the words after its state may look like those of a mutex. */
static void sleep_as_worker(void)
{
	worker = (struct worker){.state = 2, .tid = (uint32_t)gettid(), .users = 1};
	sleep_for(&worker.state, 2);
}

#define TIMED(NAME, CALL)                                                                          \
	static void NAME(void)                                                                     \
	{                                                                                          \
		struct timespec at = in_an_hour();                                                 \
		CALL;                                                                              \
	}

#define PLAIN(NAME, CALL)                                                                          \
	static void NAME(void)                                                                     \
	{                                                                                          \
		CALL;                                                                              \
	}

PLAIN(lock_mutex, pthread_mutex_lock(&mutex))
PLAIN(lock_shared, pthread_mutex_lock(shared))
PLAIN(lock_c11, mtx_lock(&c11_mutex))
PLAIN(lock_write, pthread_rwlock_wrlock(&rwlock))
PLAIN(lock_read, pthread_rwlock_rdlock(&rwlock))
PLAIN(wait_semaphore, sem_wait(&semaphore))
PLAIN(print_line, fputs("x", stream))
PLAIN(wait_barrier, pthread_barrier_wait(&barrier))
PLAIN(wait_once, pthread_once(&once, initialize))
PLAIN(lock_own, sleep_for(&own_word, 2))
TIMED(lock_timed, pthread_mutex_timedlock(&mutex, &at))
TIMED(lock_clock, pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &at))
TIMED(lock_c11_timed, mtx_timedlock(&c11_mutex, &at))
TIMED(lock_write_timed, pthread_rwlock_timedwrlock(&rwlock, &at))
TIMED(lock_read_timed, pthread_rwlock_timedrdlock(&rwlock, &at))
TIMED(wait_semaphore_timed, sem_timedwait(&semaphore, &at))

static const struct one {
	const char *name;
	void (*prepare)(void);
	void (*wait)(void);
	void (*then)(void); /* NULL: nothing */
} cases[] = {
	{"L-normal", hold_normal, lock_mutex, NULL},
	{"L-recursive", hold_recursive, lock_mutex, NULL},
	{"L-errorcheck", hold_checked, lock_mutex, NULL},
	{"L-adaptive", hold_adaptive, lock_mutex, NULL},
	{"L-robust", hold_robust, lock_mutex, NULL},
	{"L-pi", hold_inheriting, lock_mutex, NULL},
	{"L-pi-timed", hold_inheriting, lock_timed, NULL},
	{"L-shared", hold_shared, lock_shared, NULL},
	{"L-timed", hold_normal, lock_timed, NULL},
	{"L-clock", hold_normal, lock_clock, NULL},
	{"L-c11", hold_c11, lock_c11, NULL},
	{"L-c11-timed", hold_c11, lock_c11_timed, NULL},
	{"L-write-write", hold_written, lock_write, NULL},
	{"L-read-write", hold_written, lock_read, NULL},
	{"L-write-read", hold_read, lock_write, NULL},
	{"L-write-timed", hold_read, lock_write_timed, NULL},
	{"L-read-timed", hold_written, lock_read_timed, NULL},
	{"L-relock", make_guard, wait_for_work, take_back},
	{"L-stdio", hold_stream, print_line, NULL},
	{"L-semaphore", hold_semaphore, wait_semaphore, NULL},
	{"L-own", NULL, lock_own, NULL},
	{"W-condition", make_guard, wait_for_work, NULL},
	{"W-cond-timed", make_guard, wait_for_work_timed, NULL},
	{"W-c11", make_c11, wait_for_c11, NULL},
	{"W-semaphore", make_empty, wait_semaphore, NULL},
	{"W-sem-timed", make_empty, wait_semaphore_timed, NULL},
	{"W-join", NULL, join_one, NULL},
	{"W-barrier", make_barrier, wait_barrier, NULL},
	{"W-once", make_once, wait_once, NULL},
	{"W-worker", NULL, sleep_as_worker, NULL},
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static const struct one *chosen;

static void *run_case(void *arg)
{
	prctl(PR_SET_NAME, chosen->name);
	chosen->wait();
	return arg;
}

int main(int argc, char **argv)
{
	char end;

	for (int i = 0; i < CASES; i++) {
		if (argc < 2)
			printf("%s\n", cases[i].name);
		else if (!strcmp(argv[1], cases[i].name))
			chosen = &cases[i];
	}
	if (!chosen)
		return argc < 2 ? 0 : 2;
	if (chosen->prepare)
		chosen->prepare();
	for (int i = 0; i < THREADS; i++)
		begin(run_case, NULL);
	if (chosen->then)
		chosen->then();
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	_exit(0);
}
