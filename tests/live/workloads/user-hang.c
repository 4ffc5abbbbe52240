// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hangs, as programs do: two threads that have a mutex each and wait for that of the other one, and
 * one that sleeps with a mutex for which another one waits. Prints a line for each of these threads
 * as soon as all sleep: its number, the mutex that it has and the one that it waits for, "-": none.
 * Ends at the end of its input.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

pthread_mutex_t hang_a = PTHREAD_MUTEX_INITIALIZER, hang_b = PTHREAD_MUTEX_INITIALIZER,
		slept_in = PTHREAD_MUTEX_INITIALIZER;

struct one {
	const char *has, *wants;
	pthread_mutex_t *first, *then;
	pid_t tid;
};

enum { THREADS = 4 };

static struct one threads[THREADS] = {
	{"hang_a", "hang_b", &hang_a, &hang_b, 0},
	{"hang_b", "hang_a", &hang_b, &hang_a, 0},
	{"slept_in", "-", &slept_in, NULL, 0},
	{"-", "slept_in", NULL, &slept_in, 0},
};
static sem_t began;
static pthread_barrier_t all_have;

static void *run(void *arg)
{
	struct one *o = arg;

	o->tid = (pid_t)syscall(SYS_gettid);
	if (o->first)
		pthread_mutex_lock(o->first);
	pthread_barrier_wait(&all_have);
	sem_post(&began);
	if (o->then)
		pthread_mutex_lock(o->then);
	for (;;)
		sleep(1000);
	return NULL;
}

/* In futex(2), or in nanosleep(2): in state S with the call that it is to be in. */
static int is_asleep(const struct one *o)
{
	char path[64], text[32] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)o->tid);
	FILE *f = fopen(path, "r");
	if (!f)
		return 0;
	int number = fscanf(f, "%31s", text) == 1 ? text[0] : 0;
	fclose(f);
	return number >= '0' && number <= '9';
}

int main(void)
{
	pthread_t t;

	sem_init(&began, 0, 0);
	pthread_barrier_init(&all_have, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, run, &threads[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		sem_wait(&began);
	for (int i = 0; i < THREADS; i++)
		while (!is_asleep(&threads[i]))
			usleep(1000);
	for (int i = 0; i < THREADS; i++)
		printf("%d %s %s\n", (int)threads[i].tid, threads[i].has, threads[i].wants);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
