/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_PERF_H
#define KONTEND_SRC_QUERY_PERF_H

#include "kontend/query-perf.h"

/* Shared by the tables over a snapshot. */

/* The decoded snapshot with its descriptors by event, made once a frame. */
struct query_perf {
	const struct perfsnap *snap;
	uint32_t *first_holder; /* by event index: holder index + 1 */
	uint32_t *next_holder;	/* by holder index: the same */
};

/* 0, -ENOENT when there is no snapshot, or -ENOMEM. */
int query_perf(struct query *q, enum query_perf_part part, struct query_perf *ret);
/* The same of another one: 0 or -ENOMEM. */
int query_perf_of(struct query *q, const struct perfsnap *s, struct query_perf *ret);
void query_perf_deinit(struct query *q);

/* "comm/pid"; "" for pid 0. */
const char *query_perf_task(struct query *q, const struct query_perf *p, uint32_t comm,
			    int32_t pid);
/*
 * The keeper of event @i: the process with a descriptor, the tracer, or that of the inherited one.
 */
struct query_keeper {
	const char *kind; /* "perf fd", "inherited", "ptrace", "kernel" */
	int32_t pid;	  /* 0: not known */
	int32_t fd;	  /* -1: none */
	uint32_t comm;	  /* text of the snapshot */
};

/* How long one event, as its owner opened it, was enabled, and counted, on all CPUs together. */
struct query_perf_share {
	uint64_t enabled_ns, running_ns;
	bool known; /* false: its times are not, or it is not there on all CPUs */
	bool first; /* of the events that are taken together here */
};

/* perf/share.c: of each event, in the query's arena. 0 or -ENOMEM. */
int query_perf_shares(struct query *q, const struct query_perf *p, struct query_perf_share **ret);

struct query_keeper query_perf_keeper(const struct query_perf *p, size_t i);
/* "812\n931" of the processes that have a descriptor of event @i; NULL: none. */
const char *query_perf_holder_pids(struct query *q, const struct query_perf *p, size_t i);
const char *query_perf_state(int32_t state);
const char *query_perf_rwx(uint32_t bp_type);
/* A breakpoint in the pool of @type? */
bool query_perf_in_pool(const struct snap_event *e, uint32_t type);
const char *query_perf_where(struct query *q, const struct query_perf *p,
			     const struct snap_event *e);

#endif
