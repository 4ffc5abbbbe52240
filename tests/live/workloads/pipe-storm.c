// SPDX-License-Identifier: GPL-2.0-only
/*
 * A known number of contention events, whatever else the machine does. By turns: a holder takes the
 * mutex of a pipe and sleeps with it (slow-page.h), then all other threads come to it, then the
 * holder continues, and one after the other gets it, writes a byte and reads one. So each of them
 * waits once a turn at least; how often more depends on the scheduler and on the observers.
 * Therefore it counts events: counters of the kernel on every CPU report how many there
 * were, and the storm ends with the turn that has made EVENTS of them. It prints how many the
 * kernel had while it ran, in the whole system.
 *
 * Called as: pipe-storm THREADS EVENTS [PAUSE_US], the pause being between two turns.
 */
#include "slow-page.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_THREADS = 64, MOST_COUNTERS = 512, PAGE = 4096 };

struct storm {
	int fds[2], counters[MOST_COUNTERS], n_counters, n;
	uint64_t events, begin;
	long pause_us;
	struct slow_page page;
	pthread_barrier_t ready, done; /* without the holder, with it */
	sem_t hold, all_in;
	atomic_int in;
	bool over; /* changes while all wait at `ready` */
	atomic_bool failed;
};

static uint64_t count(struct storm *s)
{
	uint64_t sum = 0, n;

	for (int i = 0; i < s->n_counters; i++) {
		if (read(s->counters[i], &n, sizeof(n)) == (ssize_t)sizeof(n))
			sum += n;
		else
			s->failed = true;
	}
	return sum - s->begin;
}

static void take_out(struct storm *s)
{
	char byte;

	if (read(s->fds[0], &byte, 1) != 1)
		s->failed = true;
}

static void *wait_for_holder(void *arg)
{
	struct storm *s = arg;

	for (;;) {
		pthread_barrier_wait(&s->ready);
		if (s->over)
			return NULL;
		if (atomic_fetch_add(&s->in, 1) + 1 == s->n)
			sem_post(&s->all_in);
		if (write(s->fds[1], "x", 1) != 1)
			s->failed = true;
		take_out(s);
		pthread_barrier_wait(&s->done);
	}
}

static void *hold(void *arg)
{
	struct storm *s = arg;

	for (;;) {
		sem_wait(&s->hold);
		if (s->over)
			return NULL;
		if (write(s->fds[1], s->page.addr, 1) != 1)
			s->failed = true;
		take_out(s);
		pthread_barrier_wait(&s->done);
	}
}

static void turn(struct storm *s)
{
	s->in = 0;
	sem_post(&s->hold);
	if (slow_page_wait(&s->page))
		s->failed = true;
	pthread_barrier_wait(&s->ready);
	sem_wait(&s->all_in);
	if (slow_page_release(&s->page))
		s->failed = true;
	pthread_barrier_wait(&s->done);
	madvise(s->page.addr, PAGE, MADV_DONTNEED);
}

static uint64_t read_id(const char *event)
{
	static const char *const mounts[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	unsigned long long id = 0;
	char path[128];

	for (int i = 0; i < 2 && !id; i++) {
		snprintf(path, sizeof(path), "%s/events/lock/%s/id", mounts[i], event);
		FILE *f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &id) != 1)
			id = 0;
		if (f)
			fclose(f);
	}
	return id;
}

static bool open_counters(struct storm *s)
{
	static const char *const events[] = {"contention_begin", "contention_end"};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int i = 0; i < 2; i++) {
		struct perf_event_attr a = {.type = PERF_TYPE_TRACEPOINT,
					    .size = sizeof(a),
					    .config = read_id(events[i])};
		for (int cpu = 0; cpu < cpus && s->n_counters < MOST_COUNTERS; cpu++) {
			long fd =
				syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
			if (fd >= 0)
				s->counters[s->n_counters++] = (int)fd;
		}
	}
	s->begin = count(s);
	return s->n_counters && !s->failed;
}

static bool prepare(struct storm *s, pthread_t *threads)
{
	unsigned n = (unsigned)s->n;

	if (pipe(s->fds) || slow_page_uffd(&s->page, 1) || !open_counters(s) ||
	    sem_init(&s->hold, 0, 0) || sem_init(&s->all_in, 0, 0) ||
	    pthread_barrier_init(&s->ready, NULL, n + 1) ||
	    pthread_barrier_init(&s->done, NULL, n + 2))
		return false;
	for (int i = 0; i <= s->n; i++)
		if (pthread_create(&threads[i], NULL, i < s->n ? wait_for_holder : hold, s))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static struct storm s;
	pthread_t threads[MOST_THREADS + 1];

	s.n = argc > 2 ? atoi(argv[1]) : 0;
	s.events = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	s.pause_us = argc > 3 ? atol(argv[3]) : 0;
	if (s.n < 1 || s.n > MOST_THREADS || !s.events) {
		fprintf(stderr, "pipe-storm THREADS EVENTS [PAUSE_US]: up to 64 threads\n");
		return 2;
	}
	if (!prepare(&s, threads)) {
		perror("pipe-storm: a holder that sleeps, and counters");
		return 77;
	}
	while (count(&s) < s.events && !s.failed) {
		turn(&s);
		if (s.pause_us)
			usleep((useconds_t)s.pause_us);
	}
	printf("%llu\n", (unsigned long long)count(&s));
	s.over = true;
	sem_post(&s.hold);
	pthread_barrier_wait(&s.ready);
	for (int i = 0; i <= s.n; i++)
		pthread_join(threads[i], NULL);
	return s.failed;
}
