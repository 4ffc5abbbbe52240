/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_MM_INT_H
#define KONTEND_BENCH_MM_INT_H

#include "kontend/bench-mm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Definitions that the files of these workloads share. */

enum bench_mm_gate_state { GATE_CLOSED, GATE_OPEN, GATE_GIVE_UP };

struct bench_mm_gate {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	enum bench_mm_gate_state state;
	uint32_t waiting; /* number of threads at the gate */
};

struct bench_mm_job;

struct bench_mm_worker {
	pthread_t thread;
	struct bench_mm_job *job;
	int cpu;
	char *part; /* page-fault: the first of its pages; with growsdown the last one */
	int code;   /* 0 or a negative errno */
};

/* Events that count the acquisitions of this process: bench-mm-locks.c. */
struct bench_mm_counter;
void bench_mm_counter_switch(const struct bench_mm_counter *c, bool on);

struct bench_mm_job {
	struct bench_mm_gate gate;
	int (*work)(struct bench_mm_worker *w);
	uint64_t bytes; /* of a thread's part */
	uint64_t rounds;
	size_t page;
	uint32_t threads;
	struct bench_mm_worker *workers;
	char *all; /* page-fault: the mapping, and its length with parts that are not touched */
	uint64_t all_bytes;
	const struct bench_mm_counter *counter; /* NULL: nothing is counted */
};

/* bench-mm-modes.c: maps the memory for the workers of @j and sets their `part`; touches it. */
struct bench_mm_way {
	const char *name;
	int (*map)(struct bench_mm_job *j); /* 0 or a negative errno */
	int (*touch)(struct bench_mm_worker *w);
};

extern const struct bench_mm_way bench_mm_ways[BENCH_MM_MODES];
void bench_mm_touch(char *from, uint64_t bytes, size_t page);

/* bench-mm.c: the same as bench_mm_fault(), and counts acquisitions of the mmap_lock. */
int bench_mm_run(const struct bench_mm_options *o, const struct bench_mm_counter *counter,
		 struct bench_mm_result *ret, struct error *err);

#endif
