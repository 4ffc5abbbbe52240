// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-places ROUNDS
 *
 * Threads that contend for what no layout shows to be a lock: a semaphore that they use as one, in
 * two functions, and one that processes share. Each thread measures its own waits; a line for each:
 * type, variable, waits of at least 50 us, their time in ns. Beside them a thread waits for work
 * that another one hands out by a semaphore, and one at a barrier, which are no locks.
 */
#include "user-mutex.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, PROCESSES = 3, HOLD_US = 1000, LEAST_NS = 50000 };

static sem_t exclusive, work;
static pthread_barrier_t barrier;
static _Atomic int ended;
static int rounds;

static struct sum {
	_Atomic unsigned long long n, ns;
} own, *common;

/* In memory that processes share. */
static struct {
	sem_t shared;
	struct sum sum;
} * memory;

static void pass(sem_t *s, struct sum *sum)
{
	unsigned long long begin = now_ns();

	get(sem_wait(s) < 0 ? errno : 0, "sem_wait");
	unsigned long long took = now_ns() - begin;
	if (took >= LEAST_NS) {
		sum->n++;
		sum->ns += took;
	}
	usleep(HOLD_US);
	get(sem_post(s) < 0 ? errno : 0, "sem_post");
	usleep(HOLD_US / 4);
}

static void *pass_here(void *arg)
{
	for (int i = 0; i < rounds; i++)
		pass(&exclusive, &own);
	return arg;
}

/* Other calls lead to the same place. */
static void *pass_there(void *arg)
{
	for (int i = 0; i < rounds; i += 2) {
		pass(&exclusive, &own);
		pass(&exclusive, &own);
	}
	return arg;
}

static void *wait_for_work(void *arg)
{
	while (!ended)
		get(sem_wait(&work) < 0 ? errno : 0, "work");
	return arg;
}

static void *hand_out_work(void *arg)
{
	while (!ended) {
		usleep(HOLD_US);
		get(sem_post(&work) < 0 ? errno : 0, "work");
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static void *wait_at_barrier(void *arg)
{
	while (!ended)
		pthread_barrier_wait(&barrier);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	rounds = argc == 2 ? atoi(argv[1]) : 0;
	if (rounds <= 0) {
		fprintf(stderr, "usage: user-places ROUNDS\n");
		return 2;
	}
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		get(errno, "mmap");
	common = &memory->sum;
	get(sem_init(&exclusive, 0, 1) < 0 ? errno : 0, "sem_init");
	get(sem_init(&work, 0, 0) < 0 ? errno : 0, "sem_init");
	get(sem_init(&memory->shared, 1, 1) < 0 ? errno : 0, "sem_init");
	get(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	for (int k = 0; k < PROCESSES; k++) {
		pid_t child = fork();
		get(child < 0 ? errno : 0, "fork");
		for (int i = 0; !child && i < rounds; i++)
			pass(&memory->shared, common);
		if (!child)
			_exit(0);
	}
	begin(wait_for_work, NULL);
	begin(hand_out_work, NULL);
	begin(wait_at_barrier, NULL);
	for (int k = 0; k < THREADS; k++)
		threads[k] = begin(k % 2 ? pass_here : pass_there, NULL);
	for (int k = 0; k < THREADS; k++)
		pthread_join(threads[k], NULL);
	while (wait(NULL) > 0)
		;
	printf("sem(u) exclusive %llu %llu\n", own.n, own.ns);
	printf("sem(u) - %llu %llu\n", common->n, common->ns);
	fflush(stdout);
	_exit(0);
}
