/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_SHARED_H
#define KONTEND_INSPECT_WAITS_SHARED_H

#include "ns-shared.h"
#include "on-shared.h"
#include "slept-shared.h"

/* Kinds and scopes of reports of the waits program. BPF includes it, too: plain C types only. */
enum {
	WAITS_CPUS = 8192,
	WAITS_IDS = 16384,
	WAITS_NESTED = 1 << 13, /* bytes of an interrupt's ring */
	FOLLOW_TASKS = 1 << 16,
	FOLLOW_WAITS = 1 << 10,
	FOLLOW_LOCKS = 1 << 10,
	WAITS_CHAINS = 19 * 4096 - 512, /* with what is before them, whole pages */
};

enum waits_scope {
	WAITS_ALL,
	WAITS_TIDS,   /* of the threads in the map `ids` */
	WAITS_PIDS,   /* of the processes there, and of those that they start */
	WAITS_CGROUP, /* of those in the cgroup that is in the map `cgroups`, or below it */
};

/*
 * Records as perf would write them, in a ring like perf's. Head and tail count bytes since the
 * start; records are where these are modulo the size, and none of them wraps: see ring.h.
 */
struct waits_ring {
	unsigned long long head;  /* moved by the program */
	unsigned long long id;	  /* of the event of its records; 0: the ring has no reader */
	unsigned long long woken; /* where it was when the reader was woken */
	unsigned long long most;  /* beyond it, it may have no room: the tail is to be looked at */
	unsigned int busy;	  /* a program is at it on this CPU */
	unsigned int missed;	  /* records that could not be written */
	unsigned int gap;	  /* lost without room since the last one that was written */
	unsigned int entered;	  /* a first program of the tracepoints of waits runs */
	unsigned long long seen;  /* see ring_saw(); 0: nothing */
	unsigned int interrupted; /* there was another event before it */
	unsigned int pad1;
	unsigned long long pad[8];
	unsigned long long tail; /* moved by the reader */
	unsigned long long rest[15];
};

/* The state of one CPU: a map of its own, which is made when the CPU is measured. */
struct waits_cpu {
	struct waits_ring ring, nested; /* of interrupts that come while a program runs */
	/* Call chains: the program's alone, but on few pages with what it needs anyway. */
	unsigned long long chains[WAITS_CHAINS / 8];
	unsigned long long nested_data[WAITS_NESTED / 8];
	unsigned long long data[]; /* waits_config.ring_bytes */
};

/*
 * Following the holders of sleeping locks, see follow.bpf.c. The lock a task waits for, and since
 * when; indexed by the lower bits of its number, so that one may displace another. A cache line, as
 * many tasks write at once.
 */
struct follow_wait {
	unsigned long long lock, begin_ns;
	unsigned int tid, flags; /* tid 0: no task */
	unsigned int was_free;	 /* no task had the lock when that was read last */
	unsigned int pad0;
	unsigned long long pad[4];
};

struct follow_state {
	unsigned int on;    /* written by the programs */
	unsigned int epoch; /* how often it was switched on: earlier reports are not known */
	unsigned long long pad[7];
	unsigned long long n_long; /* waits that were over and longer than config.follow_ns */
	unsigned long long rest[7];
};

/* A CPU's own: what was counted, and by what its records are bounded. */
struct follow_counts {
	unsigned long long records;
	unsigned long long
		missed; /* holders that were not followed, records that were not written */
};

enum follow_say { FOLLOW_BEGIN, FOLLOW_STOP, FOLLOW_LOOK }; /* what say_follow is run for */

struct waits_config {
	struct ns_config ns;
	unsigned int by_cpu;	 /* only on the CPUs of the mask */
	unsigned int scope;	 /* enum waits_scope */
	unsigned int waits;	 /* their begin and end (waitrec.h) */
	unsigned int owners;	 /* who has the lock (ownerrec.h) */
	unsigned int frames;	 /* of a call chain, at most; 0: none */
	unsigned int ring_bytes; /* of each CPU: a power of two */
	/*
	 * The kernel's type of struct timespec64, as which words of the stack are read where they
	 * are; 0: this kernel cannot do that.
	 */
	unsigned int word_type;
	unsigned int shorts;	  /* short waits may be summed up (short.bpf.c) */
	unsigned int mnt_ns;	  /* number of the mount namespace in which files are named */
	unsigned int follow;	  /* holders (holdrec.h), */
	unsigned int sleeps;	  /* sleeps in state D (sleeprec.h, sleptsnap.h) */
	unsigned int users;	  /* sleeps in futex(2) (userrec.h) */
	unsigned int user_frames; /* call chains of programs are taken (frames.bpf.c), */
	unsigned int frames_ns;	  /* for so long in a period of a CPU; 0: without limit */
	unsigned int idle;	  /* a clock runs while CPUs are (idleclock.h) */
	unsigned int pad0;
	unsigned char on_calls[ON_CALLS];
	unsigned long long follow_ns; /* if there are waits longer than this */
	struct raw_slept_config slept;
	unsigned long long cpus[WAITS_CPUS / 64];
};

#endif
