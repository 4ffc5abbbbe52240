// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contention events as fast as this machine makes them: threads that write and read a byte each of
 * one pipe, whose mutex is taken for a moment only, so that they meet at it all the time. Each
 * thread reads what it or another one has written, so none ever blocks on the pipe itself.
 * Called as: pipe-storm THREADS ROUNDS.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct storm {
	int fds[2];
	long rounds;
};

static void *churn(void *arg)
{
	const struct storm *s = arg;
	char byte = 0;

	for (long i = 0; i < s->rounds; i++)
		if (write(s->fds[1], &byte, 1) != 1 || read(s->fds[0], &byte, 1) != 1)
			return arg;
	return NULL;
}

int main(int argc, char **argv)
{
	struct storm s = {.rounds = argc > 2 ? atol(argv[2]) : 0};
	pthread_t threads[64];
	int n = argc > 1 ? atoi(argv[1]) : 0, failed = 0;
	void *answer;

	if (n < 1 || n > 64 || s.rounds < 1 || pipe(s.fds)) {
		fprintf(stderr, "pipe-storm THREADS ROUNDS: up to 64 threads\n");
		return 2;
	}
	for (int i = 0; i < n; i++)
		failed |= pthread_create(&threads[i], NULL, churn, &s);
	for (int i = 0; i < n && !failed; i++) {
		pthread_join(threads[i], &answer);
		failed |= answer != NULL;
	}
	return failed != 0;
}
