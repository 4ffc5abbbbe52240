/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_PERF_FAILURE_H
#define KONTEND_SOURCE_PERF_FAILURE_H

#include "kontend/error.h"
#include "kontend/target.h"
#include <stdbool.h>
#include <stdint.h>

enum perf_step { PERF_STEP_OPEN, PERF_STEP_MMAP, PERF_STEP_FILTER };

/* Everything that the text about a failed perf event depends on. */
struct perf_failure {
	enum perf_step step;
	int code;	   /* negative errno */
	const char *event; /* "lock:contention_begin" */
	int cpu;	   /* -1 = any */
	int tid;	   /* -1 = any */
	enum target_kind kind;
	const char *cgroup;   /* TARGET_CGROUP */
	const char *filter;   /* PERF_STEP_FILTER */
	const char *exe;      /* for the setcap line */
	const char *lockdown; /* as sysinfo_lockdown() */
	int root;	      /* effective uid 0 */
	int users;	      /* in a user namespace of its own */
	int perfmon;	      /* CAP_PERFMON is in force */
	int paranoid;	      /* kernel.perf_event_paranoid; 99 = unknown */
	uint64_t fds;	      /* number of needed descriptors */
	uint64_t fd_limit;    /* RLIMIT_NOFILE */
	bool lbr;	      /* with the call stack that the CPU keeps */
	bool clock;	      /* of a clock, not of a PMU */
	uint32_t ring_kib;    /* PERF_STEP_MMAP: the smallest size that was tried */
};

/* One sentence: the step that failed, the answer of the kernel, and the remedy. Returns f->code. */
int perf_failure_explain(const struct perf_failure *f, struct error *err);
/* Fills exe, lockdown, root, perfmon, paranoid and fd_limit from the running system, then explains.
 */
int perf_failure_report(struct perf_failure *f, struct error *err);

#endif
