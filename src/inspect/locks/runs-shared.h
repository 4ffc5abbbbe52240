/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by runs.bpf.c and runs.c: how the scheduler treats holders and waiters of locks. Plain C
 * types only, and sizes that are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_RUNS_SHARED_H
#define KONTEND_INSPECT_LOCKS_RUNS_SHARED_H

#include "ns-shared.h"
#include "path-shared.h"

enum { RAW_RUNS = 256 };

/* The task that has the CPU where another one is runnable. */
struct raw_run_off {
	int pid, tid; /* 0: none, or kontend, which has one as it looks */
	unsigned int policy, rt_priority;
	int prio;
	char comm[16];
	unsigned int pad;
};

struct raw_run {
	int tid;	   /* asked for; */
	unsigned int seen; /* the following has been read */
	unsigned int policy, rt_priority;
	int prio, normal_prio; /* the kernel's: the lower, the sooner it runs */
	int nice;
	int cpu; /* current or last CPU */
	unsigned int on_cpu, runnable;
	unsigned int cpus;		  /* on which it may run; 0: not known */
	unsigned int limited;		  /* a cgroup throttles it: */
	unsigned long long throttled;	  /* ns so far, at least */
	unsigned long long quota, period; /* ns of CPU time in each; 0: not known */
	struct raw_path limit;		  /* the cgroup */
	struct raw_run_off off;
};

struct raw_runs_config {
	unsigned int self;
	unsigned int pad;
	struct ns_config ns;
};

struct raw_runs_state {
	unsigned int torn, pad;
};

#endif
