// SPDX-License-Identifier: GPL-2.0-only
/*
 * story-preempt ROUNDS BURST_MS SIZE_MB: a holder that is kept off its CPU. E writes SIZE_MB at
 * once into a file in memory, for which it has the lock of the inode all the time, and spends that
 * time copying. F, on another CPU, writes a byte there and waits for E. Then a task of real-time
 * priority uses E's CPU for BURST_MS, and E is as runnable as it ever was. A kernel that is not
 * preemptible lets it in between two pages.
 *
 * Prints a "round" each: when E's call was on, how long of that it ran and how long it was kept off
 * its CPU (its schedstat), when F's was on, and when the task that kept E off reports it ran.
 */
#include "tell.h"

#include <inttypes.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_US = 100, APART_US = 20000, AHEAD_US = 1000, HOLDER_CPU = 0, WAITER_CPU = 1 };

struct span {
	volatile uint64_t from, to;
};

struct actor {
	void (*act)(void);
	int cpu, priority;
	volatile pid_t tid;
	sem_t go, done;
	struct span span;
	struct tell_sched used;
};

enum { E, F, HOG, ACTORS };

struct round {
	struct span spans[ACTORS];
	struct tell_sched used;
};

static int file;
static char *data;
static size_t size;
static uint64_t burst_ns;

static void write_all(void)
{
	if (pwrite(file, data, size, 0) != (ssize_t)size)
		tell_fail("write of all");
}

static void write_one(void)
{
	if (pwrite(file, data, 1, 0) != 1)
		tell_fail("write of a byte");
}

static void burn(void)
{
	uint64_t until = tell_now() + burst_ns;

	while (tell_now() < until)
		;
}

static struct actor actors[ACTORS] = {
	{.act = write_all, .cpu = HOLDER_CPU},
	{.act = write_one, .cpu = WAITER_CPU},
	{.act = burn, .cpu = HOLDER_CPU, .priority = 1},
};

static void *actor_main(void *arg)
{
	struct actor *a = arg;
	struct sched_param p = {.sched_priority = a->priority};

	tell_pin(a->cpu);
	if (a->priority && sched_setscheduler(0, SCHED_FIFO, &p))
		tell_skip("no real-time priority to be had");
	a->tid = tell_tid();
	for (;;) {
		while (sem_wait(&a->go))
			;
		struct tell_sched before = tell_sched();
		a->span.from = tell_now();
		a->act();
		a->span.to = tell_now();
		struct tell_sched after = tell_sched();
		a->used = (struct tell_sched){after.ran_ns - before.ran_ns,
					      after.runnable_ns - before.runnable_ns};
		sem_post(&a->done);
	}
	return NULL;
}

static void start_actors(void)
{
	for (int i = 0; i < ACTORS; i++) {
		if (sem_init(&actors[i].go, 0, 0) || sem_init(&actors[i].done, 0, 0))
			tell_fail("sem_init");
		tell_thread(actor_main, &actors[i]);
		while (!actors[i].tid)
			usleep(LOOK_US);
	}
}

static void let(struct actor *a)
{
	a->span.from = 0;
	sem_post(&a->go);
	while (!a->span.from)
		usleep(LOOK_US);
}

/* The hog is asleep until it is let, and from a CPU that is not E's. */
static void play(struct round *r)
{
	let(&actors[E]);
	usleep(AHEAD_US);
	let(&actors[F]);
	usleep(AHEAD_US);
	let(&actors[HOG]);
	for (int i = 0; i < ACTORS; i++) {
		while (sem_wait(&actors[i].done))
			;
		r->spans[i] = actors[i].span;
	}
	r->used = actors[E].used;
}

static void print_round(const struct round *r)
{
	printf("round holder=%d waiter=%d hog=%d", (int)actors[E].tid, (int)actors[F].tid,
	       (int)actors[HOG].tid);
	printf(" hold_from=%" PRIu64 " hold_to=%" PRIu64 " ran=%" PRIu64 " runnable=%" PRIu64,
	       r->spans[E].from, r->spans[E].to, r->used.ran_ns, r->used.runnable_ns);
	printf(" wait_from=%" PRIu64 " wait_to=%" PRIu64 " hog_from=%" PRIu64 " hog_to=%" PRIu64
	       "\n",
	       r->spans[F].from, r->spans[F].to, r->spans[HOG].from, r->spans[HOG].to);
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[1]) : 0;

	burst_ns = argc == 4 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	size = argc == 4 ? strtoul(argv[3], NULL, 10) << 20 : 0;
	if (n < 1 || !burst_ns || !size)
		return 2;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		tell_skip("one CPU alone");
	alarm(120);
	file = memfd_create("story-preempt", MFD_CLOEXEC);
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0);
	struct round *rounds = calloc((size_t)n, sizeof(*rounds));
	if (file < 0 || data == MAP_FAILED || !rounds)
		tell_fail("memory");
	write_all(); /* the pages are there from now on */
	start_actors();
	tell_pin(WAITER_CPU);
	for (int i = 0; i < n; i++) {
		usleep(APART_US);
		play(&rounds[i]);
	}
	for (int i = 0; i < n; i++)
		print_round(&rounds[i]);
	free(rounds);
	return 0;
}
