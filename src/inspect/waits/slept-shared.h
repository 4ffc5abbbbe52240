/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the programs that sum up sleeps in state D. Included by both sides:
 * plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_WAITS_SLEPT_SHARED_H
#define KONTEND_INSPECT_WAITS_SLEPT_SHARED_H

#include "ns-shared.h"

enum {
	RAW_SLEPT = 4096, /* sums by process and chain, and again by chain alone */
	RAW_SLEPT_CHAINS = 4096,
	RAW_SLEPT_FRAMES = 24, /* as many as a record has: sleeprec.h; */
	RAW_SLEPT_USER = 32,   /* and of the program */
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
	unsigned int kind, epoch;
	unsigned int n_user, user; /* frames of the program; enum waitrec_user */
	unsigned long long frames[RAW_SLEPT_USER];
};

/* How much of it is done: see slept-price.h. */
enum raw_slept_level { RAW_SLEPT_ALL, RAW_SLEPT_LONG_CHAINS, RAW_SLEPT_OFF };

struct raw_slept_state {
	unsigned long long dropped; /* sleeps that are in no sum, or of tasks without storage */
	unsigned long long records, missed; /* written; not written, as there was no room or ring */
	unsigned long long busy_ns;	    /* for begins and ends of sleeps */
	unsigned long long now, now_ns; /* tasks that sleep, and for how long: by sleeping_tasks */
	unsigned long long given, refused; /* tasks with storage, and without: by old_tasks */
	/* Set by user space: enum raw_slept_level, and a number of the attachment. */
	unsigned int level, epoch;
};

struct raw_slept_config {
	struct ns_config ns;
	unsigned long long min_ns;  /* of sleeps with a record; 0: none has one */
	unsigned long long long_ns; /* of sleeps with a chain, where not all have one */
};

#endif
