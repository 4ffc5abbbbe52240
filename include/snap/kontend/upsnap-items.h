/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPSNAP_ITEMS_H
#define KONTEND_UPSNAP_ITEMS_H

#include <stdint.h>

/*
 * Items of a snapshot of uprobes; the same in memory and in recordings. Indices, texts and units:
 * see upsnap.h.
 */
enum { UPSNAP_RECENT = 32 };

/*
 * The XOL area of a process (mm), where probed instructions are executed out of line: a page of
 * slots, one of which the kernel uses for return probes. `samples` snapshots since the first one
 * have seen it.
 */
struct upsnap_area {
	uint64_t mm;	   /* kernel address as identity. Without BPF: the pid */
	uint64_t since_ns; /* first seen then; later members count since then */
	uint64_t sum_used; /* over the samples */
	int32_t pid;
	uint32_t comm;	   /* text */
	int32_t slots;	   /* usable; -1: not known */
	int32_t used;	   /* now; -1: not known */
	uint32_t max_used; /* in any sample */
	uint32_t samples;
	uint32_t waiting, single_step; /* tasks, now */
	uint32_t returns;	       /* active return probes of all its tasks */
	uint32_t depth;		       /* active return probes of the task with the most */
	uint32_t n_recent;
	uint32_t pad;
	uint16_t recent[UPSNAP_RECENT]; /* used slots in the last samples, oldest first */
};

enum upsnap_task_state {
	UPSNAP_STEP = 1, /* executes an instruction in its slot, or was preempted there */
	UPSNAP_WAIT = 2, /* waits for a slot */
};

struct upsnap_task {
	uint64_t since_ns; /* first of the consecutive snapshots with this state */
	uint64_t offset;   /* of its probe in the binary; UINT64_MAX: not known */
	uint32_t area;	   /* index + 1 */
	int32_t tid;
	uint32_t comm;	/* text */
	uint32_t state; /* enum upsnap_task_state */
	int32_t slot;	/* of UPSNAP_STEP; -1: not known */
	uint32_t depth; /* active return probes */
};

/* Interface that created the probe. */
enum upsnap_source {
	UPSNAP_TRACEFS = 1, /* uprobe_events; perf probe and others write there */
	UPSNAP_PERF = 2,    /* a descriptor of the perf PMU "uprobe" */
	UPSNAP_LINK = 3,    /* a BPF link */
};

/* Cost of a hit besides the probe's own work; see uprobe.h. */
enum upsnap_class {
	UPSNAP_CLASS_UNKNOWN,
	UPSNAP_OPTIMIZED,   /* a 5-byte nop that the kernel replaces by a call: no trap */
	UPSNAP_EMULATED,    /* a trap */
	UPSNAP_OUT_OF_LINE, /* two traps and a slot */
};

enum upsnap_probe_flags {
	UPSNAP_RETURN = 1 << 0,	    /* probes the return of the function */
	UPSNAP_DISABLED = 1 << 1,   /* defined but not in use: not in the binary */
	UPSNAP_HITS = 1 << 2,	    /* hits are known */
	UPSNAP_MISSES = 1 << 3,	    /* misses are known */
	UPSNAP_OWN = 1 << 4,	    /* of kontend itself (--probe) */
	UPSNAP_DECIMATED = 1 << 5,  /* hits count only the runs of its BPF program */
	UPSNAP_OF_TARGET = 1 << 6,  /* counts only hits in filter_pid */
	UPSNAP_NEW = 1 << 7,	    /* not in the previous snapshot: no rate yet */
	UPSNAP_DEBUG_INFO = 1 << 8, /* the symbol is from separate debug information */
	UPSNAP_SHARED = 1 << 9,	    /* hits include those of other probes at this place */
};

struct upsnap_probe {
	uint64_t id;	   /* the same in all snapshots */
	uint64_t offset;   /* into the binary */
	uint64_t ref_ctr;  /* offset of its reference counter (USDT semaphore); 0: none */
	uint64_t hits;	   /* since it was placed */
	uint64_t new_hits; /* since the previous snapshot */
	uint64_t first_hits, first_ns; /* at its first snapshot */
	uint64_t misses;
	uint64_t cost_ns;    /* of one hit, measured on this machine; 0: not measured */
	int32_t owner_pid;   /* 0: not known */
	int32_t filter_pid;  /* counts only in this process; 0: in all */
	uint32_t source;     /* enum upsnap_source */
	uint32_t class_;     /* enum upsnap_class */
	uint32_t flags;	     /* enum upsnap_probe_flags */
	uint32_t n_bytes;    /* of the instruction; 0: unreadable */
	uint32_t owner_comm; /* texts */
	uint32_t binary;     /* path */
	uint32_t symbol;     /* "parse+0x4"; "": none */
	uint32_t name;	     /* "group/event", or the link's program */
	uint32_t reason;     /* of its class, for users */
	uint32_t hint;	     /* how to make it cheaper; "" */
	uint8_t bytes[16];   /* original bytes of the instruction */
};

/* Hits by CPU, of probes with known hits. */
struct upsnap_hits {
	uint64_t hits, new_hits;
	uint32_t probe; /* index + 1 */
	uint32_t cpu;
};

#endif
