/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_COST_H
#define KONTEND_RECORD_COST_H

#include <stddef.h>
#include <stdint.h>

enum { RECORD_COST_VERSION = 1 };

/* The payload of SNAPSHOT_COST, at each tick of a live session. */
struct record_cost {
	uint64_t from_ns, to_ns; /* session clock: since measuring began */
	/* CPU time of the process; of it that of who drains, and of who takes snapshots. */
	uint64_t cpu_ns, drain_ns, looks_ns;
	/* Bytes of the kernel's memory, with other maps of BPF. First versions end before it. */
	uint64_t perf_rings, bpf_rings, bpf_maps;
	/*
	 * Following holders of locks (holdrec.h) while others wait for longer than follow_ns; 0:
	 * not asked for, or not to be had. Records that were written, and what was not followed or
	 * not written; how often, and for how long programs were attached to the scheduler's
	 * tracepoints. Second versions end before it.
	 */
	uint64_t follow_ns, follow_records, follow_missed, follow_times, follow_attached_ns;
};

enum {
	RECORD_COST_LEAST = offsetof(struct record_cost, perf_rings),
	RECORD_COST_MEMORY = offsetof(struct record_cost, follow_ns),
};

#endif
