// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine that drowns: many processes that lock files as fast as they can, while some read
 * /proc/locks, for which all of them have to wait; beside many threads that only sleep. Prints
 * "ready" and runs until its standard input ends.
 *
 *     drown FILE PROCESSES SLEEPERS
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signal.h>
#include <unistd.h>

enum { STACK_BYTES = 16384, READERS = 12 /* one in so many reads */ };

static _Noreturn void lock_and_unlock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (fd >= 0 && flock(fd, LOCK_EX) == 0 && flock(fd, LOCK_UN) == 0)
		;
	_exit(1);
}

static _Noreturn void read_locks(void)
{
	char buf[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			_exit(1);
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
}

static void *rest(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static bool start_sleepers(int n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, rest, NULL))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	char byte;

	if (argc != 4)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		pid_t pid = fork();
		if (pid == 0 && i % READERS == 0)
			read_locks();
		if (pid == 0)
			lock_and_unlock(argv[1]);
		if (pid < 0)
			return 1;
	}
	if (!start_sleepers(atoi(argv[3])))
		return 1;
	puts("ready");
	fflush(stdout);
	return read(STDIN_FILENO, &byte, 1) < 0;
}
