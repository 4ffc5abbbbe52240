// SPDX-License-Identifier: GPL-2.0-only
/*
 * held fork|fault|rename SECONDS [DIRECTORY]: tasks that wait for locks which other tasks hold for
 * milliseconds. fork: six threads write to memory while the process forks, which copies its page
 * tables under mmap_lock. fault: 24 threads map, touch and unmap memory of one process. rename: 12
 * processes create, rename and remove files in one directory. Ends by itself.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WRITERS = 6, FAULTERS = 24, RENAMERS = 12 };

static const size_t FORKED = 1ul << 30, MAPPED = 4ul << 20;
static char *memory;

static void *write_pages(void *arg)
{
	for (size_t from = (size_t)(char *)arg % WRITERS;; from = (from + 1) % WRITERS)
		for (size_t i = from * PAGE; i < FORKED; i += (size_t)WRITERS * PAGE)
			((volatile char *)memory)[i]++;
	return NULL;
}

static int fork_often(unsigned seconds)
{
	pthread_t t;

	memory = mmap(NULL, FORKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, FORKED, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < FORKED; i += PAGE)
		memory[i] = 1;
	for (long i = 0; i < WRITERS; i++)
		if (pthread_create(&t, NULL, write_pages, (void *)i))
			return 1;
	for (unsigned i = 0; i < seconds * 4; i++) {
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			usleep(100000);
			_exit(0);
		}
		usleep(250000);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return 0;
}

static void *map_and_touch(void *arg)
{
	for (;;) {
		char *p = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
		if (p == MAP_FAILED)
			return arg;
		for (size_t i = 0; i < MAPPED; i += PAGE)
			p[i] = 1;
		munmap(p, MAPPED);
	}
}

static int fault(unsigned seconds)
{
	pthread_t t;

	for (int i = 0; i < FAULTERS; i++)
		if (pthread_create(&t, NULL, map_and_touch, NULL))
			return 1;
	sleep(seconds);
	return 0;
}

static void rename_files(int nth)
{
	char from[32], to[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(from, sizeof(from), "from-%d", nth);
	snprintf(to, sizeof(to), "to-%d", nth);
	for (;;) {
		int fd = open(from, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			_exit(1);
		close(fd);
		if (rename(from, to) < 0 || unlink(to) < 0)
			_exit(1);
	}
}

static int rename_storm(unsigned seconds, const char *directory)
{
	pid_t pids[RENAMERS];

	if (!directory || chdir(directory) < 0)
		return 1;
	for (int i = 0; i < RENAMERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			rename_files(i);
	}
	sleep(seconds);
	for (int i = 0; i < RENAMERS; i++) {
		char name[32];
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		snprintf(name, sizeof(name), "from-%d", i);
		unlink(name);
		snprintf(name, sizeof(name), "to-%d", i);
		unlink(name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (!seconds)
		return 2;
	if (strcmp(argv[1], "fork") == 0)
		return fork_often(seconds);
	if (strcmp(argv[1], "fault") == 0)
		return fault(seconds);
	if (strcmp(argv[1], "rename") == 0)
		return rename_storm(seconds, argc > 3 ? argv[3] : NULL);
	return 2;
}
