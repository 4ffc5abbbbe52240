/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SLEEPREC_H
#define KONTEND_SLEEPREC_H

/*
 * A sleep in state D that has ended: a BPF program writes this record into a ring when the task is
 * woken. Raw data of a sample of the software event bpf-output, whose own fields have the time, but
 * not the task that slept. As in waitrec.h, the size of the raw data precedes them in a sample. The
 * BPF program includes this file: plain C types only.
 */
#define SLEEPREC_MAGIC 0x3153574bu /* "KWS1" */

enum { SLEEPREC_FRAMES = 24, SLEEPREC_USER = 32 }; /* of the kernel, of the program */

enum sleeprec_kind { SLEEPREC_IO, SLEEPREC_DISK, SLEEPREC_KINDS };

struct sleeprec {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long begin_ns, length_ns; /* session clock */
	int pid, tid;				/* of the task that slept: taskid.h */
	/* The task on the CPU that has woken it, maybe by an interrupt. 0: the idle task. */
	int waker_pid, waker_tid;
	unsigned int kind; /* enum sleeprec_kind: the kernel accounts it as I/O, or not */
	/* Records that this CPU could not write since the last one. */
	unsigned int missed;
	char comm[16], waker_comm[16];
	/* That follow: innermost first, the kernel's before those of the program; 0: not known. */
	unsigned short n_frames, n_user;
	unsigned int user; /* enum waitrec_user */
	unsigned long long frames[SLEEPREC_FRAMES + SLEEPREC_USER];
};

#endif
