/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SNAP_ITEMS_H
#define KONTEND_SNAP_ITEMS_H

#include <stdint.h>

/*
 * Items of a snapshot of perf events; the same in memory and in recordings. Indices, texts and
 * units: see perfsnap.h.
 */
enum snap_slot_type {
	SNAP_SLOT_ANY = 0, /* one pool for data and execution (x86) */
	SNAP_SLOT_EXEC = 1,
	SNAP_SLOT_DATA = 2,
};

/* The breakpoint slots of one CPU, of one pool. -1: not known. */
struct snap_slots {
	uint32_t cpu;
	uint32_t type;		 /* enum snap_slot_type */
	int32_t slots;		 /* in all */
	int32_t cpu_pinned;	 /* taken by events of the CPU */
	int32_t task_pinned_max; /* slots taken by the task with the most */
	uint32_t most; /* most taken at once since the first snapshot, + 1; 0: not known */
};

/*
 * A process that has created breakpoints since the first snapshot, as far as kontend saw it: see
 * enum snap_creations.
 */
struct snap_creator {
	int32_t pid;	    /* 0: the kernel */
	uint32_t comm;	    /* text */
	uint64_t opened;    /* by the process itself */
	uint64_t inherited; /* for new threads and processes, by inheritance */
	uint64_t refused;   /* for lack of a slot; 0 with SNAP_CREATIONS_LOOKS */
};

/* A debug register in use. */
struct snap_register {
	uint64_t addr; /* of its breakpoint */
	uint32_t cpu, type, index;
	uint32_t event; /* index + 1 */
	uint32_t enabled;
	uint32_t pad;
};

enum snap_event_flags {
	SNAP_PINNED = 1 << 0,	    /* attr.pinned */
	SNAP_INHERIT = 1 << 1,	    /* attr.inherit */
	SNAP_CHILD = 1 << 2,	    /* by inheritance: no descriptor of its own */
	SNAP_KERNEL = 1 << 3,	    /* by the kernel itself, not for ptrace */
	SNAP_PTRACE = 1 << 4,	    /* of a debugger, by ptrace */
	SNAP_ORPHAN = 1 << 5,	    /* its owner has exited; another process holds a descriptor */
	SNAP_CPU_BOUND = 1 << 6,    /* counts all that runs on its CPU, not a task */
	SNAP_ROTATES = 1 << 7,	    /* rotates with others, as they do not fit all at once */
	SNAP_OWN = 1 << 8,	    /* of kontend itself */
	SNAP_GROUP_MEMBER = 1 << 9, /* scheduled with its leader */
	SNAP_TIMES = 1 << 10,	    /* enabled_ns and running_ns are known */
	SNAP_COUNT = 1 << 11,	    /* count is known */
	SNAP_EXCLUSIVE = 1 << 12,   /* attr.exclusive */
	SNAP_CGROUP = 1 << 13,	    /* counts the tasks of a cgroup: target_comm is its path */
	SNAP_STALE = 1 << 14,	    /* count is from count_age_ns before, or later */
	SNAP_FREQUENCY = 1 << 15,   /* samples at a frequency, which every tick adjusts */
	SNAP_SHARED = 1 << 16,	    /* threads exchange it: some hits may be another thread's */
	SNAP_EXCLUDES_BIT = 17,	    /* 4 bits: attr.exclude_user, _kernel, _hv, _idle */
	SNAP_PRECISE_BIT = 21,	    /* 2 bits: attr.precise_ip */
};

/* perf_event.state as in the kernel's enum perf_event_state. */
enum snap_state {
	SNAP_DEAD = -5,
	SNAP_REVOKED = -4,
	SNAP_EXIT = -3,
	SNAP_ERROR = -2,
	SNAP_OFF = -1,
	SNAP_INACTIVE = 0,
	SNAP_ACTIVE = 1,
};

struct snap_event {
	uint64_t id;	 /* perf_event.id, never reused */
	uint64_t parent; /* id of the event it was inherited from; 0: none */
	uint64_t config; /* attr.config */
	uint64_t bp_addr, bp_len;
	uint64_t count;
	uint64_t hits; /* count since the previous snapshot; UINT64_MAX: not known */
	uint64_t enabled_ns, running_ns;
	uint32_t type;			/* attr.type: PERF_TYPE_... or of a dynamic PMU */
	uint32_t bp_type;		/* HW_BREAKPOINT_R | _W | _X */
	int32_t cpu;			/* -1: any */
	int32_t oncpu;			/* CPU where it counts now, -1: none */
	int32_t state;			/* enum snap_state */
	uint32_t flags;			/* enum snap_event_flags */
	int32_t owner_pid, owner_tid;	/* opened it; 0: not known, gone, or the kernel */
	int32_t target_pid, target_tid; /* counted task; 0: a CPU */
	int32_t tracer_pid;		/* of a ptrace breakpoint; 0: not known */
	uint32_t context;		/* index + 1 */
	uint32_t owner_comm, target_comm, tracer_comm; /* texts */
	uint32_t pmu;				       /* text: the PMU's name */
	uint32_t name;	       /* text: "sched:sched_switch", "cycles", "mem:rw" ... */
	uint32_t where;	       /* text: "app:counter+0x4", "app+0x4028": symbol at bp_addr */
	uint64_t count_age_ns; /* SNAP_STALE: enabled time since the kernel last updated it */
};

/* A descriptor of an event; several processes may have descriptors of one event. */
struct snap_holder {
	uint32_t event; /* index + 1; 0: of an unknown event */
	int32_t pid;
	int32_t fd;
	uint32_t comm; /* text */
};

/* perf_event_context: the events of a CPU, or of a task (before 6.2, per PMU class). */
struct snap_context {
	uint64_t addr; /* in the kernel: identity */
	int32_t cpu;   /* -1: of a task */
	int32_t tid, pid;
	uint32_t comm; /* text */
	uint32_t events, pinned, flexible;
	uint32_t active; /* counting now */
	uint32_t rotating;
	uint32_t running_permille; /* running of enabled time over its enabled events; 1000 if none
				    */
};

#endif
