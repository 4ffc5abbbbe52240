/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the programs that measure how long locks are held. Included by both
 * sides: plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_HOLDS_SHARED_H
#define KONTEND_INSPECT_HOLDS_SHARED_H

enum raw_holds_kind { RAW_HOLDS_MUTEX, RAW_HOLDS_WRITE, RAW_HOLDS_READ, RAW_HOLDS_KINDS };

enum {
	RAW_HOLDS_BUCKETS = 320, /* eight an octave: see raw_holds_bucket() */
	RAW_HOLDS_LOCKS = 4096,
	RAW_HOLDS_READERS = 8192,
	RAW_HOLDS_TASKS = 2048,
	RAW_HOLDS_STACKS = 4096,
	RAW_HOLDS_FRAMES = 27,
	RAW_HOLDS_NEAR = 32, /* bytes: the kernel calls a program near the begin of a function */
};

/* Set by user space. Lock 0 and no kind: nothing is measured. */
struct raw_holds_state {
	unsigned long long lock; /* only this one; 0: all locks of the kinds */
	unsigned int kinds;	 /* bits of enum raw_holds_kind */
	unsigned int chains;	 /* call chains are taken */
	unsigned int callers;	 /* the kernel leaves the caller out of them */
	unsigned int every;	 /* of so many acquisitions one is measured */
	/* Asked of read_word: a lock, and whether it is a mutex, or else an rwsem. */
	unsigned long long at;
	unsigned int is_mutex;
	/* Its answer: whether it could be read, its first word, and the task that this names. */
	unsigned int known;
	unsigned long long word;
	int tid, pid;
	char comm[16];
};

struct raw_holds_add {
	unsigned long long holds, total_ns, max_ns;
};

/* Of a kind, on one CPU. `holds` and times count each measured hold `every` times. */
struct raw_holds_sum {
	unsigned long long acquired;
	struct raw_holds_add held;
	unsigned long long unbegun;  /* released, and taken before the begin, or unseen */
	unsigned long long unended;  /* taken, and its release was not seen */
	unsigned long long by_other; /* released by another task than the one that took it */
	unsigned long long chainless;
	unsigned long long no_room; /* for the lock or the reader */
	unsigned long long buckets[RAW_HOLDS_BUCKETS];
};

/* A hold that has begun. */
struct raw_holds_now {
	unsigned long long since_ns; /* 0: none */
	unsigned long long gen;	     /* of a reader: raw_holds_lock.gen at its begin */
	int tid, pid;
	int chain;	      /* number of its call chain; < 0: not known */
	unsigned int every;   /* as it was at the begin */
	unsigned int depth;   /* of a reader: acquisitions within each other */
	unsigned int skipped; /* of a mutex or writer: it is held, and not measured */
};

struct raw_holds_lock {
	struct raw_holds_now now; /* the mutex or the writer */
	unsigned long long gen;	  /* of writers: with each of them all readers before are gone */
	unsigned long long acquired[2];
	struct raw_holds_add held[2]; /* of a mutex or writers, and of readers */
};

struct raw_holds_reader {
	unsigned long long lock;
	int tid;
	unsigned int pad;
};

struct raw_holds_task {
	struct raw_holds_add held;
	int pid, pad;
	char comm[16];
};

/* Eight to an octave; what takes longer than an hour is in the last one. */
static inline unsigned int raw_holds_bucket(unsigned long long ns)
{
	unsigned int log = 0;

	if (ns < 8)
		return (unsigned int)ns;
	for (unsigned int step = 32; step; step >>= 1) {
		if (log + step < 64 && ns >> (log + step))
			log += step;
	}
	unsigned int b = (log - 2) * 8 + (unsigned int)(ns >> (log - 3) & 7);
	return b < RAW_HOLDS_BUCKETS ? b : RAW_HOLDS_BUCKETS - 1;
}

#endif
