/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_LIVE_MMAP_H
#define KONTEND_SOURCE_LIVE_MMAP_H

#include "kontend/mmlevel.h"
#include "kontend/perf-session.h"
#include "kontend/queue.h"
#include "kontend/record.h"
#include "kontend/tracefs.h"
#include "live-mmap-count.h"

/*
 * The events of mmap_locks in a live session, on the level that is asked for. Where the kernel has
 * none that is no failure of the session: the level is MMLEVEL_CONTENDED then, and `how` says why.
 * `= {0}` asks for none.
 */
struct live_mmap {
	struct mmlevel_how how;		      /* level, one_in: as asked for */
	struct tracepoint tp[PERF_MM_EVENTS]; /* ids 0: not measured */
	struct live_mmap_count count;	      /* of all acquisitions, on MMLEVEL_SAMPLED */
	struct {
		struct record_snapshot head;
		struct mmlevel_how how;
	} body; /* of the last record */
};

/* With @tracefs, its path: finds the events, and measures what one costs here. */
void live_mmap_read(struct live_mmap *m, const char *tracefs);
/* Their tracepoints' ids, and are they on in bursts only? */
void live_mmap_options(const struct live_mmap *m, struct perf_session_options *o);
/* Opens the count of acquisitions of @t, where a part is measured of them. */
void live_mmap_count(struct live_mmap *m, const struct target *t, pid_t command);
/* Switches them on where they are on all the time. */
void live_mmap_enable(const struct live_mmap *m, struct perf_session *ps);
/* When they are on otherwise: for the drain. */
struct burst live_mmap_burst(const struct live_mmap *m);
/* FORMAT records, and how it is measured as a SNAPSHOT. 0 or -ENOMEM. */
int live_mmap_put(struct live_mmap *m, struct queue *q);
void live_mmap_deinit(struct live_mmap *m);

/* live-mmap-cost.c: ns that one of these events costs who causes it; 0: it cannot be measured. */
uint32_t live_mmap_cost(const struct tracepoint tp[PERF_MM_EVENTS]);

#endif
