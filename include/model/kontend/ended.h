/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENDED_H
#define KONTEND_ENDED_H

#include "kontend/map64.h"
#include "kontend/perfsnap.h"
#include "kontend/upsnap.h"

/*
 * Entries of earlier snapshots that the last one has no more: a report of ten minutes covers all
 * snapshots, where a screen shows the present. Each is kept as its last snapshot had it, so with
 * its highest mark. Snapshots of kontend's own events and of tasks in slots are of the moment.
 */
enum ended_kind {
	ENDED_CONTEXT,
	ENDED_BREAKPOINT,
	ENDED_AREA,
	ENDED_PROBE,
	ENDED_KINDS,
};

enum { ENDED_MOST = 256 }; /* of a kind; more are counted */

struct ended_list {
	struct map64 at;	      /* identity -> index + 1 */
	uint64_t last_ns[ENDED_MOST]; /* of the last look that saw it; 0: it is there again */
	uint32_t n;
	uint64_t more; /* for which there was no room */
};

struct ended_slots {
	uint32_t cpu, type;
	int32_t most; /* used in any look */
};

struct ended {
	struct ended_list lists[ENDED_KINDS];
	/* Where they are, by their index: contexts, events with their holders; areas, probes. */
	struct perfsnap perf;
	struct upsnap uprobes;
	struct ended_slots *slots;
	size_t n_slots, cap_slots;
	/* The latest look, and the one that is compared with it. */
	struct perfsnap breakpoints, contexts, next;
	struct upsnap upsnap, upnext;
};

/* 0 or -ENOMEM. */
int ended_new(struct ended **ret);
/* The payload of a snapshot of @kind (enum snapshot_kind). One that cannot be read changes nothing.
 * 0 or -ENOMEM. */
int ended_look(struct ended *e, uint16_t kind, const void *payload, size_t len);
/* Nothing has ended so far. */
void ended_zero(struct ended *e);
/* Most slots that were used at a time; -1: not known. */
int32_t ended_most_used(const struct ended *e, uint32_t cpu, uint32_t type);
void ended_free(struct ended *e); /* NULL is fine */

#endif
