/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_BREAKPOINT_H
#define KONTEND_BENCH_BREAKPOINT_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The cost of the accounting of breakpoint slots, as `perf bench breakpoint thread` measures it: a
 * process opens inherited breakpoints, and some of its threads then create other threads, which all
 * have the breakpoints, and join them. The same without breakpoints is the ideal.
 */
struct bench_breakpoint_options {
	uint32_t breakpoints; /* of each thread; 0: none */
	uint32_t parallelism; /* threads that create others at the same time */
	uint32_t threads;     /* number of threads that one of them creates, and then joins, at a
			       * time */
	uint32_t repeat;      /* repetitions in a run, by whichever thread is free */
	bool fewer;	      /* if there are fewer slots, use as many as there are */
};

/* A workload process that waits for a command to run. `= {0}` is none. */
struct bench_breakpoint {
	pid_t pid;
	int fd; /* for commands and answers */
	uint32_t breakpoints;
};

/*
 * On return its breakpoints are open and its threads are running. 0; -ENOSPC: not enough slots;
 * -EOPNOTSUPP: this machine has no breakpoints; others, with @err.
 */
int bench_breakpoint_start(struct bench_breakpoint *b, const struct bench_breakpoint_options *o,
			   struct error *err);
/* One run, and its duration. */
int bench_breakpoint_run(struct bench_breakpoint *b, uint64_t *ret_ns, struct error *err);
void bench_breakpoint_stop(struct bench_breakpoint *b);

/* The sum of all runs; an operation is a thread that was created and joined. */
struct bench_breakpoint_sum {
	double usecs_op, usecs_op_cpu; /* as perf prints them: averages; the second one is
					* multiplied by the threads that create in parallel */
	double median, deviation;      /* of the runs' usecs/op */
};

/* Sorts @ns. 0 or -ENOMEM. */
int bench_breakpoint_sum(uint64_t *ns, size_t n, const struct bench_breakpoint_options *o,
			 struct bench_breakpoint_sum *ret);
/* The smallest of @n sorted values that @percent of them do not exceed; 0 if there are none. */
uint64_t bench_breakpoint_percentile(const uint64_t *sorted, size_t n, double percent);

/*
 * The time to open (perf_event_open) and close a breakpoint while several threads do so: for their
 * own task, which takes the lock of the slots as a reader, and for a CPU, as a writer.
 */
enum bench_breakpoint_target {
	BENCH_BREAKPOINT_TASK,
	BENCH_BREAKPOINT_CPU,
	BENCH_BREAKPOINT_TARGETS
};

struct bench_breakpoint_latency {
	uint64_t n; /* breakpoints that were opened and closed; 0: no threads of this target */
	uint64_t open_p50_ns, open_p99_ns, close_p50_ns, close_p99_ns;
};

/*
 * Runs that many threads of each target at the same time, for @ns or some thousand breakpoints
 * each; those of CPUs use one CPU after the other. -ENOSPC: a CPU has no free slot; -EACCES: the
 * kernel lets this user open none; others, with @err.
 */
int bench_breakpoint_latency(const uint32_t threads[BENCH_BREAKPOINT_TARGETS], uint64_t ns,
			     struct bench_breakpoint_latency ret[BENCH_BREAKPOINT_TARGETS],
			     struct error *err);

#endif
