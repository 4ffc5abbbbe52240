/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the programs that search for readers and user space. Included by both sides: plain C
 * types only.
 */
#ifndef KONTEND_INSPECT_LOCKS_READERS_SHARED_H
#define KONTEND_INSPECT_LOCKS_READERS_SHARED_H

#include "call-shared.h"
#include "ns-shared.h"

enum {
	RAW_READERS = 64,
	RAW_READER_FRAMES = 64, /* a power of two, as the verifier needs it */
	RAW_READER_LOCKS = 16,	/* that are looked at in one look */
	RAW_READER_RANGES = 128,
	RAW_READER_STEPS = 7, /* halvings of so many */
	RAW_READER_CPUS = 1024,
	RAW_READER_FILES = 1024, /* descriptors of one task that are looked at */
};

/* Meaning of a function among the calls of a task. */
enum raw_reader_function {
	READER_HOLDS = 1,    /* all that it calls is called with the lock held for reading */
	READER_KEEPS = 2,    /* and a fault inside lets go of it never */
	READER_DROPS = 4,    /* may let go of it, and then sleep */
	READER_ACQUIRES = 8, /* takes it, or has let go of it: its caller does not hold it */
	/* Not where: faults, readers of maps, and madvise take the lock of one mapping only. */
	READER_NOT_VMA = 16,
	READER_NOT_MAPS = 32,
	READER_NOT_MADVISE = 64,
	READER_ENTRY = 128, /* by which a CPU is interrupted for a call from another one */
	READER_RCU = 256,   /* no reader: a writer of a percpu-rwsem waits for a grace period */
	READER_NOT = READER_NOT_VMA | READER_NOT_MAPS | READER_NOT_MADVISE,
};

/* The owner of the lock. That of the outermost function counts. */
enum raw_reader_proof {
	PROOF_UNSAID,
	PROOF_OWN,   /* its own address space */
	PROOF_NONE,  /* not known */
	PROOF_MAPS,  /* that of an open file of /proc, as maps */
	PROOF_MEM,   /* the same, as mem */
	PROOF_PID,   /* the same, as cmdline: of a process */
	PROOF_UFFD,  /* that of a userfaultfd */
	PROOF_INODE, /* an open file's inode */
};

struct raw_reader_range {
	unsigned long long start, end;
	unsigned int flags, proof;
};

struct raw_reader {
	unsigned int lock; /* place in `wanted` */
	int pid, tid;
	unsigned int state, on_cpu, on_rq;
	int cpu;
	unsigned int in;   /* the frame whose function proves it */
	int bytes;	   /* of frames */
	unsigned int skip; /* innermost frames: of what it was interrupted by */
	char comm[16];
	struct raw_call call; /* who sleeps in */
	unsigned long long frames[RAW_READER_FRAMES];
};

struct raw_readers_state {
	unsigned int n_wanted, n_ranges, n_readers;
	unsigned int dropped; /* there was no room: not all tasks were looked at */
	unsigned int not ;    /* READER_NOT: what of it is so here */
	unsigned int pad;
	unsigned long long wanted[RAW_READER_LOCKS]; /* addresses of locks */
};

struct raw_readers_config {
	unsigned int self;
	unsigned int pad;
	struct ns_config ns;
};

#endif
