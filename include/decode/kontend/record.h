/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_H
#define KONTEND_RECORD_H

#include "kontend/record-cost.h"
#include "kontend/record-machine.h"
#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

/*
 * The unit of exchange between a source (live rings, later a file) and everything behind it.
 * Whatever a reader needs to understand the stream is a record in it, before its first use.
 */
enum record_kind {
	/* A run of whole perf records (struct perf_event_header ...) of ring `ring`, in ring
	 * order, 8-byte aligned, not wrapped. */
	RECORD_PERF = 1,
	/* struct perf_event_attr (attr.size bytes), then the u64 ids of its events: the body of
	 * PERF_RECORD_HEADER_ATTR. */
	RECORD_ATTR,
	/* "SYSTEM\0" and the text of the event's tracefs `format` file. */
	RECORD_FORMAT,
	/* Text as of /proc/kallsyms; len 0: not readable. All addresses 0: withheld. */
	RECORD_KALLSYMS,
	/* struct record_host. */
	RECORD_HOST,
	/* u64: every event up to this time has been emitted, on every ring. */
	RECORD_ROUND,
	/* u64: closes a time bucket; every event up to this time has been emitted. A tick comes
	 * before the round that passes its time. */
	RECORD_TICK,
	/* struct record_drop: lost between the rings and the reader. */
	RECORD_DROP,
	/* struct record_fill: highest fill of ring `ring` since the last one. */
	RECORD_FILL,
	/* struct record_cpu: a CPU went away (its events ended), or came back. */
	RECORD_CPU,
	/* Text without NUL, one sentence for the reader: what of the stream is missing, and why. */
	RECORD_NOTE,
	/* u64: measuring begins; opening and what was to be read before took until now. */
	RECORD_START,
	/* struct record_snapshot and its payload: something looked at as a whole. It may come
	 * before events that are older; it acts at its own time. */
	RECORD_SNAPSHOT,
	/* u64: what stands as many bytes before it, up to it, is of the whole recording. In files
	 * only, as their last record, of which the reader begins with that. */
	RECORD_TRAILER,
};

struct record_host {
	uint64_t clock_ns; /* session clock (CLOCK_MONOTONIC) at the start */
	uint64_t wall_ns;  /* CLOCK_REALTIME at the same moment */
	uint32_t cpus;	   /* highest possible CPU + 1 */
	uint32_t cpus_online;
	char release[65]; /* uname -r */
	char machine[65]; /* uname -m */
	char targets[64]; /* what is measured: "all CPUs", "pid 812", ... */
	char method[32];  /* how: "perf ring" */
};

struct record_drop {
	uint64_t records;
	uint64_t bytes;
};

struct record_fill {
	uint32_t used_bytes;
	uint32_t size_bytes;
};

/* Numbers are those in files. First versions take all but 0 for ONLINE. */
enum record_cpu_state {
	RECORD_CPU_OFFLINE,
	RECORD_CPU_ONLINE,	/* again; some of what it did before is missing, until about now */
	RECORD_CPU_TOLD,	/* the same, but a loss in its ring tells of all that is missing */
	RECORD_CPU_WAITS_WHOLE, /* the same, but all waits are there */
};

struct record_cpu {
	uint32_t cpu, online; /* enum record_cpu_state */
};

/* What was looked at. Numbers are those in files: they are never given anew. */
enum record_snapshot_kind {
	SNAPSHOT_NONE,	    /* not known which */
	SNAPSHOT_PERF,	    /* breakpoint slots, perf events and contexts: perfsnap.h */
	SNAPSHOT_UPROBES,   /* uprobe areas */
	SNAPSHOT_SLOTS,	    /* the part of SNAPSHOT_PERF that is of breakpoints; more often */
	SNAPSHOT_PMUS,	    /* PMUs whose events take turns: pmus.h */
	SNAPSHOT_LOCKS,	    /* what locks belong to, who holds them and waits: locksnap.h */
	SNAPSHOT_BURST,	    /* context switches were looked at: struct record_burst */
	SNAPSHOT_TEXT,	    /* code of functions of the kernel: textsnap.h */
	SNAPSHOT_MMAP,	    /* how mmap_locks are measured: struct mmlevel_how */
	SNAPSHOT_BUILD_IDS, /* which files programs were: buildids.h */
	SNAPSHOT_FUNCS,	    /* names and code of functions that were met: funcsnap.h */
	SNAPSHOT_CFI,	    /* by which stacks are unwound, of a file: cfisnap.h */
	SNAPSHOT_COST,	    /* what kontend itself has cost so far: struct record_cost */
	SNAPSHOT_INCIDENT,  /* what a trigger caught, for which this file was written: incident.h */
	SNAPSHOT_SHORT,	    /* waits that were only summed up, and why: shortsnap.h */
	SNAPSHOT_PHASES,    /* phases of rotation and switches of cgroups, in sums: phasesnap.h */
	SNAPSHOT_MACHINE,   /* which machine and boot it is: struct record_machine */
	SNAPSHOT_KINDS,
};

enum record_snapshot_flags {
	RECORD_SNAPSHOT_LOST = 1, /* it was taken, but there is no payload any more */
	/* Of SNAPSHOT_FUNCS and _TABLES: it stands among events, and others follow. */
	RECORD_SNAPSHOT_MORE = 2,
};

enum { RECORD_SNAPSHOT_MOST = 16 << 20 }; /* bytes of a payload */

struct record_snapshot {
	uint16_t kind;	  /* enum record_snapshot_kind, or what a later version added */
	uint16_t version; /* of the payload's form, by kind, from 1 on */
	uint32_t flags;
	uint64_t time_ns; /* when it was taken; 0: before the session */
};

enum { RECORD_BURST_VERSION = 1 };

/* The payload of SNAPSHOT_BURST: a time in which every switch was to be seen. */
struct record_burst {
	uint64_t from_ns, to_ns; /* session clock */
	/* What the records took of each switch, for each event of the task that went off; 0: not
	 * known. */
	uint64_t own_ps;
	/* CPU time of who collected: for turning it on and off; for taking what was in the rings
	 * meanwhile, and how much that was in all. */
	uint64_t turn_ns, drain_ns, drain_bytes;
};

struct record {
	enum record_kind kind;
	uint32_t ring; /* RECORD_PERF, _FILL: index of the ring; its CPU where rings are per CPU */
	const void *data; /* borrowed until the source's release() */
	size_t len;
	void *owner; /* the source's own; opaque to everybody else */
	bool lasts;  /* the bytes stay until source_free(), also when they were given back */
};

#endif
