/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passed by the programs of uprobe.bpf.c to user space, in arrays that are mapped there. Included
 * by both sides: plain C types only.
 */
#ifndef KONTEND_INSPECT_UPROBE_SHARED_H
#define KONTEND_INSPECT_UPROBE_SHARED_H

#include "ns-shared.h"

enum {
	UP_AREAS = 8192,
	UP_TASKS = 16384,
	UP_EVENTS = 4096,
	UP_HOLDERS = 16384,
	UP_CPUS = 1024,
	UP_EVENT_CPUS = 64, /* hits by CPU are kept of so many */
	UP_WORDS = 256,	    /* of a bitmap of slots */
	UP_WALK = 8192,	    /* steps along one list */
	UP_PATH = 256,
	UP_LINKS = 4096,
	UP_OWN = 256,  /* probes of our own that are counted by a program */
	UP_PARTS = 16, /* of a path */
	UP_PART = 64,
};

struct up_area {
	unsigned long long mm, vaddr;
	int pid;
	unsigned int bits; /* set in the bitmap, with the one that the kernel keeps */
	char comm[16];
};

enum up_task_kind { UP_STEP = 1, UP_WAIT = 2, UP_RETURNS = 3 };

struct up_task {
	unsigned long long mm, slot_vaddr, offset;
	int pid, tid;
	unsigned int kind, depth;
	char comm[16];
};

enum up_event_flags {
	UP_RETURN = 1 << 0,
	UP_LOCAL = 1 << 1, /* of the PMU "uprobe": no other event can use it */
	UP_BPF = 1 << 2,   /* a BPF program takes its hits */
	UP_BY_FD = 1 << 3, /* found by a descriptor only */
};

/* A perf event that counts a uprobe. */
struct up_event {
	unsigned long long event, call; /* struct perf_event, trace_event_call */
	unsigned long long id, offset, ref_ctr;
	unsigned long long hits; /* of the probe, on all CPUs */
	unsigned long long ino;	 /* of the file that it was placed in; 0: not known */
	unsigned int dev;	 /* of its file system, as the kernel numbers it */
	unsigned int pad;
	int owner_pid, target_pid, cpu;
	unsigned int flags;
	char comm[16], group[32], name[48], path[UP_PATH];
	unsigned long long cpu_hits[UP_EVENT_CPUS];
};

/* Hits of a probe of our own in one process. */
struct up_own {
	int pid; /* that process, as the kernel numbers it; 0: all that the kernel lets through */
	int pad;
	unsigned long long hits[UP_CPUS];
};

/* The holder of a descriptor, of an event or of a BPF link. */
struct up_holder {
	unsigned long long event; /* 0: a link */
	unsigned int link;
	int pid;
	char comm[16];
};

/* Set by user space when it loads the programs. Constant for them. */
struct up_config {
	unsigned int words;  /* of a bitmap */
	unsigned int n_cpus; /* possible ones */
	int uprobe_flag;     /* TRACE_EVENT_FL_UPROBE */
	int uprobe_type;     /* of the PMU "uprobe"; -1: there is none */
	unsigned int has_uprobe_events;
	int self; /* our thread group */
	unsigned int pad;
	struct ns_config ns;
};

/* How far the arrays are filled. User space zeroes the counters before each round. */
struct up_state {
	unsigned int n_areas, n_tasks, n_events, n_holders;
	unsigned int torn;    /* walks that did not come back to where they began */
	unsigned int dropped; /* no room */
	int perf_fd, link_fd; /* of ours, to learn what their files look like; -1: none */
	unsigned long long perf_fops, link_fops, scratch;
	unsigned long long anchor_map, anchor_pointer; /* of a per-CPU map of ours */
	unsigned long long anchor[UP_CPUS];	       /* where its value is on each CPU */
};

/* A uprobe of a BPF link. */
struct up_link_raw {
	unsigned long long offset, ref_ctr;
	unsigned long long ino; /* of the file that it was placed in; 0: not known */
	unsigned int dev;	/* of its file system, as the kernel numbers it */
	unsigned int id, count; /* of the link; and how many uprobes it has */
	int pid;		/* counts in this process only; 0: in all */
	unsigned int is_return, n_parts, pad;
	char program[16];
	char parts[UP_PARTS][UP_PART]; /* of the path, the last one first */
};

struct up_links_config {
	unsigned int type_multi; /* BPF_LINK_TYPE_UPROBE_MULTI */
	unsigned int pad;
	struct ns_config ns;
};

struct up_links_state {
	unsigned int n_links, dropped;
	unsigned long long scratch;
};

#endif
