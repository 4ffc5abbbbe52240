/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ROTATION_H
#define KONTEND_ROTATION_H

#include "kontend/event.h"
#include "kontend/hist-fine.h"
#include "kontend/map64.h"
#include "kontend/series.h"
#include "kontend/snapshot.h"
#include <stdbool.h>

struct task_table;

/*
 * The cost of perf itself where it works on behalf of events: the timers that pass the filter (of
 * rotation; of the tick on request) and context switches. It knows no names: the function that a
 * timer calls is given by its address. All times are ns.
 */

/* Upper bounds. Entries beyond are counted in `dropped`. */
enum {
	ROTATION_TIMERS = 4096,
	ROTATION_SAMPLES = 65536,
	ROTATION_POINTS = 512,
};

/* One hrtimer of the kernel; a rotation timer belongs to one CPU and one PMU. */
struct rotation_timer {
	uint64_t timer, function; /* addresses */
	uint32_t cpu;		  /* where it expired last */
	int32_t open_tid;	  /* who ran when it did */
	uint64_t open_ns;	  /* the current expiry; 0: none */
	uint64_t expiries;	  /* since the sums began */
	uint64_t unpaired;	  /* of them without an end, or with one that cannot be trusted */
	struct hist_fine time;	  /* of the others */
	uint64_t cur_n, cur_ns, rate_n, rate_ns; /* of the open and of the closed bucket */
	struct series n_series, ns_series;
};

/* The kind of a duration. */
enum rotation_kind { ROTATION_TIMER, ROTATION_SWITCH };

/* A duration that waits for the snapshot after it: then it is known what events were there. */
struct rotation_sample {
	uint64_t time_ns;
	uint32_t ns, cpu;
	int32_t tid, other; /* who ran; switches: who went and who came */
	uint32_t timer;	    /* index; of a timer */
	uint32_t kind;	    /* enum rotation_kind */
};

/* Durations with so many events in the contexts that were at work. */
struct rotation_point {
	uint64_t key; /* of timers: their function; of switches 0 */
	uint32_t cpu;
	uint32_t events; /* that may count on this CPU: of the CPU and of the task */
	/* Timers: all events in contexts of the CPU and of the task with events that sample at a
	 * frequency, which a tick walks; switches: the events of the task switched out. */
	uint32_t whole;
	bool idle; /* of timers: no task ran, which makes a tick shorter */
	struct hist_fine time;
};

/* Switches of a CPU. */
struct rotation_cpu {
	uint64_t out_ns; /* the current one; 0: none */
	int32_t out_tid;
	uint64_t n;			/* seen since the sums began */
	uint64_t cur_n, rate_n;		/* of the open and of the closed bucket */
	struct hist_fine plain, loaded; /* no task has events; one of the two has, or both */
};

struct rotation {
	struct rotation_timer *timers;
	size_t n_timers, cap_timers;
	struct map64 by_timer;
	struct rotation_sample *samples;
	size_t n_samples, cap_samples;
	struct rotation_point *points;
	size_t n_points, cap_points;
	struct rotation_cpu *cpus;
	size_t n_cpus, cap_cpus;
	uint64_t lost_until; /* events before are not all there */
	uint64_t dropped;    /* expiries and switches beyond the bounds, or without memory */
	uint64_t unmatched;  /* ends without a begin */
	/* Durations that are put together with no number of events: */
	uint64_t unclassed; /* no snapshot before and after says whose events were there */
	uint64_t changed;   /* these two do not agree, or the task was not there at both */
	uint64_t switch_ns; /* time in which switches were looked at, since the sums began */
	uint64_t bursts;    /* how often */
	uint64_t own_ps;    /* record_burst.own_ps, which durations of switches are without */
	/* The cost of that: records, their bytes, and of record_burst the sums. */
	uint64_t switch_records, switch_bytes, turn_ns, drain_ns, drain_bytes;
	uint64_t cur_switch_ns, rate_switch_ns; /* of the open and the closed bucket */
};

void rotation_deinit(struct rotation *r);
int rotation_copy(struct rotation *dst, const struct rotation *src); /* into an uninitialized one */
size_t rotation_bytes(const struct rotation *r);
/* EVENT_TIMER_ENTRY, _EXIT, EVENT_SWITCH. 0 or -ENOMEM. */
int rotation_event(struct rotation *r, const struct event *ev);
/* Switches were looked at. Of what comes after it, without another begin, nothing can be paired. */
void rotation_burst(struct rotation *r, const struct record_burst *b);
/* Records were lost: no open expiry or switch can be paired, nor one that begins before @until_ns.
 */
void rotation_lost(struct rotation *r, uint64_t until_ns);

/* Two snapshots of perf events that follow each other, NULL: none; what else is known by then. */
struct rotation_looks {
	const struct snapshot *before, *now;
	const struct snapshot *pmus; /* or NULL */
	const struct task_table *tasks;
};

/* Events of tasks and CPUs are known up to @l->now: durations before that are classified. */
void rotation_look(struct rotation *r, const struct rotation_looks *l);
void rotation_tick(struct rotation *r, uint64_t tick); /* closes bucket @tick */
void rotation_zero(struct rotation *r);

#endif
