/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_LIVE_PROLOGUE_H
#define KONTEND_SOURCE_LIVE_PROLOGUE_H

#include "kontend/perf-session.h"
#include "kontend/procfs.h"
#include "kontend/queue.h"
#include "kontend/sideband.h"
#include "kontend/tracefs.h"
#include "live-mmap.h"
#include "live-timers.h"

/*
 * Records that a reader of a live stream needs before its first event: HOST, KALLSYMS, FORMAT,
 * ATTR; and then COMM and CGROUP records of existing tasks and cgroups. 0 or -ENOMEM with @err.
 */
struct live_prologue {
	struct queue *queue;
	struct perf_session *session;
	const struct target *target;
	const struct tracepoint *begin, *end, *release; /* release: id 0: there is none */
	struct live_timers *timers;			/* learns of its functions, and is aimed */
	struct live_mmap *mmap;
	const char *refused; /* see struct record_machine; NULL: nothing */
};

int live_prologue_put(const struct live_prologue *p, struct error *err);
/* The tasks whose names are to be read: all, or these. */
struct live_prologue_tasks {
	const struct procfs_task *tasks;
	size_t n; /* 0: all */
	bool cgroups;
	bool maps;			     /* also what code their processes have mapped */
	bool data_maps;			     /* and what else */
	const struct sideband_source *names; /* of tasks that are not in /proc; NULL: none */
};

/* Reads /proc and the cgroup tree; takes a moment where there are many tasks. */
int live_prologue_tasks(struct queue *q, struct perf_session *ps,
			const struct live_prologue_tasks *t, struct error *err);

#endif
