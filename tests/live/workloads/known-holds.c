// SPDX-License-Identifier: GPL-2.0-only
/*
 * known-holds N MS [FOLDER]: holds locks for known times while no other task wants them: N times
 * the mutex of a pipe (write), N times the i_rwsem of a file as a writer (write) and N times that
 * of a directory as a reader (getdents). Each time the kernel touches a page that a userfaultfd
 * keeps back for MS milliseconds.
 *
 * Standard output has a line for each: "mutex N LEAST MOST", in nanoseconds, all N together: the
 * page was kept back for so long, and the system calls took so long.
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, KINDS = 3 };

static struct slow_page page;
static size_t n_pages;
static long delay_ms;
static uint64_t kept_ns; /* written by the keeper while the holder sleeps */

static void die(const char *what)
{
	fprintf(stderr, "known-holds: %s: %s\n", what, strerror(errno));
	exit(77);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *keep(void *arg)
{
	const struct timespec delay = {delay_ms / 1000, delay_ms % 1000 * 1000000};

	for (size_t i = 0; i < n_pages; i++) {
		if (slow_page_wait(&page) < 0)
			die("the page");
		uint64_t from_ns = now_ns();
		nanosleep(&delay, NULL);
		kept_ns += now_ns() - from_ns;
		if (slow_page_release(&page) < 0)
			die("the page");
	}
	return arg;
}

static int fds[2]; /* of a pipe */
static int file, folder;

static void hold(int kind, char *at)
{
	static char drained[PAGE];
	long n = kind == 0   ? write(fds[1], at, PAGE)
		 : kind == 1 ? pwrite(file, at, PAGE, 0)
			     : syscall(SYS_getdents64, folder, at, PAGE);

	if (n <= 0)
		die("a system call");
	if (kind == 0 && read(fds[0], drained, PAGE) != PAGE)
		die("read");
	if (kind == 2 && lseek(folder, 0, SEEK_SET) < 0)
		die("lseek");
}

static void open_all(const char *where)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/holds.file", where);
	file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	folder = open(where, O_RDONLY | O_DIRECTORY);
	if (file < 0 || folder < 0 || pipe(fds) < 0)
		die(path);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const char *const names[KINDS] = {"mutex", "rwsem:W", "rwsem:R"};
	size_t n = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_t keeper;

	delay_ms = argc > 2 ? atol(argv[2]) : 0;
	n_pages = n * KINDS;
	if (!n || !delay_ms)
		die("give N and MS");
	open_all(argc > 3 ? argv[3] : "/tmp");
	errno = -slow_page_uffd(&page, n_pages);
	if (errno)
		die("userfaultfd");
	if (pthread_create(&keeper, NULL, keep, NULL))
		die("pthread_create");
	for (int kind = 0; kind < KINDS; kind++) {
		uint64_t before_ns = kept_ns, from_ns = now_ns();
		for (size_t i = 0; i < n; i++)
			hold(kind, page.addr + ((size_t)kind * n + i) * PAGE);
		printf("%s %zu %llu %llu\n", names[kind], n,
		       (unsigned long long)(kept_ns - before_ns),
		       (unsigned long long)(now_ns() - from_ns));
	}
	pthread_join(keeper, NULL);
	return 0;
}
