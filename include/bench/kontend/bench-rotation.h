/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_ROTATION_H
#define KONTEND_BENCH_ROTATION_H

#include "kontend/error.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * A workload that is measured by somebody who opens more events than there are counters: one thread
 * bound to a CPU that streams through memory, beside another one there that only wakes up now and
 * then, so that there are context switches. The events count cycles and are opened by the workload
 * itself.
 */
enum bench_rotation_case {
	BENCH_ROTATION_NONE,
	BENCH_ROTATION_SYSTEM,	/* so many events for each CPU, whoever runs there */
	BENCH_ROTATION_PROCESS, /* so many for each CPU, while the workload runs there */
	/* So many for each CPU and for each of two cgroups, which both threads are in. */
	BENCH_ROTATION_CGROUPS,
	BENCH_ROTATION_CASES,
};

const char *bench_rotation_name(enum bench_rotation_case which); /* "system-wide" */

struct bench_rotation_options {
	uint32_t events; /* for each CPU */
	uint64_t bytes;	 /* of memory that is streamed through */
	uint32_t cpu;	 /* where the workload runs */
};

struct bench_rotation_shared;

enum { BENCH_ROTATION_PATH = 256 };

/* One that runs, in processes of its own. */
struct bench_rotation {
	pid_t pid, partner; /* 0: not there */
	struct bench_rotation_shared *shared;
	char above[BENCH_ROTATION_PATH]; /* the cgroup that both are in; "": there is none */
};

/*
 * It runs, and all is open, when this returns. 0 or a negative errno; -EOPNOTSUPP: there are no
 * cgroups whose events could be opened.
 */
int bench_rotation_start(struct bench_rotation *b, enum bench_rotation_case which,
			 const struct bench_rotation_options *o, struct error *err);
uint64_t bench_rotation_bytes(const struct bench_rotation *b); /* streamed until now */
uint32_t bench_rotation_opened(const struct bench_rotation *b);
void bench_rotation_stop(struct bench_rotation *b);

#endif
