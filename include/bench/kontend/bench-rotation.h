/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_ROTATION_H
#define KONTEND_BENCH_ROTATION_H

#include "kontend/error.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * A workload for measuring with more events than there are counters: one thread bound to a CPU
 * streams through memory, and another one on the same CPU wakes up now and then, so that there are
 * context switches. The events count cycles, and the workload opens them itself.
 */
enum bench_rotation_case {
	BENCH_ROTATION_NONE,
	BENCH_ROTATION_SYSTEM,	/* events for each CPU, whichever task runs there */
	BENCH_ROTATION_PROCESS, /* events for each CPU, while the workload runs there */
	/* Events for each CPU and for each of two cgroups, which contain one thread each. */
	BENCH_ROTATION_CGROUPS,
	BENCH_ROTATION_CASES,
};

const char *bench_rotation_name(enum bench_rotation_case which); /* "system-wide" */

struct bench_rotation_options {
	uint32_t events; /* for each CPU */
	uint64_t bytes;	 /* of memory that is streamed through */
	uint32_t cpu;	 /* for the workload */
};

struct bench_rotation_shared;

enum { BENCH_ROTATION_PATH = 256 };

/* A running workload, in processes of its own. */
struct bench_rotation {
	pid_t pid, partner; /* 0: none */
	struct bench_rotation_shared *shared;
	char above[BENCH_ROTATION_PATH]; /* the parent of both cgroups; "": none */
};

/*
 * On return it runs and all events are open. 0 or a negative errno; -EOPNOTSUPP: events of cgroups
 * cannot be opened.
 */
int bench_rotation_start(struct bench_rotation *b, enum bench_rotation_case which,
			 const struct bench_rotation_options *o, struct error *err);
uint64_t bench_rotation_bytes(const struct bench_rotation *b); /* streamed until now */
uint32_t bench_rotation_opened(const struct bench_rotation *b);
void bench_rotation_stop(struct bench_rotation *b);

#endif
