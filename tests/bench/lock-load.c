// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock-load futex|flock TASKS ROUNDS: a fixed piece of work that contends for one lock. futex: each
 * of the threads wakes no task at one word, and waits there for a value that it has not, so that
 * all want the spinlock of one bucket. flock: each of the processes locks one file for itself and
 * unlocks it, so that they sleep for it in turns.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 };

static uint32_t word;
static long rounds;

static void *futex(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
		syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
	}
	return arg;
}

static int futex_storm(int n)
{
	pthread_t threads[MOST];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, futex, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int flock_rounds(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	for (long i = 0; i < rounds; i++)
		if (flock(fd, LOCK_EX) || flock(fd, LOCK_UN))
			return 1;
	return 0;
}

static int flock_storm(int n)
{
	char path[] = "/tmp/kontend-lock-load-XXXXXX";
	int fd = mkstemp(path), all = 0;

	if (fd < 0)
		return 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(flock_rounds(path));
		if (pid < 0)
			all = 1;
	}
	for (int status; wait(&status) > 0;)
		all |= status != 0;
	unlink(path);
	return all;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0;

	rounds = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	if (n < 1 || n > MOST || rounds < 1)
		return 2;
	return strcmp(argv[1], "flock") == 0 ? flock_storm(n) : futex_storm(n);
}
