/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_CHURN_H
#define KONTEND_BENCH_CHURN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Processes, one a CPU, with breakpoints that threads inherit: a turn starts and joins so many
 * threads in each of them.
 */
enum { CHURN_PROCESSES = 16 };

struct churn {
	pid_t pids[CHURN_PROCESSES];
	int go[CHURN_PROCESSES], done[CHURN_PROCESSES];
	int n;
	long threads;	 /* of each process, in a turn */
	int breakpoints; /* that each of them inherits */
	/* The address that all of them watch. */
	uint64_t addr, len;
	uint32_t rwx;
};

uint64_t churn_ns(clockid_t clock);
/* Negative when no breakpoint can be had; it has printed the reason. */
int churn_start(struct churn *c, long threads);
/* Does the work once; CPU time of it, ns. */
uint64_t churn_turn(struct churn *c);
void churn_stop(struct churn *c);

/* Breakpoints that a turn makes. */
static inline long churn_breakpoints(const struct churn *c)
{
	return c->n * c->threads * c->breakpoints;
}

static inline bool churn_has(const struct churn *c, pid_t pid)
{
	for (int i = 0; i < c->n; i++)
		if (c->pids[i] == pid)
			return true;
	return false;
}

#endif
