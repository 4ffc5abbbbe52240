/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HOLDREC_H
#define KONTEND_HOLDREC_H

/*
 * What a BPF program of ours writes into a ring of tasks that hold a lock for which others wait:
 * when they go off their CPU, why, and when they are back. Raw data of a sample of the software
 * event bpf-output, whose own fields say when, but not of whom. As in waitrec.h, in a sample the
 * length of the raw data stands before them: with it, frames are aligned. Included by the program,
 * too: plain C types only.
 */
#define HOLDREC_MAGIC 0x3148574bu /* "KWH1" */

enum { HOLDREC_FRAMES = 24 };

enum holdrec_what {
	HOLDREC_BEGUN,	 /* from here on holders are followed; of no task */
	HOLDREC_STOPPED, /* no more */
	HOLDREC_SEEN,	 /* another task begins to wait, and this one has the lock */
	HOLDREC_OFF,	 /* goes off its CPU */
	HOLDREC_WOKEN,	 /* may go on, and waits for a CPU */
	HOLDREC_ON,	 /* runs again */
	/* Of holders that their lock does not name, such as readers: */
	HOLDREC_GOT,	    /* it has got the lock after it waited, and is followed */
	HOLDREC_GONE,	    /* it has been back in user space: it has the lock no more */
	HOLDREC_UNFOLLOWED, /* it may have the lock, but is followed no more */
	/* No task has the lock: this one is the first in its queue, and is to take it. */
	HOLDREC_HANDED,
	/* A writer of a percpu-rwsem lets go of it, and has woken one that waits. Once each time.
	 */
	HOLDREC_RELEASED,
	HOLDREC_WHATS,
};

/* From then on. */
enum holdrec_state {
	HOLDREC_UNKNOWN,
	HOLDREC_RUNNING,
	HOLDREC_RUNNABLE, /* ready to run, and another task has the CPU */
	HOLDREC_ASLEEP,
	HOLDREC_IO, /* asleep, and the kernel counts that as waiting for I/O */
	HOLDREC_STATES,
};

struct holdrec {
	unsigned int size; /* perf's; the raw data begin behind it */
	unsigned int magic;
	unsigned long long lock; /* that it has; one of them */
	int pid, tid;		 /* of the holder: taskid.h; 0: of no task */
	/*
	 * Of who is runnable, at OFF: who gets the CPU, which may be others later; at SEEN: who has
	 * it then. At OFF of who falls asleep: the same. WOKEN: who ran where it was woken, which
	 * may have been by an interrupt. ON: who had the CPU before, and for most of the time that
	 * it was runnable. 0: nobody (the idle task), or not known.
	 */
	int other_pid, other_tid;
	unsigned int what, state;
	unsigned int hint; /* 1: one of its readers, at that moment or before */
	/* Records that this CPU could not write, or holders not followed, since the last one. */
	unsigned int missed;
	char comm[16], other_comm[16];
	unsigned int n_frames; /* that follow: of who falls asleep, innermost first, no markers */
	unsigned int pad;
	unsigned long long frames[HOLDREC_FRAMES];
};

#endif
