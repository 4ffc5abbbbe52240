/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPSNAP_H
#define KONTEND_UPSNAP_H

#include "kontend/sections.h"
#include "kontend/upsnap-items.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What uprobes, areas of out-of-line slots and tasks in them a kernel had at one moment: taken by
 * a look at uprobes (snapshot-uprobes.h), carried as the payload of a SNAPSHOT record of kind
 * SNAPSHOT_UPROBES, drawn by the view uprobes. Each snapshot stands alone: what is since the first
 * look (averages, highest marks, the last samples) is in it.
 *
 * Arrays refer to one another by index + 1 (0: none, not known), and to texts by offset into
 * `strings` (0: ""). Everything is in native byte order; upsnap_decode() checks what comes from
 * outside, so that each index and offset of a decoded snapshot is valid.
 */
enum { UPSNAP_VERSION = 1 };

enum upsnap_method {
	UPSNAP_BPF = 1,	 /* read from the kernel's own structures */
	UPSNAP_PROC = 2, /* /proc and tracefs */
};

/* What this snapshot does not say; views show "-" and the reason. */
enum upsnap_missing {
	UPSNAP_NO_SLOTS = 1 << 0,   /* used slots: only who has an area is known */
	UPSNAP_NO_TASKS = 1 << 1,   /* who is in a slot, or waits for one */
	UPSNAP_NO_TRACEFS = 1 << 2, /* probes of uprobe_events */
	UPSNAP_NO_PERF = 1 << 3,    /* probes of perf descriptors */
	UPSNAP_NO_LINKS = 1 << 4,   /* probes of BPF links */
	UPSNAP_NO_COSTS = 1 << 5,   /* what a hit costs: nothing was measured since boot */
};

struct upsnap_head {
	uint64_t time_ns;     /* session clock (CLOCK_MONOTONIC) */
	uint64_t interval_ns; /* since the snapshot before; 0: the first, without rates */
	uint64_t cost_ns;     /* that taking it took */
	uint64_t walk_ns;     /* of that: the walk through all tasks */
	uint64_t first_ns;    /* time of the first snapshot of this session */
	uint32_t method;      /* enum upsnap_method */
	uint32_t missing;     /* enum upsnap_missing */
	uint32_t incomplete;  /* lists that changed under the walk: rows may lack */
	uint32_t dropped;     /* areas, tasks or probes for which there was no room */
	uint32_t reason;      /* text: why something is missing */
	uint32_t pad;
};

struct upsnap {
	struct upsnap_head head;
	struct upsnap_area *areas;
	struct upsnap_task *tasks;
	struct upsnap_probe *probes;
	struct upsnap_hits *hits;
	char *strings; /* begins with NUL and ends with NUL */
	size_t n_areas, n_tasks, n_probes, n_hits, n_strings;
	/* Of who fills it. */
	size_t cap_areas, cap_tasks, cap_probes, cap_hits, cap_strings;
};

SECTIONS_FUNCTIONS(upsnap)
SECTIONS_ADD(upsnap, area, areas, struct upsnap_area)
SECTIONS_ADD(upsnap, task, tasks, struct upsnap_task)
SECTIONS_ADD(upsnap, probe, probes, struct upsnap_probe)
SECTIONS_ADD(upsnap, hits, hits, struct upsnap_hits)
SECTIONS_ADD_TEXT(upsnap)

#endif
