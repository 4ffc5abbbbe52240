// SPDX-License-Identifier: GPL-2.0-only
/*
 * shop - a chain of waits from requests to a disk, for a picture: four threads that answer requests
 * wait for the mutex of a cache, the thread that reloads the cache has it and waits for a lock
 * file, and another process has that and writes to the disk.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	long entries;
} cache = {PTHREAD_MUTEX_INITIALIZER, 0};

static void __attribute__((noinline)) handle_request(void)
{
	pthread_mutex_lock(&cache.lock);
	cache.entries++;
	pthread_mutex_unlock(&cache.lock);
}

static void *answer(void *unused)
{
	for (;;) {
		handle_request();
		usleep(20000);
	}
	return unused;
}

static void __attribute__((noinline)) reload_cache(int fd)
{
	pthread_mutex_lock(&cache.lock);
	flock(fd, LOCK_EX);
	cache.entries = 0;
	flock(fd, LOCK_UN);
	pthread_mutex_unlock(&cache.lock);
}

static void *reload(void *unused)
{
	int fd = open("catalog.lock", O_RDWR | O_CREAT, 0600);

	for (;;) {
		usleep(100000);
		reload_cache(fd);
	}
	return unused;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void __attribute__((noinline)) write_catalog(int lock, int out, double seconds)
{
	static char rows[64 << 10] __attribute__((aligned(4096)));

	flock(lock, LOCK_EX);
	for (double end = now() + seconds; now() < end;)
		if (pwrite(out, rows, sizeof(rows), 0) < 0)
			exit(1);
	flock(lock, LOCK_UN);
}

/* The first two are short: kontend reads the tables of a place in the program after its first wait.
 */
static void import(void)
{
	int lock = open("catalog.lock", O_RDWR | O_CREAT, 0600);
	int out = open("catalog.db", O_RDWR | O_CREAT | O_DIRECT | O_DSYNC, 0600);
	static const double seconds[] = {0.1, 0.1, 6};

	prctl(PR_SET_NAME, "importer");
	for (int i = 0; i < 3; i++) {
		write_catalog(lock, out, seconds[i]);
		usleep(300000);
	}
}

int main(void)
{
	pid_t child = fork();

	if (child == 0) {
		import();
		return 0;
	}
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, i ? answer : reload, NULL) != 0)
			return 1;
		pthread_setname_np(thread, i ? "shop-worker" : "shop-reload");
	}
	waitpid(child, NULL, 0);
	return 0;
}
