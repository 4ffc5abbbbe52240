// SPDX-License-Identifier: GPL-2.0-only
/*
 * user-frames FILE SECONDS: two threads lock FILE in turns, each by its own descriptor, for half a
 * millisecond, from a function below two others; and two wait for a mutex of the program in the
 * same way. It is built with frame pointers and without.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_US = 500, PAUSE_US = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *path;
static time_t until;

static __attribute__((noinline)) int take_file_lock(int fd)
{
	int r = flock(fd, LOCK_EX);

	usleep(HOLD_US);
	return r | flock(fd, LOCK_UN);
}

static __attribute__((noinline)) int commit_log(int fd)
{
	int r = take_file_lock(fd);

	usleep(PAUSE_US);
	return r + 1;
}

static void *file_thread(void *arg)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	while (fd >= 0 && time(NULL) < until)
		commit_log(fd);
	return arg;
}

static __attribute__((noinline)) int take_mutex(void)
{
	int r = pthread_mutex_lock(&mutex);

	usleep(HOLD_US);
	return r | pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int update_row(void)
{
	int r = take_mutex();

	usleep(PAUSE_US);
	return r + 1;
}

static void *mutex_thread(void *arg)
{
	while (time(NULL) < until)
		update_row();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[4];

	if (argc != 3)
		return 2;
	path = argv[1];
	until = time(NULL) + atoi(argv[2]) + 1;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, i < 2 ? file_thread : mutex_thread, NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
