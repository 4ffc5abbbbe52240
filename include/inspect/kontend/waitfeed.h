/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAITFEED_H
#define KONTEND_WAITFEED_H

#include "kontend/error.h"
#include "kontend/feed.h"
#include "kontend/target.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Writes records into the rings, by BPF programs on the tracepoints of contention, and, as soon as
 * it does any of these, on those of locks of files, whose waits it reports with their owners:
 *   waits   begins and ends of waits (waitrec.h), in place of perf's own events
 *	     lock:contention_begin and lock:contention_end, which cost several times as much, mostly
 *	     for their call chains: these are unwound here only when they are new;
 *   owners  the owner of the lock when a task begins to wait for it (ownerrec.h);
 *   follow  the states of tasks that have a lock for which others wait (holdrec.h), while there are
 *	     waits longer than that many ns: of all such tasks, if their waiters are measured.
 * With threads, processes (with their children), cgroups or CPUs named, it reports only these. In a
 * PID namespace it needs an nsview to find them and to name the waiter; without one it reports no
 * waits there, and owners of all tasks.
 */
struct kerntypes;
struct nsview;
struct waitfeed;

struct waitfeed_options {
	const struct target *target; /* borrowed for the call; NULL: all */
	bool waits, owners;
	uint64_t follow_ns; /* 0: holders are not followed */
	/*
	 * With waits: shorter ones are only summed up in the kernel; or the number of waits that
	 * are reported one by one is governed, so that all of kontend costs no more than so many
	 * millionths of the CPU time of all CPUs. 0: neither. Requested but not available: an
	 * error.
	 */
	uint64_t short_ns;
	uint32_t cost_ppm;
	bool releases;	    /* with waits, where the kernel has lock:contended_release */
	uint64_t report_ns; /* waits of so long are always reported one by one; 0: none is */
	bool sleeps;	    /* sleeps in state D are measured: snapshot-slept.h */
	/* Sleeps for locks of programs of so long are records (userrec.h); 0: none is measured. */
	uint64_t user_ns;
	bool why;     /* of chosen tasks alone: what they do, and who wakes them (runrec.h) */
	bool holders; /* holders are wanted, from BPF or from perf */
	/* Sleeps of so long are records as well (sleeprec.h); 0: none. */
	uint64_t min_sleep_ns;
	uint32_t max_stack; /* frames of a call chain; 0: none */
	/*
	 * With waits: and call chains of programs, for which each CPU spends at most so many
	 * millionths of its time; 0: as many as there are.
	 */
	bool user_frames;
	uint32_t frames_ppm;
	uint64_t ring_bytes; /* of rings as requested, see ring_own_bytes() */
	struct nsview *ns; /* borrowed for as long as the feed is; NULL: in the initial namespace */
};

/* Can it report waits of such a target, with so many frames? */
bool waitfeed_covers(const struct waitfeed_options *o);
/* Loads the programs. -ENOTSUP: kontend was built without BPF; else the errno of the kernel. */
int waitfeed_new(struct waitfeed **ret, const struct waitfeed_options *o, struct kerntypes *types,
		 struct error *err);
struct feed *waitfeed_feed(struct waitfeed *f); /* NULL of NULL */
/*
 * Starts the programs. Call it after perf's events have been opened: records of owners must follow
 * perf's records, and the kernel calls programs in the order of their attachment. @command: a
 * process that is measured, too; 0 = none.
 */
int waitfeed_start(struct waitfeed *f, pid_t command, struct error *err);
/* Can holders be followed? 0, or -ENOTSUP with the reason. NULL: as if it could not. */
int waitfeed_can_follow(const struct waitfeed *f, struct error *err);
/*
 * Are sleeps reported, and waits for locks of programs? 0, or -ENOTSUP if that was not requested,
 * or with what the kernel refused the programs.
 */
int waitfeed_can_sleep(const struct waitfeed *f, struct error *err);
/*
 * Starts a thread that follows holders while there are long waits. Call it after rights were
 * dropped: the thread needs none. -ENOTSUP: see above.
 */
int waitfeed_follow(struct waitfeed *f, struct error *err);
/* May measured tasks wait for locks of files? Also where it cannot know that; NULL: yes. */
bool waitfeed_files_wait(const struct waitfeed *f);
bool waitfeed_sums_up(const struct waitfeed *f); /* as requested; NULL: no */
/*
 * The same for the thread that reports long waits and runs the governor; 0 if there is nothing to
 * do.
 */
int waitfeed_govern(struct waitfeed *f, struct error *err);
/* Replaces report_ns from now on. NULL is fine. */
void waitfeed_report(struct waitfeed *f, uint64_t report_ns);
/* Stops the threads. Async-signal-safe. */
void waitfeed_unfollow(struct waitfeed *f);
void waitfeed_free(struct waitfeed *f); /* NULL is fine */

/* Memory of the kernel for each of @n CPUs, if rings of @asked bytes are asked for; 0: of none. */
size_t waitfeed_cpu_bytes(uint64_t asked, size_t n);

#endif
