// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process whose mmap_lock another one holds for reading, and for which its thread `mapper` waits.
 *
 * reading mem: the reader sleeps. It reads a page through /proc/PID/mem that a file system of ours
 * does not deliver before standard input ends.
 *
 * reading smaps: the reader runs. It reads /proc/PID/smaps of much memory, again and again.
 *
 * reading dir DIR: the reader sleeps. It lists DIR into a page of a userfaultfd, with the lock of
 * that directory; all are threads of one process here, and `mapper` makes a file.
 *
 * Two others only could be readers, and are none: `idle`, a thread of the process that sleeps in
 * read() of a pipe, and the process `onlooker`, which has /proc/PID/smaps open and sleeps likewise.
 *
 * Standard output has the id of each when the reader is on its way: "target N", "mapper N", ...
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MUCH = 512 << 20, SLOW_S = 20 };

struct shared {
	void *volatile page;
	volatile int mapper, idle;
	volatile bool ready;
};

static struct shared *shared;
static struct slow_page page;
static int never[2]; /* a pipe that is never written to */

static void die(const char *what)
{
	fprintf(stderr, "reading: %s: %s\n", what, strerror(errno));
	_exit(77);
}

static void *mapper_main(void *arg)
{
	prctl(PR_SET_NAME, "mapper");
	shared->mapper = (int)syscall(SYS_gettid);
	for (;;) {
		char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p != MAP_FAILED)
			munmap(p, PAGE);
		usleep(1000);
	}
	return arg;
}

static void wait_for_ever(void)
{
	char c;

	while (read(never[0], &c, 1) < 0 && errno == EINTR)
		;
}

static void *idle_main(void *arg)
{
	prctl(PR_SET_NAME, "idle");
	shared->idle = (int)syscall(SYS_gettid);
	wait_for_ever();
	return arg;
}

/* The page that does not come, or @MUCH bytes in small ones. */
static void *map(bool slow)
{
	errno = slow ? -slow_page_fuse_map(&page) : 0;
	if (errno)
		die("the file");
	if (slow)
		return page.addr;
	void *p = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	madvise(p, MUCH, MADV_NOHUGEPAGE);
	memset(p, 1, MUCH);
	return p;
}

static void target(bool slow)
{
	pthread_t t;

	prctl(PR_SET_NAME, "target");
	shared->page = map(slow);
	if (pthread_create(&t, NULL, idle_main, NULL) ||
	    pthread_create(&t, NULL, mapper_main, NULL))
		die("pthread_create");
	while (!shared->mapper || !shared->idle)
		usleep(1000);
	shared->ready = true;
	wait_for_ever();
}

static int open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	return fd;
}

static void read_mem(pid_t pid)
{
	int fd = open_of(pid, "mem");
	char byte;

	for (;;)
		if (pread(fd, &byte, 1, (off_t)(uintptr_t)shared->page) != 1)
			die("pread");
}

static void read_smaps(pid_t pid)
{
	int fd = open_of(pid, "smaps");
	char text[PAGE];

	for (;;) {
		while (read(fd, text, sizeof(text)) > 0)
			;
		lseek(fd, 0, SEEK_SET);
	}
}

static pid_t child(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
	}
	return pid;
}

static void start(bool slow)
{
	/* The connection ends with who answers, however that one ends, and with it all waits. */
	if (slow)
		close(page.fd);
	pid_t pid = child("target"), reader, onlooker;

	if (pid == 0)
		target(slow);
	while (!shared->ready)
		if (waitpid(pid, NULL, WNOHANG) == pid)
			_exit(77);
		else
			usleep(1000);
	onlooker = child("onlooker");
	if (onlooker == 0) {
		open_of(pid, "smaps");
		wait_for_ever();
	}
	reader = child("reader");
	if (reader == 0 && slow)
		read_mem(pid);
	else if (reader == 0)
		read_smaps(pid);
	printf("target %d\nmapper %d\nidle %d\nonlooker %d\nreader %d\n", (int)pid, shared->mapper,
	       shared->idle, (int)onlooker, (int)reader);
	fflush(stdout);
	for (;;)
		pause();
}

static int dir;

static void *lister_main(void *arg)
{
	prctl(PR_SET_NAME, "reader");
	*(volatile int *)arg = (int)syscall(SYS_gettid);
	if (syscall(SYS_getdents64, dir, page.addr, PAGE) < 0)
		die("getdents64");
	return NULL;
}

static void *maker_main(void *arg)
{
	prctl(PR_SET_NAME, "mapper");
	shared->mapper = (int)syscall(SYS_gettid);
	if (mkdirat(dir, "made", 0700) < 0 || unlinkat(dir, "made", AT_REMOVEDIR) < 0)
		die("mkdirat");
	return arg;
}

static void wait_for_end(void);

static int list(const char *path)
{
	volatile int reader = 0;
	pthread_t t[3];

	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	errno = dir < 0 ? errno : -slow_page_uffd(&page, 1);
	if (errno)
		die(path);
	pthread_create(&t[0], NULL, idle_main, NULL);
	pthread_create(&t[1], NULL, lister_main, (void *)(uintptr_t)&reader);
	alarm(SLOW_S);
	errno = -slow_page_wait(&page);
	if (errno)
		die("a page");
	alarm(0);
	pthread_create(&t[2], NULL, maker_main, NULL);
	while (!shared->mapper || !shared->idle ||
	       !slow_page_thread_sleeps(getpid(), shared->mapper))
		usleep(1000);
	printf("target %d\nmapper %d\nidle %d\nonlooker %d\nreader %d\n", (int)getpid(),
	       shared->mapper, shared->idle, (int)getpid(), reader);
	fflush(stdout);
	wait_for_end();
	slow_page_release(&page);
	pthread_join(t[1], NULL);
	pthread_join(t[2], NULL);
	return 0;
}

/* Until standard input ends. */
static void wait_for_end(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	bool slow = argc == 2 && strcmp(argv[1], "mem") == 0;
	bool lists = argc == 3 && strcmp(argv[1], "dir") == 0;

	if (!slow && !lists && (argc != 2 || strcmp(argv[1], "smaps") != 0)) {
		fprintf(stderr, "usage: reading mem | smaps | dir DIR\n");
		return 2;
	}
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe2(never, O_CLOEXEC) < 0)
		die("memory");
	if (lists)
		return list(argv[2]);
	errno = slow ? -slow_page_fuse_mount(&page, 1) : 0;
	if (errno)
		die("a file system");
	pid_t starter = child("starter");
	if (starter == 0)
		start(slow);
	alarm(SLOW_S);
	/* Also the file is opened by our answers. */
	errno = slow ? -slow_page_wait(&page) : 0;
	if (errno)
		die("a page");
	alarm(0);
	wait_for_end();
	if (slow)
		slow_page_release(&page);
	kill(starter, SIGKILL);
	return 0;
}
