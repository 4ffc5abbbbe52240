/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPSNAP_ITEMS_H
#define KONTEND_UPSNAP_ITEMS_H

#include <stdint.h>

/*
 * What a snapshot of uprobes consists of; the same in memory and in recordings. Indices, texts and
 * units: see upsnap.h.
 */
enum { UPSNAP_RECENT = 32 };

/*
 * The area of a process (mm) that instructions are executed in out of line: a page of slots, one of
 * which the kernel keeps for return probes. `samples` looks since the first one have seen it.
 */
struct upsnap_area {
	uint64_t mm;	   /* in the kernel: identity. Without BPF: the pid */
	uint64_t since_ns; /* when it was seen first; what follows is since then */
	uint64_t sum_used; /* over the samples */
	int32_t pid;
	uint32_t comm;	   /* text */
	int32_t slots;	   /* that can be used; -1: not known */
	int32_t used;	   /* now; -1: not known */
	uint32_t max_used; /* in any sample */
	uint32_t samples;
	uint32_t waiting, single_step; /* tasks, now */
	uint32_t returns; /* return probes that its tasks are inside of, all together */
	uint32_t depth;	  /* and the most of one task */
	uint32_t n_recent;
	uint32_t pad;
	uint16_t recent[UPSNAP_RECENT]; /* used, the last samples, oldest first */
};

enum upsnap_task_state {
	UPSNAP_STEP = 1, /* executes an instruction in its slot, or was preempted there */
	UPSNAP_WAIT = 2, /* waits for a slot */
};

struct upsnap_task {
	uint64_t since_ns; /* the first of the looks in a row that saw it so */
	uint64_t offset;   /* of its probe in the binary; UINT64_MAX: not known */
	uint32_t area;	   /* index + 1 */
	int32_t tid;
	uint32_t comm;	/* text */
	uint32_t state; /* enum upsnap_task_state */
	int32_t slot;	/* of UPSNAP_STEP; -1: not known */
	uint32_t depth; /* return probes that it is inside of */
};

/* Who asked the kernel for it. */
enum upsnap_source {
	UPSNAP_TRACEFS = 1, /* uprobe_events; perf probe and others write there */
	UPSNAP_PERF = 2,    /* a descriptor of the perf PMU "uprobe" */
	UPSNAP_LINK = 3,    /* a BPF link */
};

/* What a hit costs besides the probe's own work; see uprobe.h. */
enum upsnap_class {
	UPSNAP_CLASS_UNKNOWN,
	UPSNAP_OPTIMIZED,   /* a 5-byte nop that the kernel makes a call of: no trap */
	UPSNAP_EMULATED,    /* a trap */
	UPSNAP_OUT_OF_LINE, /* two traps and a slot */
};

enum upsnap_probe_flags {
	UPSNAP_RETURN = 1 << 0,	    /* probes the function's return */
	UPSNAP_DISABLED = 1 << 1,   /* defined, but nobody uses it: not in the binary */
	UPSNAP_HITS = 1 << 2,	    /* hits are known */
	UPSNAP_MISSES = 1 << 3,	    /* misses are known */
	UPSNAP_OWN = 1 << 4,	    /* of kontend itself (--probe) */
	UPSNAP_DECIMATED = 1 << 5,  /* hits are those that its BPF program was run for */
	UPSNAP_OF_TARGET = 1 << 6,  /* counts those in filter_pid only */
	UPSNAP_NEW = 1 << 7,	    /* was not there in the look before: no rate yet */
	UPSNAP_DEBUG_INFO = 1 << 8, /* the symbol is of separate debug information */
	UPSNAP_SHARED = 1 << 9,	    /* hits are also those of others who have a probe there */
};

struct upsnap_probe {
	uint64_t id;	   /* identity from one snapshot to the next */
	uint64_t offset;   /* into the binary */
	uint64_t ref_ctr;  /* offset of the counter that it raises (USDT semaphore); 0: none */
	uint64_t hits;	   /* since it was placed */
	uint64_t new_hits; /* since the snapshot before */
	uint64_t first_hits, first_ns; /* when it was seen first */
	uint64_t misses;
	uint64_t cost_ns;    /* of one hit, as measured on this machine; 0: not measured */
	int32_t owner_pid;   /* 0: nobody known */
	int32_t filter_pid;  /* counts in this process only; 0: in all */
	uint32_t source;     /* enum upsnap_source */
	uint32_t class_;     /* enum upsnap_class */
	uint32_t flags;	     /* enum upsnap_probe_flags */
	uint32_t n_bytes;    /* of the instruction; 0: could not be read */
	uint32_t owner_comm; /* texts */
	uint32_t binary;     /* path */
	uint32_t symbol;     /* "parse+0x4"; "" where there is none */
	uint32_t name;	     /* "group/event", or the link's program */
	uint32_t reason;     /* of its class, in words */
	uint32_t hint;	     /* what would make it cheaper; "" */
	uint8_t bytes[16];   /* what the probe replaced */
};

/* Hits by CPU, of probes for which they are known. */
struct upsnap_hits {
	uint64_t hits, new_hits;
	uint32_t probe; /* index + 1 */
	uint32_t cpu;
};

#endif
