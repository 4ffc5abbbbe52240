/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_PERF_INTERNAL_H
#define KONTEND_SOURCE_PERF_INTERNAL_H

/* Shared by perf-open.c, perf-reopen.c and perf-rings.c, the only files that know libperf. */
#include "kontend/perf-failure.h"
#include "kontend/perf-session.h"
#include <internal/evlist.h>
#include <internal/evsel.h>
#include <internal/mmap.h>
#include <internal/xyarray.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>

struct perf_session {
	struct perf_evlist *evlist; /* owns the evsels, their descriptors and the rings */
	struct perf_evsel *evsels[PERF_EVENTS];
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	int cgroup_fd;	   /* -1 = none */
	char *filter;	   /* of contention_begin; NULL = none */
	uint64_t *new_ids; /* PERF_EVENTS a ring: of events opened anew; NULL or 0 = none */
};

/* One go at opening, with these sizes and features. */
struct perf_attempt {
	const struct perf_session_options *o;
	uint32_t ring_pages;
	bool cgroup;
	struct perf_failure failure;
};

/* The descriptor of event @which on the @cpu-th CPU for the @thread-th task, which both exist. */
static inline int *perf_session_fd(const struct perf_session *ps, enum perf_event_index which,
				   size_t cpu, size_t thread)
{
	return __xyarray__entry(ps->evsels[which]->fd, (int)cpu, (int)thread);
}

/* perf-open.c: one event of @cpu for task @tid, off. A descriptor, or negative errno. */
int perf_session_open_event(const struct perf_session *ps, enum perf_event_index which, int cpu,
			    pid_t tid);
/* perf-rings.c: maps the rings of @at->ring_pages. 0, or negative errno with @at->failure. */
int perf_rings_map(struct perf_session *ps, struct perf_attempt *at);

#endif
