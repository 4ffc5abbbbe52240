/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SHORT_SHARED_H
#define KONTEND_INSPECT_WAITS_SHORT_SHARED_H

/* Shared by short.bpf.c and short.c: see there. Plain C types only. */
enum {
	SHORT_WAYS = 4,
	SHORT_SETS = 2048,
	SHORT_SLOTS = SHORT_SETS * SHORT_WAYS,
	SHORT_SPINS = 4,
	SHORT_ROWS = 512,   /* of each CPU: a power of two */
	SHORT_PROBES = 8,   /* places that a row may have */
	SHORT_FRAMES = 8,   /* that separate rows from each other */
	SHORT_UNWOUND = 16, /* of a chain that is looked at for that: see short.bpf.c */
	SHORT_FLAGS = 64,
	SHORT_SCRATCH = 704,
	SHORT_TIMED = 61, /* one event of so many is timed; odd, as begins and ends take turns */
};

/* Written by user space while the programs run. */
struct short_control {
	unsigned long long threshold_ns; /* shorter waits are summed up; 0: all are reported */
	unsigned int counts;		 /* and those that begin now only counted */
	unsigned int pad;
	unsigned char full[SHORT_SETS]; /* by the programs: a set had no room, ever */
};

/* The reports of a sleeping wait so far: the upper half of `owner`; the lower one is the tid. */
enum short_state {
	SHORT_TAKEN = 1, /* its begin is being written down */
	SHORT_UNREPORTED,
	SHORT_REPORTED, /* when it began, with its call chain */
	SHORT_SAID,	/* while it went on, without */
};

/* A sleeping wait that has not ended. `owner` 0: none. */
struct short_slot {
	unsigned long long owner;
	unsigned long long lock;
	unsigned long long begin_ns; /* 0: it is only counted */
	unsigned int tgid;
	unsigned short cpu;
	unsigned char flags;
	unsigned char owner_is; /* enum waitrec_owner, as the wait began; and who: */
	int owner_pid, owner_tid;
	/* Of a mutex: how long it spun, and since when it spins now; 0: it sleeps. */
	unsigned long long spun_ns, spins_ns;
	unsigned int idle, pad; /* idleclock.h, when it began; 0: not known */
	unsigned long long par; /* parclock.h, likewise */
};

struct short_spin {
	unsigned long long lock, begin_ns, par;
	unsigned int flags, idle;
};

struct short_sum {
	unsigned long long n, ns, spun_ns;
	/* See struct short_row. */
	unsigned long long lost_ns, lost_of_ns, par_ns, par_of_ns;
};

/* A row: waits of the same flags and calls. key 0: none. Read while it is written. */
struct short_row {
	unsigned long long key, n, ns;
	unsigned int flags, n_frames;
	unsigned long long frames[SHORT_FRAMES];
	unsigned long long spun_ns; /* of ns, by mutexes */
	/* Of ns: while a CPU was idle, and of so many of them that is known. */
	unsigned long long lost_ns, lost_of_ns;
	/* So long other threads of the process ran, together, and in so many of them. */
	unsigned long long par_ns, par_of_ns;
};

/* A CPU's own. */
struct short_cpu {
	unsigned long long events;	    /* begins, ends, releases */
	unsigned long long timed, timed_ns; /* of these, so many took so long */
	unsigned int n_spins, pad;
	struct short_spin spins[SHORT_SPINS];
	struct short_sum other[SHORT_FLAGS]; /* what no row has room for */
	unsigned long long counted[SHORT_FLAGS];
	unsigned long long reported; /* records of waits */
	unsigned long long rest[2];
	unsigned long long scratch[SHORT_SCRATCH / 8];
};

#endif
