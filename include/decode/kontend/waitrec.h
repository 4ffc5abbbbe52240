/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAITREC_H
#define KONTEND_WAITREC_H

/*
 * What a BPF program of ours writes into a ring in place of lock:contention_begin,
 * lock:contention_end and lock:contended_release: the raw data of samples of the software event
 * bpf-output, whose own fields say who waits and when. In a sample the length of the raw data
 * stands before them: with it, what follows is aligned, and a call chain can be used where it is.
 * Included by the program, too: plain C types only.
 */
#define WAITREC_BEGIN_MAGIC 0x3142574bu	  /* "KWB1" */
#define WAITREC_END_MAGIC 0x3145574bu	  /* "KWE1" */
#define WAITREC_RELEASE_MAGIC 0x3152574bu /* "KWR1" */
#define WAITREC_WAKE_MAGIC 0x3157574bu	  /* "KWW1": nothing but that there is much to read */

#define WAITREC_LATE_MAGIC 0x314c574bu /* "KWL1" */

enum { WAITREC_FRAMES = 32 };

/* Of the `misc` of a record's header, where a sample of perf has nothing there. */
enum {
	WAITREC_TELLS_GAPS = 1 << 12, /* always; 0.1.0 had only `missed` */
	WAITREC_AFTER_GAP = 1 << 13,  /* the ring was full: records before it are missing */
};

struct waitrec_begin {
	unsigned int size; /* perf's; the raw data begin behind it */
	unsigned int magic;
	unsigned long long lock;
	unsigned long long cgroup; /* id of the cgroup of perf's controller; 0: not known */
	unsigned int flags;	   /* LCB_F_* */
	int tid;		   /* outside of all containers */
	/*
	 * Records on this CPU that were not written since the last begin. For want of room: then
	 * there was a gap. Or within an interrupt of the program: then a begin and its end.
	 */
	unsigned int missed;
	unsigned int n_frames; /* that follow: innermost first, without markers */
	unsigned long long frames[WAITREC_FRAMES];
};

/*
 * A wait that began long before: it was not to be told unless it would be long. One that was told
 * already, by this lock and task, is told again at its end, with its call chain.
 */
struct waitrec_late {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	unsigned long long cgroup;
	unsigned int flags;
	int tid;
	unsigned int missed;
	unsigned int n_frames;
	unsigned long long begin_ns; /* session clock */
	unsigned long long frames[WAITREC_FRAMES];
};

struct waitrec_end {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	int ret, tid;
};

struct waitrec_release {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	int tid, pad; /* pad: 0 */
};

#endif
