// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocked FILE: a chain of waits that lasts until standard input ends. A sleeps in a write to FILE,
 * whose data is a page of a userfaultfd, with the lock of its inode; B moves data from a pipe to
 * FILE, so it waits for that lock with the pipe's mutex; C and D write to the pipe and wait for B.
 * Prints the thread ids, then "ready" when all of them sleep.
 */
#include "slow-page.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, SIZE = 64 };

static struct slow_page page;
static int file, ends[2];
static volatile pid_t tids[THREADS];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *hold_inode(void *arg)
{
	(void)arg;
	tids[0] = (pid_t)syscall(SYS_gettid);
	if (pwrite(file, page.addr, SIZE, 0) != SIZE)
		fail("write from the missing page");
	return NULL;
}

static void *hold_pipe(void *arg)
{
	(void)arg;
	tids[1] = (pid_t)syscall(SYS_gettid);
	if (splice(ends[0], NULL, file, NULL, SIZE, 0) < 0)
		fail("splice from the pipe to the file");
	return NULL;
}

static void *write_pipe(void *arg)
{
	tids[(intptr_t)arg] = (pid_t)syscall(SYS_gettid);
	if (write(ends[1], "x", 1) != 1)
		fail("write to the pipe");
	return NULL;
}

static pthread_t start(int n, void *(*run)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, (void *)(intptr_t)n))
		fail("thread");
	if (n == 0 && slow_page_wait(&page) < 0)
		fail("no thread touches the page");
	while (n && (!tids[n] || !slow_page_thread_sleeps(getpid(), tids[n])))
		usleep(2000);
	printf("%c %d\n", 'A' + n, tids[n]);
	return t;
}

int main(int argc, char **argv)
{
	static void *(*const runs[THREADS])(void *) = {hold_inode, hold_pipe, write_pipe,
						       write_pipe};
	pthread_t threads[THREADS];
	char data[SIZE] = "";

	if (argc != 2)
		return 2;
	alarm(120); /* a chain that cannot be made is not waited for */
	file = open(argv[1], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0 || pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], data, SIZE) != SIZE)
		fail(argv[1]);
	if (slow_page_uffd(&page, 1) < 0)
		fail("userfaultfd");
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(i, runs[i]);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, data, sizeof(data)) > 0)
		;
	if (slow_page_release(&page) < 0)
		fail("the page");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
