/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HOLDREC_H
#define KONTEND_HOLDREC_H

/*
 * Records that a BPF program writes into a ring about tasks that hold a lock while others wait for
 * it: when they leave their CPU, why, and when they are back. Raw data of a sample of the software
 * event bpf-output, whose own fields have the time, but not the task. As in waitrec.h, the size of
 * the raw data precedes them in a sample: with it, frames are aligned. The BPF program includes
 * this file: plain C types only.
 */
#define HOLDREC_MAGIC 0x3148574bu /* "KWH1" */

enum { HOLDREC_FRAMES = 24 };

enum holdrec_what {
	HOLDREC_BEGUN,	 /* from here on holders are followed; of no task */
	HOLDREC_STOPPED, /* holders are no longer followed */
	HOLDREC_SEEN,	 /* another task begins to wait while this one holds the lock */
	HOLDREC_OFF,	 /* leaves its CPU */
	HOLDREC_WOKEN,	 /* woken, and waits for a CPU */
	HOLDREC_ON,	 /* runs again */
	/* Of holders that their lock does not name, such as readers: */
	HOLDREC_GOT,	    /* got the lock after waiting, and is followed */
	HOLDREC_GONE,	    /* has returned to user space: it no longer holds the lock */
	HOLDREC_UNFOLLOWED, /* may hold the lock, but is no longer followed */
	/* No task holds the lock: this one is the first in its queue and takes it next. */
	HOLDREC_HANDED,
	/* A writer of a percpu-rwsem releases it and has woken a waiter. Once for each release. */
	HOLDREC_RELEASED,
	HOLDREC_WHATS,
};

/* State of the holder from then on. */
enum holdrec_state {
	HOLDREC_UNKNOWN,
	HOLDREC_RUNNING,
	HOLDREC_RUNNABLE, /* ready to run while another task has the CPU */
	HOLDREC_ASLEEP,
	HOLDREC_IO, /* asleep, accounted by the kernel as waiting for I/O */
	HOLDREC_STATES,
};

struct holdrec {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long lock; /* held by the task; one of them if several */
	int pid, tid;		 /* of the holder: taskid.h; 0: of no task */
	/*
	 * At OFF of a runnable task, or of one that falls asleep: the task that gets the CPU. At
	 * SEEN of a runnable task: the one that has it then. WOKEN: the task that ran where it was
	 * woken, maybe by an interrupt. ON: the task that had the CPU before, and for most of the
	 * time that this one was runnable. 0: the idle task, or not known.
	 */
	int other_pid, other_tid;
	unsigned int what, state;
	unsigned int hint; /* 1: a reader of the lock, now or earlier */
	/* Records that this CPU could not write, or holders not followed, since the last record. */
	unsigned int missed;
	char comm[16], other_comm[16];
	unsigned int n_frames; /* that follow: of a task that falls asleep, innermost first */
	unsigned int idle;     /* idleclock.h, now; 0: not known, as in records of before */
	unsigned long long frames[HOLDREC_FRAMES];
};

#endif
