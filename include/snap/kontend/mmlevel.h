/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MMLEVEL_H
#define KONTEND_MMLEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much is measured of acquisitions of mmap_locks, whose events are dear. */
enum mmlevel {
	MMLEVEL_CONTENDED, /* none of their events: waits come from those of contention */
	MMLEVEL_SAMPLED,   /* all of them, for a part of the time */
	MMLEVEL_WAS_PID,   /* of older recordings; read as MMLEVEL_ALL */
	MMLEVEL_ALL,	   /* all of them, of the tasks and CPUs that are measured */
	MMLEVELS,
};

enum { MMLEVEL_VERSION = 1, MMLEVEL_ONE_IN = 10, MMLEVEL_MOST = 1000, MMLEVEL_REASON = 200 };

/*
 * The payload of a SNAPSHOT_MMAP, of which there is one at the start, and one at the end of each
 * time in which events were let through.
 */
struct mmlevel_how {
	uint32_t level;	   /* enum mmlevel */
	uint32_t one_in;   /* of MMLEVEL_SAMPLED: for such a part of the time; else 1 */
	uint32_t event_ns; /* what an event costs who causes it, measured here; 0: not known */
	uint32_t asked;	   /* enum mmlevel: what was asked for */
	uint64_t from_ns, to_ns;     /* of MMLEVEL_SAMPLED: when events came; session clock */
	char reason[MMLEVEL_REASON]; /* why it is less than was asked for; "" */
	/* Of MMLEVEL_SAMPLED since the session began: how often locks were got, by a count of all
	 * the time, and how often of that while events came. 0: not known. */
	uint64_t counted, counted_inside;
	uint32_t memcg_told; /* the cgroup that samples name is the memory cgroup, too */
	uint32_t paths;	     /* who gets a lock tells its call chain; older recordings have 0 */
};

/*
 * "contended", "sampled", "sampled=50" or "all"; "sampled,paths" and "all,paths" have call paths. 0
 * with level, one_in and paths, or -EINVAL.
 */
int mmlevel_parse(const char *text, struct mmlevel_how *ret);
const char *mmlevel_name(uint32_t level); /* "?" when it is none */
/* Reads a payload, or what older recordings have of one; false: it is none. */
bool mmlevel_decode(const void *data, size_t len, struct mmlevel_how *ret);

#endif
