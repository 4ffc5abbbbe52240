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
#define WAITREC_BEGIN_MAGIC 0x3242574bu	  /* "KWB2" */
#define WAITREC_END_MAGIC 0x3145574bu	  /* "KWE1" */
#define WAITREC_RELEASE_MAGIC 0x3152574bu /* "KWR1" */
#define WAITREC_WAKE_MAGIC 0x3157574bu	  /* "KWW1": nothing but that there is much to read */

#define WAITREC_LATE_MAGIC 0x324c574bu /* "KWL2" */

/* Those of 1.0.0, which end where the owner stands: frames, or when it began, come right after. */
#define WAITREC_BEGIN1_MAGIC 0x3142574bu /* "KWB1" */
#define WAITREC_LATE1_MAGIC 0x314c574bu	 /* "KWL1" */

enum { WAITREC_FRAMES = 32 };

/* Of the `misc` of a record's header, where a sample of perf has nothing there. */
enum {
	WAITREC_TELLS_GAPS = 1 << 12, /* always; 0.1.0 had only `missed` */
	WAITREC_AFTER_GAP = 1 << 13,  /* the ring was full: records before it are missing */
};

/* Who has the lock when the wait begins, as the lock's own word says. */
enum waitrec_owner {
	WAITREC_NOT_SAID, /* such a lock does not say it */
	WAITREC_OWNED,	  /* by that task, for sure; by none, where its number is 0 */
	WAITREC_READ,	  /* by readers, of whom that task was one */
	WAITREC_HANDED,	  /* by none: that task is the first in its queue, and is to take it */
	WAITREC_OWNERS,
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
	int owner_pid, owner_tid;
	unsigned short owner;	    /* enum waitrec_owner */
	unsigned short owner_asked; /* 1: by --owner: waits are summed up by it */
	unsigned int pad;
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
	int owner_pid, owner_tid; /* when it began, or was told first */
	unsigned short owner, owner_asked;
	unsigned int pad;
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
