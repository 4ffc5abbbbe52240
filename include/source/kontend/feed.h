/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FEED_H
#define KONTEND_FEED_H

#include "kontend/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FEED_RINGS = 2 }; /* of a CPU, at most: the usual one, and one of nested interrupts */

/* Counts of following holders of locks: see holdrec.h. */
struct feed_follow {
	uint64_t longer_ns; /* others must wait longer than this */
	uint64_t records;
	uint64_t missed; /* holders that were not followed, and records that were not written */
	uint64_t times, attached_ns; /* programs were attached to the scheduler's tracepoints */
	int failed;		     /* errno of attaching them; 0: it worked */
};

/*
 * A writer of records besides the kernel's own events: kontend's BPF programs. They write into the
 * session's rings through an event of the software event bpf-output for each CPU, or into rings of
 * their own, as records of that event.
 */
struct feed {
	/*
	 * The event of @cpu has been opened, for the first time or again; the descriptor is
	 * borrowed for the call. 0 or a negative errno.
	 */
	int (*set)(struct feed *f, uint32_t cpu, int fd);
	/* From now on it writes into its own rings; or it stops that. */
	void (*enable)(struct feed *f, bool on);
	/* The @nth ring of its own for @cpu, after set() for that CPU. False: none. */
	bool (*ring)(struct feed *f, uint32_t cpu, unsigned nth, struct ring *ret);
	/* False: it does not follow holders. NULL: the same. */
	bool (*follow)(struct feed *f, struct feed_follow *ret);
	/*
	 * The payload of a SNAPSHOT_SHORT as of now, valid until the next call; @begin: of the time
	 * when its sums begin. Returns NULL if no waits are summed up. The member is NULL: the
	 * same.
	 */
	const void *(*shorts)(struct feed *f, bool begin, uint64_t now_ns, size_t *ret_len);
	/*
	 * The clock that runs while at least one CPU is idle (idleclock.h), and when it was read.
	 * False: not known. The member is NULL: the same.
	 */
	bool (*idle)(struct feed *f, uint64_t *ret_at_ns, uint64_t *ret_ns);
	uint32_t ring_bytes; /* of the usual one of each CPU */
	size_t cpu_bytes;    /* memory for each CPU, with that */
	/* It reports begins and ends of waits: perf's own events for that are not opened. */
	bool waits;
	bool frames; /* and call chains of programs, with its waits or beside perf's */
	/* It writes much into the session's rings: their reader is woken by a watermark, not by
	 * each record, as to wake it is one more switch to report. */
	bool much;
};

#endif
