/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passed by the programs in the kernel to user space, in arrays that are mapped there. Included by
 * both sides: plain C types only.
 */
#ifndef KONTEND_INSPECT_SHARED_H
#define KONTEND_INSPECT_SHARED_H

#include "ns-shared.h"

enum {
	/* Room for one pass over the lists; where there is more, each of several passes takes a
	   part. These three are as large at most: see room_for() in bpf.c. */
	RAW_EVENTS = 16384,
	RAW_CONTEXTS = RAW_EVENTS / 2,
	RAW_HOLDERS = RAW_EVENTS,
	RAW_AGAIN = 8192,
	RAW_CPUS = 1024,
	RAW_REGISTERS = 16, /* of one type, of one CPU */
	RAW_WALK = 1 << 17, /* steps along one list */
	RAW_POOLS = 2,
};

enum raw_flags {
	RAW_PINNED = 1 << 0,
	RAW_INHERIT = 1 << 1,
	RAW_EXCLUSIVE = 1 << 2,
	RAW_KERNEL = 1 << 3, /* no task opened it */
	RAW_PTRACE = 1 << 4, /* among its target's ptrace breakpoints */
	RAW_ROTATES = 1 << 5,
	RAW_OF_CONTEXT = 1 << 6, /* found in a context's list */
	RAW_CGROUP = 1 << 7,	 /* counts the tasks of a cgroup */
	RAW_NEWBORN = 1 << 8,	 /* of a task that is being made, and has another's number yet */
	RAW_FREQUENCY = 1 << 9,	 /* attr.freq */
	RAW_EXCLUDES_BIT = 10,	 /* 4 bits: attr.exclude_user, _kernel, _hv, _idle */
	RAW_PRECISE_BIT = 14,	 /* 2 bits: attr.precise_ip */
};

struct raw_event {
	unsigned long long addr; /* struct perf_event */
	unsigned long long ctx, parent, leader;
	unsigned long long id, parent_id, config, bp_addr, bp_len, count;
	unsigned long long enabled_ns, running_ns, tstamp, ctx_time;
	unsigned int type, bp_type, flags;
	int cpu, oncpu, state;
	int ctx_active, ctx_events;
	int owner_pid, owner_tid, target_pid, target_tid, tracer_pid;
	int counted_pid, counted_tid; /* whom it counts now, where that is not the target; 0 */
	char owner_comm[16], target_comm[16], tracer_comm[16], counted_comm[16], pmu[24];
	char system[24], name[40]; /* of a tracepoint */
	unsigned long long cgroup_id;
	char cgroup[32]; /* last part of its path, "" for the root */
};

struct raw_context {
	unsigned long long addr, time;
	int cpu; /* -1: of the task */
	int tid, pid, events, active, rotates;
	char comm[16];
};

struct raw_holder {
	unsigned long long event, id; /* struct perf_event, and its number */
	unsigned long long ctx;	      /* where the context is no task's: it, else 0 */
	unsigned int type;	      /* attr.type */
	int cpu, pid, fd;
	char comm[16];
};

/* An object that user space knows and no list leads to. */
struct raw_again {
	unsigned long long addr; /* struct perf_event, or perf_event_context */
	unsigned long long id;	 /* of the event; 0: it is a context */
	int cpu, pad;
};

/* Static per-CPU variables, read as they are. */
struct raw_cpu {
	unsigned long long base; /* what to add to a variable's offset; 0: not known */
	unsigned int info[16];	 /* struct bp_cpuinfo[]: layout by architecture */
	unsigned long long regs[RAW_POOLS][RAW_REGISTERS]; /* struct perf_event in each register */
	unsigned long long dr7;				   /* x86 */
	int failed;					   /* reading it did not work */
};

#define RAW_NO_OFFSET (~0ull)

/* Set by user space when it loads the programs. Constant for them. */
struct raw_config {
	/* Offsets of variables in the per-CPU section, from BTF, or RAW_NO_OFFSET. */
	unsigned long long off_runqueues, off_info, off_dr7, off_regs[RAW_POOLS];
	unsigned int info_size, regs_size[RAW_POOLS]; /* of the variables, in bytes */
	unsigned int n_cpus;			      /* possible ones */
	int tracepoint_flag;			      /* TRACE_EVENT_FL_TRACEPOINT */
	int self;				      /* our thread group */
	struct ns_config ns;
};

/* How far the arrays are filled. User space zeroes the counters before each round. */
struct raw_state {
	unsigned long long fops;   /* perf's struct file_operations */
	unsigned long long bp_pmu; /* the breakpoints' struct pmu */
	int bp_fd;		   /* a breakpoint of ours to learn that from, -1: none */
	unsigned long long anchors[RAW_CPUS]; /* our event of each CPU */
	unsigned int n_events, n_contexts, n_holders;
	unsigned int torn; /* walks that did not come back to where they began */
	/* No room. */
	unsigned int dropped_events, dropped_contexts, dropped_holders;
	unsigned int has_pmu_list;
	/* Scope of the next look. */
	unsigned int only_breakpoints; /* no other events, no contexts */
	unsigned int pass, passes;     /* the part of all: of what address, see is_of_pass() */
	unsigned int n_again;
};

#endif
