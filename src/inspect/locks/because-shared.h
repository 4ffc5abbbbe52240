/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the program that finds for what blocked tasks wait. Included by both
 * sides: plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_BECAUSE_SHARED_H
#define KONTEND_INSPECT_LOCKS_BECAUSE_SHARED_H

#include "ns-shared.h"
#include "path-shared.h"

enum {
	RAW_BECAUSE = 1024, /* tasks of one pass: the first ones */
	RAW_SOUGHT = 16,    /* objects of which the file's user is sought */
	RAW_SOUGHT_FS = 1,  /* a FUSE connection; else a userfaultfd */
};

/* As in locksnap-items.h. */
enum raw_by_state { RAW_BY_RUNNING = 1, RAW_BY_RUNNABLE, RAW_BY_ASLEEP };

/* Another task, and if it is runnable the one that has its CPU. */
struct raw_by {
	int pid, tid, cpu;
	unsigned int state; /* enum raw_by_state */
	int off_pid, off_tid;
	int off_prio; /* real-time priority; 0: it has none */
	unsigned int pad;
	char comm[16], off_comm[16];
};

/* Objects of the blocked task with the same number. */
struct raw_because {
	int tid;	     /* of that task; 0: it was gone */
	unsigned int dev;    /* of a page, a buffer or a log: major << 20 | minor; 0: none */
	unsigned int sought; /* number of the object + 1 */
	unsigned int work;   /* 1: `by` is a worker that is to do `function` */
	char fs[16];	     /* type of the file system of that page */
	struct raw_by by;
	unsigned long long function;
	char queue[32];		      /* name of the workqueue */
	unsigned long long log, open; /* logs: that it waits for or writes; of an open handle */
	struct raw_path file, cgroup; /* of the page; that limits, freezes or throttles the task */
};

struct raw_sought {
	unsigned long long object;
	unsigned long long task; /* its user; 0: none was found */
	unsigned int kind, searched;
	int owner; /* process of the waiter: another user counts more */
	int pid;   /* of the user */
};

struct raw_because_state {
	unsigned int n; /* blocked tasks */
	unsigned int n_sought;
	unsigned int unsearched, pad; /* of the sought ones */
	struct raw_sought sought[RAW_SOUGHT];
};

struct raw_because_config {
	unsigned int self, pad;
	struct ns_config ns;
};

#endif
