/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DRAIN_H
#define KONTEND_DRAIN_H

#include "kontend/burst.h"
#include "kontend/cpulist.h"
#include "kontend/error.h"
#include "kontend/mmlevel.h"
#include "kontend/perf-session.h"
#include "kontend/procfs.h"
#include "kontend/record.h"
#include <poll.h>

struct drain;
struct snapshot_thread;

/* A ring and the state of its CPU. */
struct drain_ring {
	struct drain *of;
	struct ring ring;
	uint32_t cpu;
	uint32_t number;	/* in its records: its CPU, unless it is one of the feed's own */
	struct drain_ring *own; /* the feed's usual one for the same CPU; NULL: none */
	size_t poll_k;		/* which of the ring's tasks wakes us */
	bool dead;		/* its CPU went offline, and its CPU-wide events ended with it */
	bool gone;		/* the stream has a record that the CPU is offline */
	bool gap_unreported;	/* its CPU is back: no record says until when events are missing */
	bool renewed;		/* its events were opened again: see drain_restore_ids() */
	uint64_t epoch;		/* sysinfo_cpu_epoch() of its CPU */
	bool filled;		/* the last reported fill level was not 0 */
	uint64_t max_used;
	struct record_drop drop; /* to be reported */
	uint64_t taken_from;	 /* its tail before the last step */
	uint64_t lost;		 /* the kernel's count at the last reported gap */
	uint64_t gap_head;	 /* of a feed's own: its head at the last step */
	bool gap_reported;	 /* it had a gap then */
};

struct live_mmap_count;

/* Where the stream goes to. */
struct drain_sink {
	/* Takes everything in @r before @head, or adds to its drop what it cannot take. */
	void (*take)(void *ctx, struct drain_ring *r, uint64_t head);
	/* All rings were read. NULL: not called. */
	void (*taken)(void *ctx);
	/* A small record of another kind. Negative: there is no room for it now. */
	int (*put)(void *ctx, enum record_kind kind, uint32_t ring, const void *data, size_t len);
	/* One of any size for which there must be room. */
	int (*put_always)(void *ctx, enum record_kind kind, uint32_t ring, const void *data,
			  size_t len);
	/* Did one reader get everything, and count losses? */
	bool (*is_whole)(void *ctx);
	void *ctx;
};

/*
 * The rings of a session, and what a stream of their records needs besides: rounds, ticks, CPUs
 * that go offline or online, the end of the target. It has no thread and no queue. All that it
 * works on is borrowed.
 */
struct drain {
	struct perf_session *session;
	struct procfs_task *tasks; /* the session ends when all have ended; none: it does not */
	size_t n_tasks;
	struct burst mmaps;	     /* when the events of mmap_locks are on, if not all the time */
	struct mmlevel_how mmap_how; /* reported at the end of each burst */
	const struct live_mmap_count *mmap_count; /* NULL: none */
	struct snapshot_source *snapshots; /* the first of those taken at each tick, NULL = none */
	struct burst switches;		   /* when context switches are recorded */
	struct record_burst switch_cost;   /* of the burst in progress; its times are not set */
	bool switches_asked;		   /* also while no task has events */
	uint64_t switch_ps;		   /* record_burst.own_ps */
	uint64_t (*bpf_maps)(void); /* bytes of maps that are loaded by now; NULL: there are none */
	int pidfd;		    /* the session ends when this is readable; -1 = none */
	enum drain_policy policy;
	bool cpu_wide; /* rings end with their CPU, not with a task */

	/* its own */
	uint64_t mmaps_from;   /* since when all of their events are on */
	uint64_t mmaps_before; /* the count then */
	struct drain_ring *rings;
	struct pollfd *polls; /* one a ring, then two of the caller, pidfd, snapshots */
	size_t n_rings;	      /* of the session */
	size_t n_all;	      /* with the feed's own rings, which come last */
	uint64_t tick_now;    /* the length of a tick */
	uint64_t early_ns;    /* of the current one, at the start; 0: as tick_now */
	uint64_t next_tick, last_tick;
	struct snapshot_thread *looks; /* NULL: there are no snapshots */
	uint64_t last_asked;	       /* the tick for which the last snapshots were requested */
	uint64_t asked_ns;	       /* when they were requested */
	bool held_by_looks;	 /* the latest snapshots belong to a tick, which waits for them */
	struct record_cost cost; /* so far */
	uint64_t cpu_before_ns;	 /* CPU time of the process when measuring began */
	uint64_t mark;		 /* start of an earlier drain: the next round */
	uint64_t last_round, data_until;
	bool shorts_begun; /* the stream has the begin of sums of short waits */
	void *shorts;	   /* a snapshot of them, read at next_tick, to be put before it; or NULL */
	size_t shorts_len;
	uint64_t shorts_ns; /* the tick at which they were read */
	bool is_quiet;	    /* hardly anything was in the rings the last time */
	uint64_t last_drain, last_cpus, last_tasks;
	struct cpu_watch online;
	size_t next_epoch;	       /* the ring whose CPU's epoch was checked last */
	bool cpus_pend;		       /* a CPU is to be opened again, or to be reported */
	const struct drain_sink *sink; /* of the current step */
};

/* Fill in the borrowed members, then: */
int drain_init(struct drain *d, struct error *err);
void drain_deinit(struct drain *d);
/*
 * Starts the thread that takes snapshots. Ticks of @tick_ns count from here. If @first_ns is not 0
 * the first tick is that long, and each later one four times as long until they are @tick_ns.
 */
int drain_begin(struct drain *d, uint64_t tick_ns, uint64_t first_ns, struct error *err);
/* One tick is due at once; the next ones are a full length after it. */
void drain_tick_now(struct drain *d);
/* From now on another length. */
void drain_set_tick(struct drain *d, uint64_t tick_ns);
/*
 * Waits until a ring is worth reading, or it is time to read them, or one of @fds (-1 = none) is
 * readable: returns bit k for fds[k].
 */
unsigned drain_wait(struct drain *d, const int fds[2], uint64_t most_ns);
/* Everything that is in the rings now goes to @sink. True: the target has ended. */
bool drain_step(struct drain *d, const struct drain_sink *sink);
/* Switches the events off; puts the rest, and a last tick after everything. */
void drain_finish(struct drain *d, const struct drain_sink *sink);

/*
 * How many contention events were taken so far and how many records the kernel has lost, by the
 * kernel's own counts. 0, or -ENOTSUP: the records must be looked at. Exact when the events are
 * off.
 */
int drain_counts(const struct drain *d, struct perf_counts *ret);

/* Records of a renewed ring, copied from it: they get the ids that the stream has announced. */
void drain_restore_ids(const struct drain_ring *r, void *records, size_t len);

#endif
