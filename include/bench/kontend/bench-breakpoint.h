/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_BREAKPOINT_H
#define KONTEND_BENCH_BREAKPOINT_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the accounting of breakpoint slots costs, as `perf bench breakpoint thread` measures it: a
 * process opens breakpoints that are inherited, and threads of it that were started then create
 * others, which all have the breakpoints, and join them. The same without breakpoints is the ideal.
 */
struct bench_breakpoint_options {
	uint32_t breakpoints; /* of each thread; 0: none */
	uint32_t parallelism; /* threads that create others at the same time */
	uint32_t threads;     /* that one of them creates, and then joins, at a time */
	uint32_t repeat;      /* so often in a run, by whichever of them is free */
	bool fewer;	      /* where there are not so many slots, as many as there are will do */
};

/* A process of ours that waits for being told to run. `= {0}` is one that is not there. */
struct bench_breakpoint {
	pid_t pid;
	int fd; /* to tell it, and to be answered */
	uint32_t breakpoints;
};

/*
 * Its breakpoints are open and its threads are there when this returns. 0; -ENOSPC: no slots for
 * so many; -EOPNOTSUPP: this machine has no breakpoints; others, with @err.
 */
int bench_breakpoint_start(struct bench_breakpoint *b, const struct bench_breakpoint_options *o,
			   struct error *err);
/* One run: how long it took. */
int bench_breakpoint_run(struct bench_breakpoint *b, uint64_t *ret_ns, struct error *err);
void bench_breakpoint_stop(struct bench_breakpoint *b);

/* What the runs come to, a thread that was created and joined being an operation. */
struct bench_breakpoint_sum {
	double usecs_op, usecs_op_cpu; /* as perf gives them: averages, the second times those who
					  create in parallel */
	double median, deviation;      /* of the runs' usecs/op */
};

/* @ns is sorted by it. 0 or -ENOMEM. */
int bench_breakpoint_sum(uint64_t *ns, size_t n, const struct bench_breakpoint_options *o,
			 struct bench_breakpoint_sum *ret);
/* The smallest of @n sorted ones that @percent of them do not exceed; 0 of none. */
uint64_t bench_breakpoint_percentile(const uint64_t *sorted, size_t n, double percent);

/*
 * How long opening (perf_event_open) and closing a breakpoint takes, while several threads do so:
 * of their own task, which takes the lock of the slots as readers, and of a CPU, as writers.
 */
enum bench_breakpoint_target {
	BENCH_BREAKPOINT_TASK,
	BENCH_BREAKPOINT_CPU,
	BENCH_BREAKPOINT_TARGETS
};

struct bench_breakpoint_latency {
	uint64_t n; /* breakpoints that were opened and closed; 0: none were to be */
	uint64_t open_p50_ns, open_p99_ns, close_p50_ns, close_p99_ns;
};

/*
 * So many threads of each target at the same time, for @ns or some thousand breakpoints each, those
 * of CPUs each for the next CPU. -ENOSPC: a CPU has no free slot; -EACCES: the kernel lets this
 * user open none; others, with @err.
 */
int bench_breakpoint_latency(const uint32_t threads[BENCH_BREAKPOINT_TARGETS], uint64_t ns,
			     struct bench_breakpoint_latency ret[BENCH_BREAKPOINT_TARGETS],
			     struct error *err);

#endif
