/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_LIVE_TIMERS_H
#define KONTEND_SOURCE_LIVE_TIMERS_H

#include "kontend/perf-session.h"
#include "kontend/pmus.h"
#include "kontend/queue.h"
#include "kontend/record.h"
#include "kontend/snapshot-source.h"
#include "kontend/tracefs.h"

/*
 * Rotation in a live session: is there a PMU that rotates, the tracepoints, the function whose
 * timers are measured. A failure here is no failure of the session: `pmus` gives it as the reason.
 * `= {0}` measures nothing.
 */
struct live_timers {
	bool tick; /* the tick, too */
	struct pmus pmus;
	struct tracepoint entry, exit; /* ids 0: not measured */
	uint64_t mux, tick_handler;    /* addresses of their functions; 0 = not known */
	bool is_mux, is_tick;	       /* kallsyms has it, maybe without the address */
	bool on;		       /* the session lets them through */
	struct snapshot_source look;   /* says what has changed of `pmus` */
	struct {
		struct record_snapshot head;
		struct pmus pmus;
	} body; /* of what it has said */
};

/* @others: what is looked at besides; borrowed. */
struct snapshot_source *live_timers_look(struct live_timers *t, struct snapshot_source *others);
/* With @tracefs, its path. */
void live_timers_read(struct live_timers *t, const char *tracefs);
/* The field hrtimer's place in the raw data of an entry. */
uint32_t live_timers_offset(const struct live_timers *t);
/* Looks for the functions in the text of /proc/kallsyms. */
void live_timers_find(struct live_timers *t, const char *kallsyms, size_t len);
/* Sets the filters of the session. */
void live_timers_aim(struct live_timers *t, struct perf_session *ps);
void live_timers_enable(const struct live_timers *t, struct perf_session *ps);
/* The list of PMUs as a SNAPSHOT record. 0 or -ENOMEM. */
int live_timers_put(struct live_timers *t, struct queue *q);
void live_timers_deinit(struct live_timers *t);

#endif
