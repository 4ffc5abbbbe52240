// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes its mmap_lock for writing a known number of times: each thread maps and unmaps a page
 * ROUNDS times, and touches nothing. The acquisitions at the start are the same whatever ROUNDS is.
 *
 *     mm-work THREADS ROUNDS FILE      writes its process id to FILE
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS_MOST = 16 };

static void *work(void *arg)
{
	const long *rounds = arg;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);

	for (long i = 0; i < *rounds; i++) {
		void *p = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || munmap(p, len) < 0)
			abort();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MOST];
	long n = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	long rounds = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	FILE *out = argc == 4 ? fopen(argv[3], "w") : NULL;

	if (n < 1 || n > THREADS_MOST || !out) {
		fputs("usage: mm-work THREADS ROUNDS FILE\n", stderr);
		return 1;
	}
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, &rounds) != 0)
			return 1;
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	fprintf(out, "%d\n", (int)getpid());
	return fclose(out) != 0;
}
