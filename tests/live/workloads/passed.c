// SPDX-License-Identifier: GPL-2.0-only
/*
 * passed FILE: a writer that readers pass over, a known number of times. In each round a thread
 * holds the lock of FILE's inode while the page that it writes from, of a userfaultfd, is held
 * back; meanwhile a reader, a writer, two readers and a writer begin to wait, one after the other.
 * When the lock is let go the kernel gives it to the first, a reader, and to all readers that wait
 * with it: the two pass over the writer before them. Prints a line: how often who waited got the
 * lock, how often a wait was passed over, how often the worst one was, its thread, how many waited
 * at once, readers of a run, the shortest and the longest time that the queue may have lasted in
 * all, in ns.
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, SIZE = 64, PAGE = 4096, HOLD_US = 30000, EXT4 = 0xef53, SKIP = 77 };

/* In this order they begin to wait. */
static const char modes[] = "RWRRW";
enum { WAITERS = sizeof(modes) - 1, PASSED = 2, THE_PASSED = 1, READERS = 3 };

struct waiter {
	pthread_t thread;
	char mode;
	volatile pid_t tid;
};

static struct slow_page page;
static int file;
static const char *path;

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

static void *hold(void *from)
{
	if (pwrite(file, from, SIZE, 0) != SIZE)
		fail("write from the missing page");
	return NULL;
}

/* A task that asks for the next hole takes the lock to read, one that writes takes it to write. */
static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	static const char bytes[SIZE];

	/* A file of its own: another lock is that of the position in it. */
	int own = open(path, O_RDWR | O_CLOEXEC);
	w->tid = (pid_t)syscall(SYS_gettid);
	if (w->mode == 'R' ? lseek(own, 0, SEEK_HOLE) < 0 : pwrite(own, bytes, SIZE, 0) != SIZE)
		fail("the file");
	close(own);
	return NULL;
}

static void start(struct waiter *w, char mode)
{
	*w = (struct waiter){.mode = mode};
	if (pthread_create(&w->thread, NULL, wait_for_it, w))
		fail("thread");
	while (!w->tid || !slow_page_thread_sleeps(getpid(), w->tid))
		usleep(1000);
}

/* The thread that is passed over. */
static pid_t play(int round, uint64_t *least_ns, uint64_t *most_ns)
{
	struct waiter waiters[WAITERS];
	pthread_t holder;

	if (pthread_create(&holder, NULL, hold, page.addr + (ptrdiff_t)round * PAGE))
		fail("thread");
	if (slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	uint64_t before_ns = now_ns(), all_wait_ns;
	for (int i = 0; i < WAITERS; i++)
		start(&waiters[i], modes[i]);
	all_wait_ns = now_ns();
	usleep(HOLD_US);
	*least_ns += now_ns() - all_wait_ns;
	if (slow_page_release(&page) < 0)
		fail("the page");
	pthread_join(holder, NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i].thread, NULL);
	*most_ns += now_ns() - before_ns;
	return waiters[THE_PASSED].tid;
}

int main(int argc, char **argv)
{
	uint64_t least_ns = 0, most_ns = 0;
	struct statfs fs;
	pid_t worst = 0;

	if (argc != 2)
		return 2;
	alarm(120); /* a round that does not end is not waited for */
	path = argv[1];
	file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 || fstatfs(file, &fs) < 0)
		fail(path);
	if (fs.f_type != EXT4) {
		fprintf(stderr, "skipped: %s is not on ext4, where SEEK_HOLE reads\n", path);
		return SKIP;
	}
	int code = slow_page_uffd(&page, ROUNDS);
	if (code < 0) {
		fprintf(stderr, "skipped: userfaultfd: %s\n", strerror(-code));
		return SKIP;
	}
	for (int i = 0; i < ROUNDS; i++) {
		pid_t passed = play(i, &least_ns, &most_ns);
		worst = worst ? worst : passed;
	}
	printf("%d %d %d %d %d %d %llu %llu\n", ROUNDS * WAITERS, ROUNDS * PASSED, PASSED, worst,
	       WAITERS, READERS, (unsigned long long)least_ns, (unsigned long long)most_ns);
	return 0;
}
