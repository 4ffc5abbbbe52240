/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPSNAP_H
#define KONTEND_UPSNAP_H

#include "kontend/sections.h"
#include "kontend/upsnap-items.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Uprobes, XOL areas and the tasks in them at one moment: taken by the uprobe inspector
 * (snapshot-uprobes.h), carried as the payload of a SNAPSHOT record of kind SNAPSHOT_UPROBES, shown
 * in the view uprobes. Each snapshot is self-contained: it includes figures since the first one
 * (averages, maxima, last samples).
 * Arrays refer to one another by index + 1 (0: none, not known), and to texts by offset into
 * `strings` (0: ""). Everything is in native byte order; upsnap_decode() checks its input, so each
 * index and offset of a decoded snapshot is valid.
 */
enum { UPSNAP_VERSION = 1 };

enum upsnap_method {
	UPSNAP_BPF = 1,	 /* read from kernel structures */
	UPSNAP_PROC = 2, /* /proc and tracefs */
};

/* Parts missing from this snapshot; views show "-" and the reason. */
enum upsnap_missing {
	UPSNAP_NO_SLOTS = 1 << 0,   /* used slots: only which processes have an area is known */
	UPSNAP_NO_TASKS = 1 << 1,   /* tasks in a slot or waiting for one */
	UPSNAP_NO_TRACEFS = 1 << 2, /* probes of uprobe_events */
	UPSNAP_NO_PERF = 1 << 3,    /* probes of perf descriptors */
	UPSNAP_NO_LINKS = 1 << 4,   /* probes of BPF links */
	UPSNAP_NO_COSTS = 1 << 5,   /* cost of a hit: not measured since boot */
};

struct upsnap_head {
	uint64_t time_ns;     /* session clock (CLOCK_MONOTONIC) */
	uint64_t interval_ns; /* since the previous snapshot; 0: the first, without rates */
	uint64_t cost_ns;     /* time spent to take it */
	uint64_t walk_ns;     /* part of that for the walk through all tasks */
	uint64_t first_ns;    /* time of the first snapshot of this session */
	uint32_t method;      /* enum upsnap_method */
	uint32_t missing;     /* enum upsnap_missing */
	uint32_t incomplete;  /* lists that changed during the walk: rows may be missing */
	uint32_t dropped;     /* areas, tasks or probes without room */
	uint32_t reason;      /* text: reason of missing parts */
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
	/* For the code that fills it. */
	size_t cap_areas, cap_tasks, cap_probes, cap_hits, cap_strings;
};

SECTIONS_FUNCTIONS(upsnap)
SECTIONS_ADD(upsnap, area, areas, struct upsnap_area)
SECTIONS_ADD(upsnap, task, tasks, struct upsnap_task)
SECTIONS_ADD(upsnap, probe, probes, struct upsnap_probe)
SECTIONS_ADD(upsnap, hits, hits, struct upsnap_hits)
SECTIONS_ADD_TEXT(upsnap)

#endif
