/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the program that counts tasks asleep for other things than kernel locks.
 * Included by both sides: plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_SLEEPERS_SHARED_H
#define KONTEND_INSPECT_LOCKS_SLEEPERS_SHARED_H

#include "ns-shared.h"

enum { RAW_SLEEPERS = 8192, RAW_SLEEPER_IDS = 1024, RAW_SLEEPER_CPUS = 1024 };

/* Kinds as in locksnap-items.h. */
enum raw_sleeper_kind { RAW_FUTEX = 1, RAW_FILE_LOCK, RAW_IO, RAW_DISK };

/* Tasks of one process that came one after the other; a process may have several of a kind. */
struct raw_sleepers {
	int pid;
	unsigned int kind;
	unsigned int tasks, idle;
	char comm[16]; /* of the process */
};

enum raw_sleeper_scope { RAW_SCOPE_ALL, RAW_SCOPE_PIDS, RAW_SCOPE_TIDS, RAW_SCOPE_CGROUP };

struct raw_sleepers_state {
	unsigned int n, dropped; /* rows; tasks for which there was none */
	unsigned int scope;	 /* enum raw_sleeper_scope */
	unsigned int by_cpu;	 /* only tasks that ran last on a CPU of `cpus` */
	unsigned long long cgroup;
	unsigned long long since_ns; /* children that began later are measured as well; monotonic */
	unsigned long long long_ns;  /* a task that sleeps in a futex for longer is idle */
	unsigned long long timed_ns; /* the same, where the call has a timeout */
};

struct raw_sleepers_config {
	/* Numbers of system calls; 0xffffffff: there is none here. */
	unsigned int futex, futex_wait, futex_waitv, flock, fcntl;
	unsigned int self;
	struct ns_config ns;
};

#endif
