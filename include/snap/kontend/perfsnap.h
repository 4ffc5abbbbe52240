/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PERFSNAP_H
#define KONTEND_PERFSNAP_H

#include "kontend/sections.h"
#include "kontend/snap-items.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Perf events, contexts and breakpoint slots of a kernel at one moment: taken by an inspector
 * (inspect.h), carried as the payload of a SNAPSHOT record of kind SNAPSHOT_PERF, shown in the
 * views slots and contexts. Each snapshot is self-contained: rates are since the previous one.
 * Arrays refer to one another by index + 1 (0: none, not known), and to texts by offset into
 * `strings` (0: ""). Everything is in native byte order; perfsnap_decode() checks its input, so
 * each index and offset of a decoded snapshot is valid.
 */
enum { SNAP_VERSION = 1 };

/* Source of the data. */
enum snap_method {
	SNAP_BPF = 1,	/* read from kernel structures */
	SNAP_PROBE = 2, /* disabled breakpoints opened until the kernel refuses, and /proc */
};

/* Parts missing from this snapshot; views show "-" and the reason. */
enum snap_missing {
	SNAP_NO_SLOTS = 1 << 0,	    /* per-CPU counts */
	SNAP_NO_TASK_MAX = 1 << 1,  /* slots taken by the task with the most */
	SNAP_NO_REGISTERS = 1 << 2, /* contents of the debug registers */
	SNAP_NO_EVENTS = 1 << 3,    /* events: only holders of descriptors are known */
	SNAP_NO_HOLDERS = 1 << 4,   /* descriptors */
	SNAP_NO_CONTEXTS = 1 << 5,
	SNAP_NO_ROTATION = 1 << 6, /* which events rotate */
};

/* Source of data about created breakpoints. */
enum snap_creations {
	SNAP_CREATIONS_NONE = 0,   /* none */
	SNAP_CREATIONS_LOOKS = 1,  /* new events in snapshots: a lower bound */
	SNAP_CREATIONS_EVENTS = 2, /* every creation, except by debuggers */
};

struct snap_head {
	uint64_t time_ns;     /* session clock (CLOCK_MONOTONIC) */
	uint64_t interval_ns; /* since the previous snapshot; 0: the first, without rates */
	uint64_t cost_ns;     /* CPU time spent to take it */
	uint64_t opened; /* perf events created since the previous one, by all processes, also those
			    closed again; UINT64_MAX: not known */
	uint32_t method; /* enum snap_method */
	uint32_t missing;    /* enum snap_missing */
	uint32_t incomplete; /* lists that changed during each of several walks: rows may be missing
			      */
	uint32_t dropped;    /* events, contexts, holders without room */
	uint32_t reason;     /* text: reason of missing parts */
	uint32_t creations;  /* enum snap_creations */
	uint64_t cost_per_s_ns;	   /* of one CPU, over the last second or more; 0: not known */
	uint64_t creations_lost;   /* creations without room */
	uint32_t creations_reason; /* text: why single creations are not seen, if requested */
	uint32_t pad;
	uint64_t creations_since_ns; /* of the first snapshot; 0: not known */
};

struct perfsnap {
	struct snap_head head;
	struct snap_slots *slots;
	struct snap_register *registers;
	struct snap_event *events;
	struct snap_holder *holders;
	struct snap_context *contexts;
	struct snap_creator *creators;
	char *strings; /* begins with NUL and ends with NUL */
	size_t n_slots, n_registers, n_events, n_holders, n_contexts, n_creators, n_strings;
	/* For the code that fills it. */
	size_t cap_slots, cap_registers, cap_events, cap_holders, cap_contexts, cap_creators,
		cap_strings;
};

SECTIONS_FUNCTIONS(perfsnap)
SECTIONS_ADD(perfsnap, slots, slots, struct snap_slots)
SECTIONS_ADD(perfsnap, register, registers, struct snap_register)
SECTIONS_ADD(perfsnap, event, events, struct snap_event)
SECTIONS_ADD(perfsnap, holder, holders, struct snap_holder)
SECTIONS_ADD(perfsnap, context, contexts, struct snap_context)
SECTIONS_ADD(perfsnap, creator, creators, struct snap_creator)
SECTIONS_ADD_TEXT(perfsnap)

#endif
