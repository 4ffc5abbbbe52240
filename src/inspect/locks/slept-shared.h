/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the programs that sum up sleeps in state D. Included by both sides:
 * plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_SLEPT_SHARED_H
#define KONTEND_INSPECT_LOCKS_SLEPT_SHARED_H

#include "ns-shared.h"

enum {
	RAW_SLEPT = 4096, /* sums by process and chain, and again by chain alone */
	RAW_SLEPT_CHAINS = 4096,
	RAW_SLEPT_FRAMES = 24,
};

/* As in locksnap-sleepers.h. */
enum raw_slept_kind { RAW_SLEPT_IO = 3, RAW_SLEPT_DISK };

/* @pid 0: of all processes for which there was no room. */
struct raw_slept_key {
	unsigned long long chain; /* hash of its frames; 0: not known */
	int pid;
	unsigned int kind; /* enum raw_slept_kind */
};

struct raw_slept_chain {
	unsigned int n, pad; /* frames, the innermost call first */
	unsigned long long frames[RAW_SLEPT_FRAMES];
};

struct raw_slept_sum {
	unsigned long long sleeps, total_ns, max_ns;
	int waker, pad; /* thread on the CPU that ended the last one; 0: the idle task */
	char waker_comm[16];
	char comm[16]; /* of the process */
};

/* The sleep that a task is in. */
struct raw_slept_now {
	unsigned long long since_ns; /* 0: in none */
	unsigned long long chain;
	unsigned int kind, pad;
};

struct raw_slept_state {
	unsigned long long dropped; /* sleeps that are in no sum, or of tasks without storage */
};

struct raw_slept_config {
	struct ns_config ns;
};

#endif
