// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that have a lock for long while others wait for it, until the program is killed:
 * uses fork: a process with much memory forks; its other threads wait for its mmap_lock
 * uses crunch: a thread computes in crunch() with a mutex that two others want
 * uses unfair: a thread has a mutex ten times as long as each of three others
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMORY = 256 << 20, PAGE = 4096, SHORT_MS = 2, LONG_MS = 20, CRUNCH_MS = 100 };

static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sum;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void rest(unsigned ms)
{
	const struct timespec t = {.tv_nsec = ms * 1000000L};

	nanosleep(&t, NULL);
}

__attribute__((noinline)) static void crunch(unsigned ms)
{
	uint64_t until = now_ms() + ms;

	do
		for (unsigned i = 0; i < 100000; i++)
			sum = sum * 3 + i;
	while (now_ms() < until);
}

static void *use(void *arg)
{
	const unsigned *ms = arg;

	prctl(PR_SET_NAME, *ms == LONG_MS ? "kt-long" : *ms ? "kt-short" : "kt-waits");
	for (;;) {
		pthread_mutex_lock(&wanted);
		if (*ms)
			rest(*ms);
		pthread_mutex_unlock(&wanted);
		rest(*ms ? 1 : 20);
	}
	return NULL;
}

static void *map(void *arg)
{
	for (;;) {
		void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p == MAP_FAILED)
			exit(1);
		munmap(p, PAGE);
		rest(1);
	}
	return arg;
}

static void start(void *(*run)(void *arg), const unsigned *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, (void *)(uintptr_t)arg))
		exit(1);
}

static void fork_on(void)
{
	char *p = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, MEMORY, MADV_NOHUGEPAGE))
		exit(1);
	memset(p, 1, MEMORY);
	for (int i = 0; i < 3; i++)
		start(map, NULL);
	for (;;) {
		pid_t pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	static const unsigned waits, brief = SHORT_MS, lengthy = LONG_MS;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 2 && !strcmp(argv[1], "fork"))
		fork_on();
	if (argc == 2 && !strcmp(argv[1], "unfair")) {
		start(use, &lengthy);
		for (int i = 0; i < 3; i++)
			start(use, &brief);
		for (;;)
			pause();
	}
	if (argc != 2 || strcmp(argv[1], "crunch"))
		return 2;
	start(use, &waits);
	start(use, &waits);
	for (;;) {
		pthread_mutex_lock(&wanted);
		crunch(CRUNCH_MS);
		pthread_mutex_unlock(&wanted);
		rest(5);
	}
}
