/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PERF_ATTR_H
#define KONTEND_PERF_ATTR_H

#include "kontend/measure-how.h"
#include "kontend/target.h"
#include <linux/perf_event.h>
#include <stdint.h>

/*
 * The events of a session, in the order in which they share a ring: the first one owns it. Those up
 * to PERF_DUMMY are in every session, the others where they are asked for.
 */
enum perf_event_index {
	PERF_BEGIN,
	PERF_END,
	PERF_DUMMY,
	PERF_TIMER_ENTRY, /* this and the next two only where a PMU can rotate */
	PERF_TIMER_EXIT,
	PERF_SWITCH,   /* a dummy, on now and then, for context switches */
	PERF_PROFILE,  /* cycles, or the CPU's clock: where CPUs are */
	PERF_OUTPUT,   /* records of kontend's BPF programs; of whole CPUs for any target */
	PERF_RELEASE,  /* lock:contended_release, of Linux 7.x; where no feed reports releases */
	PERF_MM_START, /* this and the next two only where mmap_locks are measured */
	PERF_MM_ACQUIRED,
	PERF_MM_RELEASED,
	PERF_EVENTS
};

enum { PERF_MM_EVENTS = PERF_EVENTS - PERF_MM_START };

extern const char *const perf_event_names[PERF_EVENTS]; /* "lock:contention_begin", ... */

/* Which events to open, and how. */
struct perf_wanted {
	uint32_t begin_id, end_id;		/* tracepoints */
	uint32_t timer_entry_id, timer_exit_id; /* 0: none of the events from PERF_TIMER_ENTRY */
	uint32_t release_id;			/* 0: no PERF_RELEASE */
	uint32_t mm_ids[PERF_MM_EVENTS];	/* 0: none of the events from PERF_MM_START */
	bool mm_in_bursts; /* on only between calls of perf_session_enable_mm() */
	bool mm_paths;	   /* a task that gets an mmap_lock records its call chain */
	bool user_chain;   /* waits have the part of the program in their call chain */
	bool data_maps;	   /* records of mappings of data, too: perf finds tables there */
	bool few_wakeups;  /* at two thirds of the ring: room in it matters less */
};

struct perf_attr_options {
	struct measure_how how; /* max_stack 0: no call chains */
	struct perf_wanted wanted;
	enum target_kind kind;
	uint32_t ring_bytes;
	bool cgroup; /* ask for cgroup ids */
	bool fed;    /* a feed reports waits: empty events take the places of the events of waits */
	bool much;   /* the feed writes much into perf's rings: see feed.h */
	bool lost;   /* ask for the number of records that were lost: Linux 6.0 */
};

void perf_attr_init(struct perf_event_attr *attr, enum perf_event_index which,
		    const struct perf_attr_options *o);

#endif
