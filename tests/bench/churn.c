// SPDX-License-Identifier: GPL-2.0-only
/* Work of a known amount that makes many breakpoints a second: see churn.h. */
#include "churn.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BREAKPOINTS = 4, PARALLEL = 2 };

static volatile long watched;

uint64_t churn_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_breakpoint(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *idle(void *arg)
{
	return arg;
}

static void work(long threads)
{
	pthread_t t[PARALLEL];

	for (long i = 0; i < threads; i += PARALLEL) {
		for (int k = 0; k < PARALLEL; k++)
			if (pthread_create(&t[k], NULL, idle, NULL))
				_exit(1);
		for (int k = 0; k < PARALLEL; k++)
			pthread_join(t[k], NULL);
	}
}

/* Prints how many breakpoints it has, then, for each byte, the CPU time of the work. */
static void serve(long threads, int go, int done)
{
	uint64_t said = 0;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (said < BREAKPOINTS && open_breakpoint() >= 0)
		said++;
	while (write(done, &said, sizeof(said)) == sizeof(said) && read(go, &byte, 1) == 1) {
		uint64_t from = churn_ns(CLOCK_PROCESS_CPUTIME_ID);
		work(threads);
		said = churn_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
	}
	_exit(0);
}

static uint64_t answer(const struct churn *c, int i)
{
	uint64_t said;

	return read(c->done[i], &said, sizeof(said)) == sizeof(said) ? said : 0;
}

static int start_one(struct churn *c)
{
	int go[2], done[2], i = c->n;

	if (pipe(go) < 0 || pipe(done) < 0)
		return -1;
	fflush(stdout);
	c->pids[i] = fork();
	if (c->pids[i] == 0) {
		close(go[1]);
		close(done[0]);
		serve(c->threads, go[0], done[1]);
	}
	close(go[0]);
	close(done[1]);
	c->go[i] = go[1];
	c->done[i] = done[0];
	c->n++;
	uint64_t has = answer(c, i);
	/* All have as many as the first, or what they do would not be the same. */
	if (i == 0)
		c->breakpoints = (int)has;
	return has && (int)has == c->breakpoints ? 0 : -1;
}

int churn_start(struct churn *c, long threads)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*c = (struct churn){
		.threads = threads,
		.addr = (uintptr_t)&watched,
		.len = HW_BREAKPOINT_LEN_1,
		.rwx = HW_BREAKPOINT_RW,
	};
	for (long i = 0; i < cpus && i < CHURN_PROCESSES; i++)
		if (start_one(c) < 0) {
			printf("skipped: no breakpoint slots are free\n");
			churn_stop(c);
			return -1;
		}
	return 0;
}

uint64_t churn_turn(struct churn *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < c->n; i++)
		if (write(c->go[i], "", 1) != 1)
			return 0;
	for (int i = 0; i < c->n; i++)
		sum += answer(c, i);
	return sum;
}

void churn_stop(struct churn *c)
{
	for (int i = 0; i < c->n; i++) {
		kill(c->pids[i], SIGKILL);
		close(c->go[i]);
		close(c->done[i]);
		waitpid(c->pids[i], NULL, 0);
	}
	c->n = 0;
}
