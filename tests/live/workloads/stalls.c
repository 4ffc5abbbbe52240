// SPDX-License-Identifier: GPL-2.0-only
/*
 * stalls FILE N: so many times, after a random pause of 3 to 5 s, a task waits 20 ms for the lock
 * of FILE's inode, which another one holds that writes from a page of a userfaultfd. Of each stall
 * it prints when the waiter slept and when it was let go, by CLOCK_MONOTONIC, and both threads.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 64, STALL_US = 20000, PAGE = 4096, MOST = 64 };

static struct slow_page page;
static int file;
static volatile pid_t waiter, holder;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *hold(void *arg)
{
	prctl(PR_SET_NAME, "stall-holder");
	holder = (pid_t)syscall(SYS_gettid);
	if (pwrite(file, (char *)page.addr + (intptr_t)arg * PAGE, SIZE, 0) != SIZE)
		fail("write from the missing page");
	return NULL;
}

static void *wait_for_it(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "stall-waiter");
	waiter = (pid_t)syscall(SYS_gettid);
	if (pwrite(file, "x", 1, 0) != 1)
		fail("write");
	return NULL;
}

static void stall(int n)
{
	pthread_t a, b;
	uint64_t begin;

	waiter = holder = 0;
	if (pthread_create(&a, NULL, hold, (void *)(intptr_t)n) || slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	if (pthread_create(&b, NULL, wait_for_it, NULL))
		fail("thread");
	while (!waiter || !slow_page_thread_sleeps(getpid(), waiter))
		usleep(200);
	begin = now();
	usleep(STALL_US);
	printf("%llu %llu %d %d\n", (unsigned long long)begin, (unsigned long long)now(), waiter,
	       holder);
	fflush(stdout);
	if (slow_page_release(&page) < 0)
		fail("the page");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (n < 1 || n > MOST)
		return 2;
	file = open(argv[1], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		fail(argv[1]);
	if (slow_page_uffd(&page, (size_t)n) < 0)
		fail("userfaultfd");
	srand((unsigned)now());
	for (int i = 0; i < n; i++) {
		usleep((useconds_t)(3000000 + rand() % 2000000));
		stall(i);
	}
	return 0;
}
