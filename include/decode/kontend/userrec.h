/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERREC_H
#define KONTEND_USERREC_H

/*
 * A thread has slept in futex(2), and runs again: a BPF program writes this record into a ring at
 * that moment. Raw data of a sample of the software event bpf-output, whose own fields have the
 * time, but not the thread that slept. As in waitrec.h, the size of the raw data precedes them in a
 * sample. The BPF program includes this file: plain C types only.
 */
#define USERREC_MAGIC 0x3255574bu  /* "KWU2" */
#define USERREC1_MAGIC 0x3155574bu /* "KWU1" */

enum { USERREC_FRAMES = 32 };

enum userrec_flag {
	USERREC_READS = 1,    /* waited to read */
	USERREC_SURE = 2,     /* the kernel uses the word that names the owner, too */
	USERREC_SHARED = 4,   /* `space` is a file's: processes share the lock */
	USERREC_HANDED = 8,   /* a call of futex(2) on that word has woken it */
	USERREC_RETRIES = 16, /* the thread sleeps again until it has the lock */
	USERREC_FLAGS = 32,
};

struct userrec {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long lock;		/* userlock_addr() */
	unsigned long long begin_ns, length_ns; /* session clock */
	unsigned long long woken_ns;		/* it waited for a CPU from then on */
	unsigned long long cgroup;		/* of perf's controller; 0: not known */
	unsigned long long addr;		/* of the object in the process; */
	unsigned long long pc;			/* where the thread is when it comes back */
	int pid, tid;				/* of the thread that slept: taskid.h */
	/* Of the thread that had the lock when the sleep began; 0: not known. */
	int owner_pid, owner_tid;
	int waker_pid, waker_tid; /* if USERREC_HANDED */
	unsigned short kind;	  /* enum userlock_kind */
	unsigned short user;	  /* enum waitrec_user */
	unsigned int flags;	  /* enum userrec_flag */
	unsigned int op, value;	  /* of the call */
	unsigned int cpu;	  /* where the sleep began */
	unsigned int missed;	  /* records that this CPU could not write since the last one */
	char comm[16];
	unsigned int n_frames; /* that follow, of the program: innermost first; 0: not known */
	/* While a CPU was idle that the thread may use, waitrec_age(); 0: not known. */
	unsigned int lost;
	/* In it so long other threads of the process ran, together: the same. Version 1 lacks it.
	 */
	unsigned int par, pad;
	unsigned long long frames[USERREC_FRAMES];
};

#endif
