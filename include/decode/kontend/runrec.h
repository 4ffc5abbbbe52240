/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUNREC_H
#define KONTEND_RUNREC_H

/*
 * The activity of a chosen task: it ran, left its CPU, maybe slept until it was woken, and waited
 * for a CPU. A BPF program writes this record into a ring when the task comes to a CPU again, when
 * it has ended, and, marked as open, while something lasts. Raw data of a sample of the software
 * event bpf-output, whose own fields have the time. As in waitrec.h, the size of the raw data
 * precedes them in a sample. The BPF program includes this file: plain C types only.
 */
#define RUNREC_MAGIC 0x3159574bu /* "KWY1" */

enum {
	RUNREC_SLEEP_FRAMES = 32,
	RUNREC_USER_FRAMES = 32, /* WAITREC_USER */
	RUNREC_WAKER_FRAMES = 32,
	RUNREC_FRAMES = RUNREC_SLEEP_FRAMES + RUNREC_USER_FRAMES + RUNREC_WAKER_FRAMES,
	RUNREC_BYS = 6,
	RUNREC_NAME = 40,
};

/* As what it left its CPU. */
enum runrec_state {
	RUNREC_READY,	/* it could have gone on: it was preempted, or has just been made */
	RUNREC_ASLEEP,	/* state S */
	RUNREC_DISK,	/* state D */
	RUNREC_IO,	/* the same, and the kernel accounts it as I/O */
	RUNREC_STOPPED, /* by a signal or a debugger */
	RUNREC_ENDED,
	RUNREC_STATES,
};

enum runrec_flag {
	RUNREC_CHOSEN = 1, /* by the user; else it has woken such a task */
	RUNREC_OPEN = 2,   /* it lasts: the last of the times that are known */
	RUNREC_BEFORE = 4, /* it was so already when measuring it began */
	RUNREC_FLAGS = 8,
};

/* A task that had the CPU for which another one waited, and for how long of that time. */
struct runrec_by {
	int pid, tid; /* 0: the idle task */
	unsigned long long ns;
	char comm[16];
};

/* On what the system call is in which it sleeps. */
struct runrec_on {
	unsigned long long value; /* as of that kind: see waitrec.h */
	unsigned int dev;	  /* as the kernel has it: 20 bits for the minor number */
	unsigned short mode;	  /* st_mode of a file */
	unsigned short kind;	  /* enum waitrec_on_kind */
	char name[RUNREC_NAME];	  /* of the file's directory entry; maybe cut */
};

/* Times by the session clock, in this order; 0: not yet, or it has not happened. */
struct runrec {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long on_ns;    /* it came to a CPU; 0: before it was measured */
	unsigned long long off_ns;   /* it left it */
	unsigned long long woken_ns; /* and could run again. READY: 0 */
	unsigned long long in_ns;    /* it came to a CPU again */
	int pid, tid;		     /* taskid.h */
	int waker_pid, waker_tid;    /* the task on the CPU that has woken it; 0: the idle task */
	unsigned short state, flags; /* enum runrec_state, runrec_flag */
	unsigned int missed;	     /* records that this CPU could not write since the last one */
	char comm[16], waker_comm[16];
	struct runrec_by by[RUNREC_BYS]; /* tid and ns 0: no more */
	struct runrec_on on;
	/*
	 * Of the sleep, then of its program, then of who has woken it: innermost first; 0: not
	 * known.
	 */
	unsigned short n_frames, n_waker_frames;
	unsigned int cpu;
	unsigned short n_user, user; /* user: enum waitrec_user */
	unsigned int pad;	     /* 0 */
	unsigned long long frames[RUNREC_FRAMES];
};

#endif
