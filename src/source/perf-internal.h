/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_PERF_INTERNAL_H
#define KONTEND_SOURCE_PERF_INTERNAL_H

/* Shared by perf-*.c here, the only files that know libperf. */
#include "kontend/hybrid.h"
#include "kontend/perf-session.h"
#include "perf-failure.h"
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

/* Watches for timers that are not known yet: an event and a ring of one page for each CPU. */
enum { PERF_SCOUT_TIMERS = 8 };

struct perf_scout {
	int fd;	    /* -1 = none */
	void *base; /* its ring; NULL = none */
	uint64_t known[PERF_SCOUT_TIMERS];
	uint32_t n_known;
};

/* perf-timers.c: which expiries are measured, and the known timers. */
struct perf_timers {
	char filter[160];	   /* by function; "" = none is measured */
	uint32_t entry_id;	   /* tracepoint of the scouts */
	uint32_t timer_offset;	   /* of the field hrtimer in it */
	struct perf_scout *scouts; /* one a ring, or NULL */
};

struct perf_session {
	struct perf_evlist *evlist; /* owns the evsels, their descriptors and the rings */
	struct perf_evsel *evsels[PERF_EVENTS]; /* NULL: not in this session */
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	int cgroup_fd;	      /* -1 = none */
	char *filter;	      /* of contention_begin; NULL = none */
	struct feed *feed;    /* of PERF_OUTPUT; NULL = none */
	uint64_t *new_ids;    /* PERF_EVENTS a ring: of events opened again; NULL or 0 = none */
	struct hybrid hybrid; /* which PMU counts for a CPU */
	struct perf_timers timers;
	bool mm_in_bursts;	   /* those of mmap_locks are switched on and off */
	bool counts;		   /* the events say how many records were lost */
	struct perf_counts before; /* of events that were replaced by new ones */
};

/* One attempt at opening, with these sizes and features. */
struct perf_attempt {
	const struct perf_session_options *o;
	uint32_t ring_pages;
	bool cgroup, lost, clock;
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
/* perf-reopen.c: place for the id of an event that was opened again. NULL: no memory. */
uint64_t *perf_session_new_id(struct perf_session *ps, size_t ring, enum perf_event_index which);
/* perf-timers.c: the filters of a ring whose events were opened again, and its scout. */
void perf_timers_reopen(struct perf_session *ps, size_t ring);
void perf_timers_free(struct perf_session *ps);
/* perf-rings.c: maps the rings of @at->ring_pages. 0, or negative errno with @at->failure. */
int perf_rings_map(struct perf_session *ps, struct perf_attempt *at);
/* The size of each where none is asked for. */
uint32_t perf_rings_kib(const struct perf_session_options *o);

#endif
