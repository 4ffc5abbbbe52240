/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PERF_SESSION_H
#define KONTEND_PERF_SESSION_H

#include "kontend/feed.h"
#include "kontend/live.h"
#include "kontend/perf-attr.h"
#include "kontend/ring.h"
#include <stdbool.h>

/*
 * The open events of a live session and their rings, one ring a CPU. Ring i belongs to the i-th
 * measured CPU; all that is borrowed lives until perf_session_close().
 */
struct hybrid;
struct perf_session;

struct perf_session_options {
	const struct target *target;
	pid_t command;		/* TARGET_COMMAND: the held child */
	struct measure_how how; /* max_stack 0: no call chains */
	struct perf_wanted wanted;
	uint32_t timer_offset; /* of the field hrtimer in the entry */
	struct feed *feed;     /* is given the events PERF_OUTPUT; NULL = there are none */
	const char *filter;    /* for contention_begin, NULL = none */
};

/*
 * Opens and maps everything, disabled. @info has the limits that it ran into (ring size, cgroup
 * ids).
 */
int perf_session_open(struct perf_session **ret, const struct perf_session_options *o,
		      struct live_info *info, struct error *err);
void perf_session_close(struct perf_session *ps);

size_t perf_session_rings(const struct perf_session *ps);
struct ring perf_session_ring(const struct perf_session *ps, size_t i);
uint32_t perf_session_cpu(const struct perf_session *ps, size_t i);
/*
 * A descriptor that polls readable at the watermark of ring @i; -1: there is none. Each task that
 * shares the ring has one, numbered by @k: when one has hung up, use the next one.
 */
int perf_session_poll_fd(const struct perf_session *ps, size_t i, size_t k);

const struct perf_event_attr *perf_session_attr(const struct perf_session *ps,
						enum perf_event_index which);
/* The kernel's ids of event @which, on all CPUs and tasks. */
const uint64_t *perf_session_ids(const struct perf_session *ps, enum perf_event_index which,
				 size_t *ret_n);

/* The PMUs of the CPUs, if the event counts on that of each CPU; NULL: on one. */
const struct hybrid *perf_session_hybrid(const struct perf_session *ps,
					 enum perf_event_index which);

/* Was this event opened? Functions that get @which may be called for opened events only. */
bool perf_session_has(const struct perf_session *ps, enum perf_event_index which);
/* Does the feed report waits, with empty events in place of perf's? */
bool perf_session_is_fed(const struct perf_session *ps);
/* As feed.h has it. */
bool perf_session_idle(const struct perf_session *ps, uint64_t *ret_at_ns, uint64_t *ret_ns);
/* Does its feed follow holders of locks? Its counts so far. */
/* See feed.h; NULL: no waits are summed up. */
const void *perf_session_shorts(const struct perf_session *ps, bool begin, uint64_t now_ns,
				size_t *ret_len);
bool perf_session_follows(const struct perf_session *ps, struct feed_follow *ret);
/* The @nth own ring of the feed for the CPU of ring @i. False: it has none. */
bool perf_session_own_ring(const struct perf_session *ps, size_t i, unsigned nth, struct ring *ret);
/*
 * Measures the expiries of timers that pass @filter (on fields of hrtimer_expire_entry), from
 * perf_session_enable(PERF_TIMER_ENTRY) on. Events of exits name no function: only exits of timers
 * that perf_session_learn() has seen are recorded, and their events are switched on by that. 0, or
 * negative errno: do not enable the events.
 */
int perf_session_time(struct perf_session *ps, const char *filter);
/*
 * Looks for timers on the CPU of ring @i that are not known yet; the next exit of a new one is
 * recorded. True: that took opening an event again, see perf_session_restore_ids().
 */
bool perf_session_learn(struct perf_session *ps, size_t i);

void perf_session_enable(struct perf_session *ps, enum perf_event_index which);
void perf_session_disable(struct perf_session *ps, enum perf_event_index which);
/* The events from PERF_MM_START on, all of them. */
void perf_session_enable_mm(struct perf_session *ps, bool on);
void perf_session_disable_all(struct perf_session *ps);

/*
 * The kernel's counts so far: begins and ends of waits, how many of these were lost, and lost
 * records of any kind, these among them.
 */
struct perf_counts {
	uint64_t events, lost_events, lost;
};
/*
 * For sessions of whole CPUs, from Linux 6.0 on; else -ENOTSUP. A call for each event. Where a feed
 * reports the waits the kernel counts no events.
 */
int perf_session_counts(const struct perf_session *ps, struct perf_counts *ret);
/* The same: records lost by the events that there are now on the CPU of ring @i. */
int perf_session_lost(const struct perf_session *ps, size_t i, uint64_t *ret);

/*
 * A CPU is online again: opens the events of ring @i, which must be drained, again, disabled, and
 * replaces them and the ring. For sessions of whole CPUs. 0, or negative errno: nothing has
 * changed, and the caller may try again.
 */
int perf_session_reopen(struct perf_session *ps, size_t i);
/*
 * The same for sessions of tasks, whose own events stay: opens the event through which the feed
 * writes again, enabled. Does nothing without a feed. 0, or negative errno: the caller may try
 * again.
 */
int perf_session_reopen_output(struct perf_session *ps, size_t i);
void perf_session_enable_ring(struct perf_session *ps, size_t i);
/* Records of ring @i with ids of events that were opened again get those of perf_session_ids(). */
void perf_session_restore_ids(const struct perf_session *ps, size_t i, void *records, size_t len);

#endif
