/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the programs of created.bpf.c and user space: plain C types only. */
#ifndef KONTEND_INSPECT_CREATED_SHARED_H
#define KONTEND_INSPECT_CREATED_SHARED_H

#include "ns-shared.h"

enum {
	CREATED_PROCESSES = 4096,
	CREATED_CPUS = 1024,
	CREATED_POOLS = 2,
};

/* A process, by its first thread: numbers are used again. */
struct created_key {
	unsigned long long start_ns;
	unsigned int tgid, pad;
};

/* Breakpoints that it has created since the programs were attached. */
struct created_process {
	unsigned long long opened, inherited, refused;
	int pid;
	char comm[16];
};

/* Set by user space when it loads the programs. Constant for them. */
struct created_config {
	struct ns_config ns;
	unsigned long long off_info; /* bp_cpuinfo in the per-CPU section */
	unsigned int info_stride, info_cpu_pinned;
	unsigned int pools;	     /* 1 or 2; 0: slots are not known */
	unsigned int n_cpus;	     /* possible ones */
	int perf_event_open, ptrace; /* numbers of the system calls */
};

struct created_state {
	unsigned long long bases[CREATED_CPUS];		/* of the per-CPU sections; 0: not known */
	unsigned int most[CREATED_CPUS][CREATED_POOLS]; /* slots taken at a time */
	unsigned int most_of_task[CREATED_POOLS];	/* for any CPU */
	unsigned int is_pinned;	    /* some CPU has, or had, breakpoints of its own */
	unsigned long long dropped; /* of processes for which there was no room */
};

#endif
