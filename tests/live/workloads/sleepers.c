// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleepers DIR: readers that hold the lock of DIR's inode together, and sleep all the while. A
 * first one reads DIR into a page of a userfaultfd, which sleeps until we release it; a writer
 * waits, and behind it all others: readers, with a page each, and a second writer. When the first
 * page is released the first writer is through in no time, and the readers have the lock at once.
 * One of them leaves early, and sleeps in user space; the others have the lock for HOLD_US. Prints
 * a line a reader: its id, how long its page was held back, which is less than it had the lock, how
 * long it had it at most, and how long it ran meanwhile, as the scheduler counts it; in ns. The one
 * that leaves early is first.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { READERS = 6, EARLY = 1, PAGE = 4096, EARLY_US = 20000, HOLD_US = 150000, SKIP = 77 };

struct reader {
	pthread_t thread;
	volatile pid_t tid;
	uint64_t touched_ns, released_ns, left_ns, ran_ns;
};

static struct slow_page page;
static struct reader readers[READERS]; /* the first one gets the lock without waiting */
static volatile pid_t writers[2];
static const char *dir;

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

static uint64_t ran_ns(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ns = 0;

	if (!f || fscanf(f, "%llu", &ns) != 1) {
		fprintf(stderr, "skipped: no schedstat\n");
		exit(SKIP);
	}
	fclose(f);
	return ns;
}

static void *read_dir(void *arg)
{
	struct reader *r = arg;
	intptr_t i = r - readers;
	int file = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t ran = ran_ns();

	r->tid = (pid_t)syscall(SYS_gettid);
	if (syscall(SYS_getdents64, file, page.addr + i * PAGE, PAGE) <= 0)
		fail("the folder, into the missing page");
	r->left_ns = now_ns();
	r->ran_ns = ran_ns() - ran;
	if (i == EARLY)
		usleep(HOLD_US);
	close(file);
	return NULL;
}

static void *make_dir(void *arg)
{
	char path[4096];
	intptr_t i = (intptr_t)arg;

	snprintf(path, sizeof(path), "%s/made%d", dir, (int)i);
	writers[i] = (pid_t)syscall(SYS_gettid);
	if (mkdir(path, 0700) < 0 || rmdir(path) < 0)
		fail(path);
	return NULL;
}

static void await_sleep(const volatile pid_t *tid)
{
	while (!*tid || !slow_page_thread_sleeps(getpid(), *tid))
		usleep(1000);
}

/* The reader whose page was touched. */
static struct reader *touched(void)
{
	if (slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	struct reader *r = &readers[(page.held_offset - (uintptr_t)page.addr) / PAGE];
	r->touched_ns = now_ns();
	return r;
}

static void release(struct reader *r)
{
	page.held_offset = (uintptr_t)page.addr + (uintptr_t)(r - readers) * PAGE;
	r->released_ns = now_ns();
	if (slow_page_release(&page) < 0)
		fail("the page");
}

static void start(pthread_t *t, void *(*run)(void *), void *arg)
{
	if (pthread_create(t, NULL, run, arg))
		fail("thread");
}

/* All readers but the first have it now. */
static void hold(void)
{
	for (int i = 1; i < READERS; i++)
		touched();
	usleep(EARLY_US);
	release(&readers[EARLY]);
	usleep(HOLD_US);
	for (int i = EARLY + 1; i < READERS; i++)
		release(&readers[i]);
}

int main(int argc, char **argv)
{
	pthread_t writer_threads[2];

	if (argc != 2)
		return 2;
	alarm(120); /* a round that does not end is not waited for */
	dir = argv[1];
	if (slow_page_uffd(&page, READERS) < 0) {
		fprintf(stderr, "skipped: no userfaultfd\n");
		return SKIP;
	}
	start(&readers[0].thread, read_dir, &readers[0]);
	touched();
	start(&writer_threads[0], make_dir, (void *)0);
	await_sleep(&writers[0]);
	for (int i = 1; i < READERS; i++) {
		start(&readers[i].thread, read_dir, &readers[i]);
		await_sleep(&readers[i].tid);
	}
	start(&writer_threads[1], make_dir, (void *)1);
	await_sleep(&writers[1]);
	usleep(HOLD_US); /* long enough that holders are followed by now */
	release(&readers[0]);
	hold();
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(writer_threads[i], NULL);
	for (int i = 1; i < READERS; i++)
		printf("%d %llu %llu %llu\n", readers[i].tid,
		       (unsigned long long)(readers[i].released_ns - readers[i].touched_ns),
		       (unsigned long long)(readers[i].left_ns - readers[0].released_ns),
		       (unsigned long long)readers[i].ran_ns);
	return 0;
}
