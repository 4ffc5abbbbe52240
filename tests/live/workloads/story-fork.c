// SPDX-License-Identifier: GPL-2.0-only
/*
 * story-fork SIZE_MB THREADS ROUNDS: a process with much memory of its own that forks while its
 * threads fault in new pages. fork() copies page tables with mmap_lock held for writing, and with
 * every mapping marked as being written to, so that each fault of the meantime waits for it.
 *
 * The threads' new pages are small ones of a mapping of their own. A fault there leaves the lock of
 * its mapping for mmap_lock as soon as fork() has marked that one, which it does from low addresses
 * to high ones: this one is mapped after the large one, so that it lies below it. Their stacks are
 * mapped before, so that these lie above it, and writing there needs no fault while fork() is busy
 * with the large one: all that stalls is where the threads' clock readings are.
 *
 * Prints "memory": what it uses; a "fork" line a round, with how long the call took and how long of
 * that its thread ran and was kept off the CPU; a "stall" line for each fault that took more than
 * 1 ms and was on while fork() was.
 */
#include "tell.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MOST = 64,
	PAGE = 4096,
	AREA = 64 << 20,
	REST_US = 500,
	APART_US = 20000,
	SPARE_MB = 512,
	STALLS = 16
};

static const uint64_t STALL_NS = 1000000;

struct stall {
	pid_t tid;
	uint64_t from, to;
};

struct round {
	uint64_t from, to;
	struct tell_sched sched;
};

struct toucher {
	pthread_t thread;
	char *area;
	struct stall *stalls;
	size_t n, cap;
};

static volatile bool is_begun, is_over;

static void keep(struct toucher *t, uint64_t from, uint64_t to)
{
	if (t->n < t->cap)
		t->stalls[t->n++] = (struct stall){tell_tid(), from, to};
}

static void *touch(void *arg)
{
	struct toucher *t = arg;

	while (!is_begun)
		usleep(REST_US);
	for (size_t i = 0; !is_over; i = (i + 1) % (AREA / PAGE)) {
		uint64_t from = tell_now();
		*(volatile char *)(t->area + i * PAGE) = 1;
		uint64_t to = tell_now();
		if (to - from > STALL_NS)
			keep(t, from, to);
		usleep(REST_US);
	}
	return NULL;
}

static char *map(size_t len)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || madvise(p, len, MADV_NOHUGEPAGE))
		tell_fail("mmap");
	return p;
}

static size_t available_mb(void)
{
	char line[128];
	size_t kb = 0;
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %zu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb / 1024;
}

static void fork_once(struct round *r)
{
	struct tell_sched before = tell_sched();

	r->from = tell_now();
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	r->to = tell_now();
	struct tell_sched after = tell_sched();
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		tell_fail("fork");
	r->sched = (struct tell_sched){after.ran_ns - before.ran_ns,
				       after.runnable_ns - before.runnable_ns};
}

static void tell_round(const struct round *r, const struct toucher *all, int n)
{
	printf("fork tid=%d from=%" PRIu64 " to=%" PRIu64 " ran=%" PRIu64 " runnable=%" PRIu64 "\n",
	       (int)tell_tid(), r->from, r->to, r->sched.ran_ns, r->sched.runnable_ns);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < all[i].n; k++) {
			const struct stall *s = &all[i].stalls[k];
			if (s->from < r->to && s->to > r->from)
				printf("stall tid=%d from=%" PRIu64 " to=%" PRIu64 "\n",
				       (int)s->tid, s->from, s->to);
		}
}

static void run(const struct toucher *all, int n, struct round *rounds, int n_rounds)
{
	is_begun = true;
	for (int i = 0; i < n_rounds; i++) {
		usleep(APART_US);
		fork_once(&rounds[i]);
	}
	usleep(APART_US);
	is_over = true;
	for (int i = 0; i < n; i++)
		pthread_join(all[i].thread, NULL);
}

static void prepare(struct toucher *all, int n, int n_rounds, size_t len)
{
	for (int i = 0; i < n; i++) {
		all[i].cap = (size_t)n_rounds * STALLS;
		all[i].stalls = calloc(all[i].cap, sizeof(*all[i].stalls));
		if (!all[i].stalls)
			tell_fail("calloc");
		all[i].thread = tell_thread(touch, &all[i]);
	}
	char *large = map(len);
	for (size_t i = 0; i < len; i += PAGE)
		large[i] = 1;
	for (int i = 0; i < n; i++)
		all[i].area = map(AREA);
}

int main(int argc, char **argv)
{
	size_t mb = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	int n = argc == 4 ? atoi(argv[2]) : 0, n_rounds = argc == 4 ? atoi(argv[3]) : 0;
	static struct toucher all[MOST];

	if (mb < 1 || n < 1 || n > MOST || n_rounds < 1)
		return 2;
	if (available_mb() < mb + SPARE_MB)
		tell_skip("not that much memory is free");
	alarm(120);
	struct round *rounds = calloc((size_t)n_rounds, sizeof(*rounds));
	if (!rounds)
		tell_fail("calloc");
	prepare(all, n, n_rounds, mb << 20);
	run(all, n, rounds, n_rounds);
	printf("memory mb=%zu threads=%d\n", mb, n);
	for (int i = 0; i < n_rounds; i++)
		tell_round(&rounds[i], all, n);
	for (int i = 0; i < n; i++)
		free(all[i].stalls);
	free(rounds);
	return 0;
}
