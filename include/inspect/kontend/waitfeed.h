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
 * Writes into the rings, by BPF programs on the tracepoints of contention:
 *   waits   where they begin and where they end (waitrec.h), in place of perf's own events of
 *	     lock:contention_begin and lock:contention_end, which cost several times as much, most
 *	     of all for their call chains: these are unwound here only when they are new;
 *   owners  who has the lock when a task begins to wait for it (ownerrec.h);
 *   follow  what tasks do that have a lock for which others wait (holdrec.h), while there are waits
 *	     longer than that many ns: whoever they are, if who waits is measured.
 * Of threads, processes (with those that they start), cgroups and CPUs that were named it tells of
 * these alone. In a PID namespace of its own it takes an nsview, to know them and to say who waits;
 * without one waits are not told there, and owners are of all.
 */
struct kerntypes;
struct nsview;
struct waitfeed;

struct waitfeed_options {
	const struct target *target; /* borrowed for the call; NULL: all */
	bool waits, owners;
	uint64_t follow_ns; /* 0: holders are not followed */
	/*
	 * With waits: shorter ones are summed up in the kernel and not told one by one, or what is
	 * told is governed so that all of kontend costs no more than so many millionths of the CPU
	 * time of all CPUs. 0: neither. Asked for, and not to be had, is a failure.
	 */
	uint64_t short_ns;
	uint32_t cost_ppm;
	bool releases;	     /* with waits, where the kernel has lock:contended_release */
	uint64_t tell_ns;    /* waits of so long are told one by one at any cost; 0: none is */
	bool holders;	     /* they are asked for, whoever tells of them */
	uint32_t max_stack;  /* frames of a call chain; 0: none */
	uint64_t ring_bytes; /* that are asked for, see ring_own_bytes() */
	struct nsview *ns; /* borrowed for as long as the feed is; NULL: in the initial namespace */
};

/* Can waits be told for such a target, with so many frames? */
bool waitfeed_covers(const struct waitfeed_options *o);
/* Loads the programs. -ENOTSUP when kontend was built without BPF, else what the kernel said. */
int waitfeed_new(struct waitfeed **ret, const struct waitfeed_options *o, struct kerntypes *types,
		 struct error *err);
struct feed *waitfeed_feed(struct waitfeed *f); /* NULL of NULL */
/*
 * From here on they are called. After the events of perf have been opened: what is written of
 * owners must come behind their records, and the kernel calls whoever was there first. @command: a
 * process that is measured, too; 0 = none.
 */
int waitfeed_start(struct waitfeed *f, pid_t command, struct error *err);
/* Can holders be followed? 0, or -ENOTSUP and why not. NULL is none that could. */
int waitfeed_can_follow(const struct waitfeed *f, struct error *err);
/*
 * From here on a thread of its own sees when holders are to be followed. After privileges were
 * given up, as it needs none. -ENOTSUP: see above.
 */
int waitfeed_follow(struct waitfeed *f, struct error *err);
bool waitfeed_sums_up(const struct waitfeed *f); /* as was asked for; NULL: no */
/* The same of the thread that has long waits told, and governs; 0 if there is nothing to do. */
int waitfeed_govern(struct waitfeed *f, struct error *err);
/* From now on instead of tell_ns. NULL is fine. */
void waitfeed_tell(struct waitfeed *f, uint64_t tell_ns);
/* No more. Async-signal-safe. */
void waitfeed_unfollow(struct waitfeed *f);
void waitfeed_free(struct waitfeed *f); /* NULL is fine */

/* Memory of the kernel for each of @n CPUs, if rings of @asked bytes are asked for; 0: of none. */
size_t waitfeed_cpu_bytes(uint64_t asked, size_t n);

#endif
