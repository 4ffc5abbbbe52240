// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns FILE: threads that hold the lock of FILE's inode one after the other, each for a time that
 * is known: all write to FILE from a page of their own of a userfaultfd, which sleeps until we
 * release it. All wait before the first is released. Prints a line a thread: its id, how long it
 * slept at least, which is how long its page was held back but for what it ran or waited for a CPU
 * meanwhile (/proc/PID/schedstat: under load it may be kept off the CPU before it falls asleep),
 * and from the release of the page before to the touch of the next one, which is more; in ns. The
 * first one gets the lock without waiting.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, SIZE = 64, PAGE = 4096, HOLD_US = 30000, SKIP = 77 };

struct turn {
	int thread;
	uint64_t touched_ns, released_ns;
	uint64_t awake_ns; /* of that time, at most */
};

static struct slow_page page;
static int file;
static volatile pid_t tids[THREADS];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* How long a thread has run, or was ready to run and did not. */
static uint64_t awake_ns(pid_t tid)
{
	unsigned long long runs, waits;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	FILE *f = fopen(path, "re");
	if (!f || fscanf(f, "%llu %llu", &runs, &waits) != 2) {
		fprintf(stderr, "skipped: no schedstat of threads\n");
		exit(SKIP);
	}
	fclose(f);
	return runs + waits;
}

static void *hold(void *arg)
{
	intptr_t i = (intptr_t)arg;

	tids[i] = (pid_t)syscall(SYS_gettid);
	if (pwrite(file, page.addr + i * PAGE, SIZE, 0) != SIZE)
		fail("write from the missing page");
	return NULL;
}

static void start(pthread_t *t, int i)
{
	if (pthread_create(t, NULL, hold, (void *)(intptr_t)i))
		fail("thread");
	if (i == 0 && slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	while (i && (!tids[i] || !slow_page_thread_sleeps(getpid(), tids[i])))
		usleep(1000);
}

/* The page of the one that has the lock was touched. */
static void take_turn(struct turn *t, int nth)
{
	if (nth && slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	t->thread = (int)((page.held_offset - (uintptr_t)page.addr) / PAGE);
	uint64_t before = awake_ns(tids[t->thread]);
	t->touched_ns = now_ns();
	usleep((useconds_t)(HOLD_US * (nth + 1)));
	t->released_ns = now_ns();
	t->awake_ns = awake_ns(tids[t->thread]) - before;
	if (slow_page_release(&page) < 0)
		fail("the page");
}

int main(int argc, char **argv)
{
	struct turn turns[THREADS];
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	alarm(120); /* turns that cannot be made are not waited for */
	file = open(argv[1], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		fail(argv[1]);
	if (slow_page_uffd(&page, THREADS) < 0)
		fail("userfaultfd");
	for (int i = 0; i < THREADS; i++)
		start(&threads[i], i);
	for (int i = 0; i < THREADS; i++)
		take_turn(&turns[i], i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i + 1 < THREADS; i++)
		printf("%d %lld %llu\n", tids[turns[i].thread],
		       (long long)(turns[i].released_ns - turns[i].touched_ns - turns[i].awake_ns),
		       (unsigned long long)(turns[i + 1].touched_ns - turns[i - 1].released_ns));
	return 0;
}
