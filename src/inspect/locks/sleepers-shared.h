/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the program that counts tasks asleep for other things than kernel locks.
 * Included by both sides: plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_SLEEPERS_SHARED_H
#define KONTEND_INSPECT_LOCKS_SLEEPERS_SHARED_H

#include "call-shared.h"
#include "ns-shared.h"

enum {
	RAW_SLEEPERS = 8192,
	RAW_BLOCKED = 8192,
	RAW_BLOCKED_FRAMES = 24,
	RAW_VFORKS = 1024,
	RAW_BLOCKED_WATCHED = 256, /* in state S: as many have their calls read in one pass */
	RAW_CALL_WORDS = 8,	   /* numbers of system calls below 64 times that */
	RAW_SILENT_WORDS = 256,	   /* of a stack, from its end on: a power of two */
	RAW_SILENT_TASKS = 256,	   /* whose stacks are searched in one pass */
	RAW_KEPT_VMAS = 16,
	RAW_KEEPERS = 64,
	RAW_PREEMPTED = 64,
};

/* Kinds as in locksnap-items.h. */
enum raw_sleeper_kind { RAW_FUTEX = 1, RAW_FILE_LOCK, RAW_IO, RAW_DISK };

/* Tasks of one process that came one after the other; a process may have several of a kind. */
struct raw_sleepers {
	int pid;
	unsigned int kind;
	unsigned int tasks, idle;
	char comm[16]; /* of the process */
};

/* As in locksnap-sleepers.h. */
enum raw_blocked_state { RAW_STATE_D = 1, RAW_STATE_S, RAW_STATE_STOPPED, RAW_STATE_THROTTLED };

/*
 * The parts of a wait for a percpu-rwsem. The first three as in locksnap-items.h; the others are
 * for another writer, in the lock's queue.
 */
enum raw_part {
	RAW_NO_PART,
	RAW_RCU_PART,
	RAW_READERS_PART,
	RAW_READS_PART,
	RAW_WRITES_PART,
};

/* A task that does not run until something has happened. */
struct raw_blocked {
	int pid, tid, cpu;
	unsigned int state; /* enum raw_blocked_state */
	unsigned int io, kthread;
	int bytes;	   /* of frames, or a negative errno */
	unsigned int part; /* enum raw_part */
	/* For a lock that no event reports: its address, 0: for none. A VMA has an address space.
	 */
	unsigned long long lock, mm, start, past;
	unsigned int switches;	   /* how often it has gone to sleep */
	unsigned int is_foreign;   /* the address space is another process's */
	unsigned long long ran;	   /* by the scheduler's clock; 0: not known */
	unsigned long long task;   /* its address */
	unsigned long long cgroup; /* number of its directory; 0: not known */
	char comm[16], process[16];
	struct raw_call call;
	unsigned long long frames[RAW_BLOCKED_FRAMES];
};

/* A sleeping task that keeps a VMA for which another one waits: its address is on the stack. */
struct raw_keeper {
	unsigned long long vma;
	int pid, tid, cpu;
	int bytes; /* of frames, or a negative errno */
	unsigned long long ran;
	char comm[16];
	unsigned long long frames[RAW_BLOCKED_FRAMES];
};

/* A task for whose exec or exit its parent waits. */
struct raw_vfork {
	int pid, tid, parent; /* parent: thread */
	char comm[16];
	unsigned int pad;
};

/* A thread that could run and was in its program when another one of it got its CPU. */
struct raw_preempted {
	int pid, tid, off_tid;
	unsigned int pad;
	unsigned long long ip;
	char comm[16];
};

struct raw_sleepers_state {
	unsigned int n, dropped; /* rows; tasks for which there was none */
	unsigned int n_blocked, blocked_dropped;
	unsigned int n_vforks, pad;
	unsigned int watched, unwatched;   /* tasks in state S; those that were too many */
	unsigned int searched, unsearched; /* stacks of tasks in state D, likewise */
	unsigned int n_vmas, n_keepers;
	unsigned int n_preempted, pad_preempted;
	struct raw_kept_vma {
		unsigned long long vma, mm, by; /* by: the task */
	} vmas[RAW_KEPT_VMAS];			/* for which tasks wait */
	unsigned long long long_ns;  /* a task that sleeps in a futex for longer is idle */
	unsigned long long timed_ns; /* the same, where the call has a timeout */
};

struct raw_sleepers_config {
	/* Numbers of system calls; 0xffffffff: there is none here. */
	unsigned int futex, futex_wait, futex_waitv, flock, fcntl;
	unsigned int self;
	/* Bits of calls in which a task in state S waits for work or for a user. */
	unsigned long long idle_calls[RAW_CALL_WORDS];
	struct ns_config ns;
};

#endif
