/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LIVE_H
#define KONTEND_LIVE_H

#include "kontend/feed.h"
#include "kontend/measure-how.h"
#include "kontend/source.h"
#include "kontend/target.h"

#include <errno.h>
#include <stdatomic.h>

struct kallsyms_thread;
struct mmlevel_how;
struct drain_sink;
struct sideband_source;

/* Errors of live_start(): the command does not exist, or cannot be executed. */
enum { LIVE_NO_COMMAND = -ELIBACC, LIVE_CANNOT_RUN = -ELIBEXEC };
enum { LIVE_MAX_STACK = 24 }; /* default number of frames of a call chain */

/* Frames of a call chain, 0 for none; @asked: 0 = the default. */
static inline uint32_t live_max_stack(bool no_stack, uint32_t asked)
{
	return no_stack ? 0 : asked ? asked : LIVE_MAX_STACK;
}

/* How soon records leave the rings. */
enum drain_policy {
	DRAIN_EVENTS,	  /* a user or a program reads event by event: early */
	DRAIN_SCREEN,	  /* a user watches from tick to tick, and presses keys */
	DRAIN_REPORT,	  /* nothing is shown before the end: rings are read less often */
	DRAIN_THROUGHPUT, /* recording: few wake-ups, large pieces */
};

/*
 * State that is read as a whole, at most once a tick, and becomes a SNAPSHOT record of the stream.
 * One thread, which does nothing else, calls take() (snapshot-thread.h).
 */
struct snapshot_source {
	struct snapshot_source *next; /* is taken after this one; NULL: none */
	uint16_t kind;		      /* enum record_snapshot_kind */
	uint16_t version;	      /* of the payload */
	atomic_bool has_tasks;	      /* the latest one has events of tasks other than kontend's */
	/*
	 * The payload after a struct record_snapshot, which the caller fills in; valid until the
	 * next call. NULL: there is none this time. @last: it is the end of measuring.
	 */
	void *(*take)(struct snapshot_source *l, bool last, size_t *ret_len);
	bool at_start;		    /* taken once more when measuring begins */
	bool each_tick;		    /* whatever it costs; others: see snapshot-thread.h */
	uint64_t taken_ns, cost_ns; /* of the thread: last time it was taken, and its CPU time */
};

struct live_options {
	struct target
		target;	  /* borrowed until live_new() returns, its command until live_start() */
	uint64_t tick_ns; /* 0 = 1 s */
	uint64_t first_tick_ns; /* the first ones come sooner, for a screen: see drain_begin() */
	struct measure_how how; /* max_stack 0: the default, unless no_stack */
	uint32_t queue_bytes;	/* bound of the queue between the threads; 0 = default */
	enum drain_policy policy;
	bool realtime; /* the collector calls collector_begin_realtime() */
	bool no_stack;
	struct snapshot_source *snapshots; /* the first; borrowed as long as the source lives */
	struct feed *feed; /* writes into the rings, too; borrowed as they are; NULL = none */
	uint64_t (*bpf_maps)(void); /* bytes that maps of BPF take, for the costs of measuring */
	struct kallsyms_thread *kallsyms; /* NULL: live_new() reads the file; borrowed as above */
	uint64_t switches_ns; /* record context switches for so long of each second; 0 = never */
	bool switches_asked;  /* also while no task has events: to see their cost without any */
	bool tick;	      /* measure the timer tick, too */
	bool releases;	      /* record releases of locks, where the kernel has an event for them */
	/* Level and one_in: how mmap_locks are measured; NULL: by contention alone. */
	const struct mmlevel_how *mmap;
	const struct sideband_source *names; /* of more tasks than /proc shows; NULL: none */
	const char *event_filter; /* tracepoint filter for contention_begin, NULL = none */
	const char *refused;	  /* see struct record_machine; NULL: nothing; borrowed as above */
};

struct perf_counts;

/* Limits that opening met: for the header and `-v`. */
struct live_info {
	uint32_t rings, ring_pages; /* the rings that were opened */
	bool pages_reduced;	    /* ENOMEM/EPERM: smaller rings than asked for */
	bool no_cgroup;		    /* kernel does not give cgroup ids */
	char note[1024];	    /* "" or one sentence */
};

/*
 * Opens the contention events on the target and starts the collector thread, which drains the
 * rings into a bounded queue. Records come in the order: HOST, KALLSYMS, FORMAT and ATTR ones, a
 * PERF run of synthesized COMM (time 0) and CGROUP records for existing tasks and cgroups, START,
 * then the stream with ROUND and TICK.
 * With a command in the target, it is forked but held; live_start() lets it go.
 */
int live_new(struct source **ret, const struct live_options *o, struct live_info *ret_info,
	     struct error *err);
int live_start(struct source *s, struct error *err);
/* Asks for the end: remaining events, a last tick and SOURCE_END follow. Async-signal-safe. */
void live_stop(struct source *s);
/* Ends the stream by an error; by any thread, once. */
void live_fail(struct source *s, const struct error *why);
/*
 * Pauses the collector thread: source_next() returns the remaining records, then SOURCE_IDLE, or
 * SOURCE_END. From then on live_drain() is the stream.
 */
void live_take_over(struct source *s);
/*
 * The work of the thread, done by the caller: waits until a ring is worth reading, or it is time to
 * read them, or @fd is readable, or @most_ns are over; then puts everything in the rings into
 * @sink. 0 or SOURCE_END. *ret_ready: @fd is readable.
 */
int live_drain(struct source *s, const struct drain_sink *sink, int fd, uint64_t most_ns,
	       bool *ret_ready);
/* Resumes the thread: source_next() is the stream again. */
int live_give_back(struct source *s, struct error *err);
/*
 * Begins and ends of waits that were taken from the rings, and what was lost, as the kernel counts
 * them: see struct perf_counts. @end: switches the events off first, for good, which makes it
 * exact. Not while the thread runs. 0, or -ENOTSUP: only the records show it.
 */
int live_counts(struct source *s, bool end, struct perf_counts *ret);
/* Has the command of the target ended? 1 and its wait status, 0 = not yet, -ECHILD = none. */
int live_child(struct source *s, int *ret_status);
/* Its pid, from live_new() on; 0 = there is none. */
pid_t live_child_pid(struct source *s);

#endif
