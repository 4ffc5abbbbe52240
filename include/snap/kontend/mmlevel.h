/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MMLEVEL_H
#define KONTEND_MMLEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of the mmap_lock acquisitions to measure; their events are expensive. */
enum mmlevel {
	MMLEVEL_CONTENDED, /* no acquisition events: waits come from contention events */
	MMLEVEL_SAMPLED,   /* all of them, for a part of the time */
	MMLEVEL_WAS_PID,   /* of older recordings; read as MMLEVEL_ALL */
	MMLEVEL_ALL,	   /* all of them, of the measured tasks and CPUs */
	MMLEVELS,
};

enum { MMLEVEL_VERSION = 1, MMLEVEL_ONE_IN = 10, MMLEVEL_MOST = 1000, MMLEVEL_REASON = 200 };

/*
 * The payload of SNAPSHOT_MMAP: one at the start, and one at the end of each interval in which
 * events were recorded.
 */
struct mmlevel_how {
	uint32_t level;	   /* enum mmlevel */
	uint32_t one_in;   /* of MMLEVEL_SAMPLED: this part of the time; else 1 */
	uint32_t event_ns; /* cost of an event for the task that causes it, measured here; 0: not
			      known */
	uint32_t asked;	   /* enum mmlevel: requested */
	uint64_t from_ns, to_ns;     /* of MMLEVEL_SAMPLED: interval with events; session clock */
	char reason[MMLEVEL_REASON]; /* why the level is lower than requested; "" */
	/* Of MMLEVEL_SAMPLED since the session began: acquisitions counted all the time, and those
	 * counted while events were recorded. 0: not known. */
	uint64_t counted, counted_inside;
	uint32_t memcg_reported; /* the cgroup of samples is the memory cgroup, too */
	uint32_t paths; /* samples have the call chain of the acquiring task; 0 in older recordings
			 */
};

/*
 * Parses "contended", "sampled", "sampled=50" or "all"; "sampled,paths" and "all,paths" record call
 * paths. 0 with level, one_in and paths set, or -EINVAL.
 */
int mmlevel_parse(const char *text, struct mmlevel_how *ret);
const char *mmlevel_name(uint32_t level); /* "?" if it is none */
/* Reads a payload, also of older recordings; false: not valid. */
bool mmlevel_decode(const void *data, size_t len, struct mmlevel_how *ret);

#endif
