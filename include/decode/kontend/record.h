/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_H
#define KONTEND_RECORD_H

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

/*
 * The unit that sources (live rings, files) deliver to all later stages. All that a reader needs to
 * understand the stream is a record in it, before its first use.
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
	/* struct record_fill: highest fill of ring `ring` since the last such record. */
	RECORD_FILL,
	/* struct record_cpu: a CPU went offline (its events ended), or came back. */
	RECORD_CPU,
	/* Text, a sentence for the user: the part of the stream that is missing, and why. Then a
	 * NUL and a struct record_note (notes.h), which files of old versions lack. */
	RECORD_NOTE,
	/* u64: the measurement begins; opening events and reading initial state took until now. */
	RECORD_START,
	/* struct record_snapshot and its payload: state read as a whole. It may come before older
	 * events; it applies at its own time. */
	RECORD_SNAPSHOT,
	/* u64: this many bytes before it, up to it, describe the whole recording. Only in files, as
	 * the last record; readers read that part first. */
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

/* Stored in files. In version 1 all values but 0 mean ONLINE. */
enum record_cpu_state {
	RECORD_CPU_OFFLINE,
	RECORD_CPU_ONLINE,	/* again; records of earlier activity are missing until about now */
	RECORD_CPU_REPORTED,	/* the same, but a loss in its ring covers all missing records */
	RECORD_CPU_WAITS_WHOLE, /* the same, but no wait is missing */
};

struct record_cpu {
	uint32_t cpu, online; /* enum record_cpu_state */
};

/* Kinds of snapshots. Stored in files: numbers are never reused. */
enum record_snapshot_kind {
	SNAPSHOT_NONE,	    /* not known which */
	SNAPSHOT_PERF,	    /* breakpoint slots, perf events and contexts: perfsnap.h */
	SNAPSHOT_UPROBES,   /* uprobe areas */
	SNAPSHOT_SLOTS,	    /* the breakpoint part of SNAPSHOT_PERF; more often */
	SNAPSHOT_PMUS,	    /* PMUs whose events are multiplexed: pmus.h */
	SNAPSHOT_LOCKS,	    /* objects, holders and waiters of locks: locksnap.h */
	SNAPSHOT_BURST,	    /* a sampling of context switches: struct record_burst */
	SNAPSHOT_TEXT,	    /* code of kernel functions: textsnap.h */
	SNAPSHOT_MMAP,	    /* how mmap_locks are measured: struct mmlevel_how */
	SNAPSHOT_BUILD_IDS, /* build ids of the files of programs: buildids.h */
	SNAPSHOT_FUNCS,	    /* names and code of recorded functions: funcsnap.h */
	SNAPSHOT_CFI,	    /* unwind tables of a file: cfisnap.h */
	SNAPSHOT_COST,	    /* cost of kontend itself so far: struct record_cost */
	SNAPSHOT_INCIDENT,  /* the trigger that this file was written for: incident.h */
	SNAPSHOT_SHORT,	    /* waits that were only summed up, and why: shortsnap.h */
	SNAPSHOT_PHASES,    /* phases of rotation and cgroup switches, in sums: phasesnap.h */
	SNAPSHOT_MACHINE,   /* machine and boot: struct record_machine */
	SNAPSHOT_EVENTS,    /* names of events and PMUs of a recording: eventsnap.h */
	SNAPSHOT_SLEPT,	    /* sleeps in state D, in sums: sleptsnap.h */
	SNAPSHOT_USERS,	    /* short sleeps for locks of programs, in sums: usersnap.h */
	SNAPSHOT_HOLDS,	    /* how long chosen locks are held, in sums: holdsnap.h */
	SNAPSHOT_KINDS,
};

enum record_snapshot_flags {
	RECORD_SNAPSHOT_LOST = 1, /* it was taken, but its payload is lost */
	/* For SNAPSHOT_FUNCS and _CFI: it is among events, and more follow. */
	RECORD_SNAPSHOT_MORE = 2,
};

enum { RECORD_SNAPSHOT_MOST = 16 << 20 }; /* bytes of a payload */

struct record_snapshot {
	uint16_t kind;	  /* enum record_snapshot_kind, or one of a later version */
	uint16_t version; /* payload format of the kind, from 1 on */
	uint32_t flags;
	uint64_t time_ns; /* when taken; 0: before the session */
};

enum { RECORD_BURST_VERSION = 1 };

/* The payload of SNAPSHOT_BURST: an interval in which every context switch was recorded. */
struct record_burst {
	uint64_t from_ns, to_ns; /* session clock */
	/* Time that recording added to each switch, for each event of the previous task; 0: not
	 * known. */
	uint64_t own_ps;
	/* CPU time of kontend: to turn it on and off; to drain the rings meanwhile; and bytes
	 * drained. */
	uint64_t turn_ns, drain_ns, drain_bytes;
};

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
	/*
	 * The clock that runs while at least one CPU is idle (idleclock.h), and when that was read;
	 * 0: not known. Version 3 ends before it.
	 */
	uint64_t idle_ns, idle_at_ns;
	uint64_t resident; /* bytes of memory of the process. Version 4 ends before it. */
};

enum {
	RECORD_COST_LEAST = offsetof(struct record_cost, perf_rings),
	RECORD_COST_MEMORY = offsetof(struct record_cost, follow_ns),
	RECORD_COST_FOLLOW = offsetof(struct record_cost, idle_ns),
	RECORD_COST_IDLE = offsetof(struct record_cost, resident),
};

enum { RECORD_MACHINE_VERSION = 1 };

/*
 * The payload of SNAPSHOT_MACHINE, once per recording: it identifies the machine and its boot, and
 * how the measurement was made. Texts end in a NUL; "": not known. Recordings of 1.0.0 end after
 * `kontend`; later members come last, and readers take those that they find.
 */
struct record_machine {
	char host[65];	   /* uname -n */
	char id[33];	   /* see machineid.h: not that of /etc/machine-id */
	char boot[40];	   /* the kernel's boot id */
	char kontend[38];  /* version that recorded */
	char refused[400]; /* see run_waits_new() */
};

enum { RECORD_MACHINE_LEAST = offsetof(struct record_machine, refused) };

struct record {
	enum record_kind kind;
	uint32_t ring; /* RECORD_PERF, _FILL: index of the ring; its CPU where rings are per CPU */
	const void *data; /* borrowed until the source's release() */
	size_t len;
	void *owner; /* used by the source only */
	bool lasts;  /* the bytes stay until source_free(), even after release */
};

#endif
