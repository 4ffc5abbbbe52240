// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock-load futex|flock|rename TASKS ROUNDS: a fixed piece of work that contends for one lock.
 * futex: each thread wakes at a word without waiters, and waits for a value that the word does not
 * have, so that all need the spinlock of one bucket. flock: each process locks one file exclusively
 * and unlocks it, so that they sleep for it in turns. rename: each process renames a file of its
 * own in one directory, so that they wait for the lock of the directory's inode.
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

static int rename_rounds(const char *folder)
{
	char names[2][80];

	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "%s/%d-%d", folder, (int)getpid(), i);
	int fd = open(names[0], O_CREAT | O_WRONLY | O_CLOEXEC, 0600), all = fd < 0;

	for (long i = 0; !all && i < rounds; i++)
		all = rename(names[i & 1], names[!(i & 1)]) < 0;
	unlink(names[rounds & 1]);
	close(fd);
	return all;
}

static int flock_rounds(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	for (long i = 0; i < rounds; i++)
		if (flock(fd, LOCK_EX) || flock(fd, LOCK_UN))
			return 1;
	return 0;
}

static int storm(int n, int (*each)(const char *), const char *path)
{
	int all = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(each(path));
		if (pid < 0)
			all = 1;
	}
	for (int status; wait(&status) > 0;)
		all |= status != 0;
	remove(path);
	return all;
}

static int flock_storm(int n)
{
	char path[] = "/tmp/kontend-lock-load-XXXXXX";

	return mkstemp(path) < 0 ? 1 : storm(n, flock_rounds, path);
}

static int rename_storm(int n)
{
	char path[] = "/tmp/kontend-lock-load-XXXXXX";

	return mkdtemp(path) ? storm(n, rename_rounds, path) : 1;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[2]) : 0;

	rounds = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	if (n < 1 || n > MOST || rounds < 1)
		return 2;
	if (strcmp(argv[1], "rename") == 0)
		return rename_storm(n);
	return strcmp(argv[1], "flock") == 0 ? flock_storm(n) : futex_storm(n);
}
