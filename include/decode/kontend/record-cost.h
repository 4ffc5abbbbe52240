/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_COST_H
#define KONTEND_RECORD_COST_H

#include <stddef.h>
#include <stdint.h>

enum { RECORD_COST_VERSION = 1 };

/* The payload of SNAPSHOT_COST, written at each tick of a live session. */
struct record_cost {
	uint64_t from_ns, to_ns; /* session clock: since the measurement began */
	/* CPU time of the process, and the parts of the threads that drain rings and take
	 * snapshots. */
	uint64_t cpu_ns, drain_ns, looks_ns;
	/* Bytes of kernel memory; bpf_maps: other BPF maps. Version 1 ends before it. */
	uint64_t perf_rings, bpf_rings, bpf_maps;
	/*
	 * Following holders of locks (holdrec.h) while others wait for longer than follow_ns; 0:
	 * off or not available. Records written, and holders not followed or records not written;
	 * how often, and how long, programs were attached to the scheduler's tracepoints. Version 2
	 * ends before it.
	 */
	uint64_t follow_ns, follow_records, follow_missed, follow_times, follow_attached_ns;
};

enum {
	RECORD_COST_LEAST = offsetof(struct record_cost, perf_rings),
	RECORD_COST_MEMORY = offsetof(struct record_cost, follow_ns),
};

#endif
