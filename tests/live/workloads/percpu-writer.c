// SPDX-License-Identifier: GPL-2.0-only
/*
 * percpu-writer DIR: tasks that wait for a percpu-rwsem because of its writers. Threads "reads"
 * lock and unlock a file of their own in DIR by flock(), which takes the rwsem of all file locks to
 * read; threads "writes" read /proc/locks, which takes it to write. Prints how often each kind did,
 * and how many threads there were.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { READERS = 64, WRITERS = 2, SECONDS = 3 };

static atomic_ulong n_reads, n_writes;
static atomic_bool over;
static const char *dir;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *reads(void *arg)
{
	char path[4096];

	prctl(PR_SET_NAME, "reads");
	snprintf(path, sizeof(path), "%s/%d", dir, (int)(intptr_t)arg);
	int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		fail(path);
	while (!over) {
		if (flock(file, LOCK_EX) < 0 || flock(file, LOCK_UN) < 0)
			fail("flock");
		n_reads++;
	}
	close(file);
	return NULL;
}

static void *writes(void *arg)
{
	char text[65536];

	(void)arg;
	prctl(PR_SET_NAME, "writes");
	while (!over) {
		int file = open("/proc/locks", O_RDONLY | O_CLOEXEC);
		if (file < 0)
			fail("/proc/locks");
		do /* each time it takes the rwsem */
			n_writes++;
		while (read(file, text, sizeof(text)) > 0);
		close(file);
		usleep(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[READERS + WRITERS];

	if (argc != 2)
		return 2;
	dir = argv[1];
	for (int i = 0; i < READERS + WRITERS; i++)
		if (pthread_create(&threads[i], NULL, i < READERS ? reads : writes,
				   (void *)(intptr_t)i))
			fail("thread");
	sleep(SECONDS);
	over = true;
	for (int i = 0; i < READERS + WRITERS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu %lu %d %d\n", (unsigned long)n_reads, (unsigned long)n_writes, READERS,
	       WRITERS);
	return 0;
}
