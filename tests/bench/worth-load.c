// SPDX-License-Identifier: GPL-2.0-only
/*
 * worth-load PROGRAM LOCK SECONDS
 *
 * Programs whose bottleneck is known, for worth.py: each repeats a piece of work of constant size,
 * most of it with a lock. LOCK a or b: half of the work that is done with this lock is done without
 * it, after its release; -: all of it is done with the lock. Prints how often the work was done in
 * a second. Work that is not counted has no result.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { US = 1000, QUEUE = 8, PAGE = 4096, PAGES = 1024 };

struct shared {
	atomic_ulong done;
	char halves; /* the lock whose hold is halved */
};

static struct shared *all;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* So much CPU time. */
static void work(unsigned us)
{
	uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + us * US;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* So much time without a CPU, as a disk takes it. */
static void rest(unsigned us)
{
	const struct timespec t = {.tv_nsec = us * US};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void hold(pthread_mutex_t *m, char name, void (*how)(unsigned us), unsigned us)
{
	unsigned within = all->halves == name ? us / 2 : us;

	pthread_mutex_lock(m);
	how(within);
	pthread_mutex_unlock(m);
	if (us > within)
		how(us - within);
}

/* One at a time can run: the other CPU is idle. */
static void *bound(void *arg)
{
	for (;; atomic_fetch_add(&all->done, 1)) {
		hold(&a, 'a', work, 400);
		work(50);
	}
	return arg;
}

/* Work of others, as important, for all CPUs. */
static void *busy(void *arg)
{
	for (;; atomic_fetch_add(&all->done, 1))
		work(450);
	return arg;
}

/* A lock of threads whose work is not counted. */
static void *background(void *arg)
{
	for (;;)
		hold(&b, 'b', rest, 2000);
	return arg;
}

/* Two locks, one after the other; that of the disk is the narrow one. */
static void *disk(void *arg)
{
	for (;; atomic_fetch_add(&all->done, 1)) {
		hold(&a, 'a', rest, 1000);
		hold(&b, 'b', work, 200);
		work(100);
	}
	return arg;
}

/* A queue with its lock, from which one thread takes what another one makes. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned filled;

static void *make(void *arg)
{
	for (;;) {
		work(100);
		hold(&b, 'b', work, 100);
		pthread_mutex_lock(&a);
		while (filled == QUEUE)
			pthread_cond_wait(&changed, &a);
		filled++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&a);
	}
	return arg;
}

static void *take(void *arg)
{
	for (;; atomic_fetch_add(&all->done, 1)) {
		pthread_mutex_lock(&a);
		while (!filled)
			pthread_cond_wait(&changed, &a);
		filled--;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&a);
		hold(&b, 'b', work, 100);
		work(600);
	}
	return arg;
}

/* The address space changes, a part at a time where the hold is halved. */
static void *protect(void *arg)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	size_t parts = all->halves == 'a' ? 2 : 1, bytes = PAGES * PAGE / parts;

	if (at == MAP_FAILED || madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE))
		abort();
	memset(at, 1, PAGES * PAGE);
	for (;; atomic_fetch_add(&all->done, 1)) {
		for (size_t i = 0; i < 2 * parts; i++)
			if (mprotect(at + i % parts * bytes, bytes,
				     i < parts ? PROT_READ : PROT_READ | PROT_WRITE))
				abort();
		work(20);
	}
	return arg;
}

static void herd(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
	for (;; atomic_fetch_add(&all->done, 1)) {
		unsigned us = all->halves == 'a' ? 500 : 1000;
		if (flock(fd, LOCK_EX))
			abort();
		rest(us);
		flock(fd, LOCK_UN);
		if (us < 1000)
			rest(1000 - us);
		work(100);
	}
}

static void start(unsigned n, void *(*run)(void *arg), const char *name)
{
	pthread_t t;

	for (unsigned i = 0; i < n; i++) {
		if (pthread_create(&t, NULL, run, NULL))
			abort();
		pthread_setname_np(t, name);
	}
}

static void start_herd(unsigned n)
{
	char path[] = "/tmp/worth-load-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	for (unsigned i = 0; i < n; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			herd(path);
		}
	sleep(1); /* until they have it open */
	unlink(path);
}

static bool begin(const char *program)
{
	if (!strcmp(program, "bound"))
		start(3, bound, "bound");
	else if (!strcmp(program, "full"))
		start(3, bound, "full"), start(4, busy, "busy");
	else if (!strcmp(program, "background"))
		start(2, bound, "bound"), start(5, background, "background");
	else if (!strcmp(program, "disk"))
		start(4, disk, "disk");
	else if (!strcmp(program, "pipeline"))
		start(1, make, "make"), start(1, take, "take");
	else if (!strcmp(program, "mmap"))
		start(3, protect, "protect");
	else if (!strcmp(program, "herd"))
		start_herd(6);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc != 4 || all == MAP_FAILED)
		return 2;
	all->halves = argv[2][0];
	if (!begin(argv[1]))
		return 2;
	usleep(100 * US);
	unsigned long before = atomic_load(&all->done);
	uint64_t from = now_ns(CLOCK_MONOTONIC);
	usleep((unsigned)(atof(argv[3]) * 1000 * US));
	double s = (double)(now_ns(CLOCK_MONOTONIC) - from) / 1e9;
	printf("%.1f\n", (double)(atomic_load(&all->done) - before) / s);
	fflush(stdout);
	_exit(0);
}
