/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAITREC_H
#define KONTEND_WAITREC_H

/*
 * Records that a BPF program writes into a ring instead of lock:contention_begin,
 * lock:contention_end and lock:contended_release: the raw data of samples of the software event
 * bpf-output, whose own fields have the waiting task and the time. In a sample the size of the raw
 * data precedes them: with it, the rest is aligned, and a call chain can be used in place. The BPF
 * program includes this file: plain C types only.
 */
#define WAITREC_BEGIN_MAGIC 0x3342574bu	  /* "KWB3" */
#define WAITREC_END_MAGIC 0x3345574bu	  /* "KWE3" */
#define WAITREC_RELEASE_MAGIC 0x3152574bu /* "KWR1" */
#define WAITREC_WAKE_MAGIC 0x3157574bu	  /* "KWW1": wakes the reader, as there is much to read */

#define WAITREC_LATE_MAGIC 0x334c574bu /* "KWL3" */

/* Without `par`, at whose place comes what follows it. */
#define WAITREC_BEGIN2_MAGIC 0x3242574bu /* "KWB2" */
#define WAITREC_LATE2_MAGIC 0x324c574bu	 /* "KWL2" */
#define WAITREC_END2_MAGIC 0x3245574bu	 /* "KWE2" */

/* Of version 1.0.0: they lack the owner; frames, or the begin time, follow at its place. */
#define WAITREC_BEGIN1_MAGIC 0x3142574bu /* "KWB1" */
#define WAITREC_LATE1_MAGIC 0x314c574bu	 /* "KWL1" */
#define WAITREC_END1_MAGIC 0x3145574bu	 /* "KWE1": it ends before `idle` */

enum {
	WAITREC_FRAMES = 32, /* of the kernel */
	WAITREC_USER = 32,   /* of the program */
	WAITREC_ALL = WAITREC_FRAMES + WAITREC_USER,
	WAITREC_ON_WORDS = 2, /* of waitrec_on */
};

/* Bits of `misc` in the record header that samples of perf do not use. */
enum {
	WAITREC_REPORTS_GAPS = 1 << 12, /* always set; 0.1.0 had only `missed` */
	WAITREC_AFTER_GAP = 1 << 13,	/* the ring was full: records before it are missing */
};

/* Owner of the lock when the wait begins, from the lock word. */
enum waitrec_owner {
	WAITREC_NOT_SAID, /* the lock word does not name it */
	WAITREC_OWNED,	  /* by that task, for certain; tid 0: by no task */
	WAITREC_READ,	  /* by readers, of which that task was one */
	WAITREC_HANDED,	  /* no owner: that task is the first in its queue and takes it next */
	WAITREC_OWNERS,
};

/* The frames of the program. Recordings of before have none, and 0. */
enum waitrec_user {
	WAITREC_USER_NONE,  /* not asked for, or it is not a task of a program */
	WAITREC_USER_WHOLE, /* up to where the thread began */
	WAITREC_USER_MOST,  /* there are more */
	WAITREC_USER_ENDS,  /* what comes next could not be read, or is no code */
	WAITREC_USER_SAVED, /* they would have cost too much */
	WAITREC_USER_SPINS, /* not taken of waits that spin */
	WAITREC_USER_SOON,  /* the tables of the program had not been read yet */
	WAITREC_USERS,
};

/* Bits of `owner_asked`. */
enum {
	WAITREC_OWNERS_ASKED = 1, /* for --owner: waits are summed up by owner */
	WAITREC_HAS_ON = 2,	  /* struct waitrec_on follows the frames */
	WAITREC_LOSES = 4, /* its end has idleclock.h, but this has not: it may use all CPUs */
};

/* On what a wait's system call is. */
enum waitrec_on_kind {
	WAITREC_ON_UNKNOWN,
	WAITREC_ON_NOTHING, /* no argument names one */
	WAITREC_ON_PATH,    /* a path, which is in the memory of the process and not read */
	WAITREC_ON_FILE,    /* inode `value` on `dev`: of a descriptor, or mapped at an address */
	WAITREC_ON_TASK,    /* number `value`, as the process has it */
	WAITREC_ON_MEMORY,  /* the address `value`: nothing is mapped there, or it is not read */
	WAITREC_ON_HEAP,    /* the one of brk(2); `value` is the address, as of the next two */
	WAITREC_ON_STACK,
	WAITREC_ON_ANONYMOUS, /* memory that is of no file */
	WAITREC_ON_KINDS,
};

struct waitrec_on {
	unsigned int kind, dev;
	unsigned long long value;
};

/*
 * Names of such inodes are in records of inodes (INODEREC_ON), as of a lock at this address. No
 * kernel has an object there: see filelock.h.
 */
static inline unsigned long long waitrec_on_addr(unsigned int dev, unsigned long long ino)
{
	unsigned long long x = ino * 0x9e3779b97f4a7c15ull;

	x ^= x >> 32;
	x = (x ^ dev) * 0xc2b2ae3d27d4eb4full;
	x ^= x >> 29;
	return x >> 8 | 0xc2ull << 56;
}

struct waitrec_begin {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long lock;
	unsigned long long cgroup; /* id of the cgroup of perf's controller; 0: not known */
	unsigned int flags;	   /* LCB_F_* */
	int tid;		   /* outside of all containers */
	/*
	 * Records on this CPU that were not written since the last begin. Either the ring was full:
	 * then there is a gap. Or an interrupt hit the program itself: then it is a begin and its
	 * end.
	 */
	unsigned int missed;
	/* That follow: innermost first, without markers; first the kernel's. */
	unsigned short n_frames, n_user;
	int owner_pid, owner_tid;
	unsigned short owner;	   /* enum waitrec_owner */
	unsigned char owner_asked; /* WAITREC_OWNERS_ASKED, HAS_ON, LOSES */
	unsigned char user;	   /* enum waitrec_user */
	/*
	 * Of a file's lock: how long it is held already, waitrec_age(). Of others idleclock.h; 0
	 * as well where the task may not use all CPUs.
	 */
	unsigned int held;
	unsigned long long par; /* parclock.h */
	unsigned long long frames[WAITREC_ALL + WAITREC_ON_WORDS];
};

/*
 * A duration in 32 bits, exact to a millionth: a number, and in the lower bits how often it was
 * divided by 1024. 0: not known.
 */
enum { WAITREC_AGE_SHIFT = 2, WAITREC_AGE_MOST = (1 << 30) - 1 };

static inline unsigned int waitrec_age(unsigned long long ns)
{
	unsigned int unit = 0;

	ns = ns ? ns : 1;
	for (; unit < 3 && ns > WAITREC_AGE_MOST; unit++)
		ns /= 1024;
	return (unsigned int)(ns > WAITREC_AGE_MOST ? WAITREC_AGE_MOST : ns) << WAITREC_AGE_SHIFT |
	       unit;
}

static inline unsigned long long waitrec_age_ns(unsigned int age)
{
	return (unsigned long long)(age >> WAITREC_AGE_SHIFT) << 10 * (age & 3);
}

/*
 * A wait that began long before: it was only to be reported if it became long. A wait that this
 * lock and task have already reported is reported again at its end, with its call chain.
 */
struct waitrec_late {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	unsigned long long cgroup;
	unsigned int flags;
	int tid;
	unsigned int missed;
	unsigned short n_frames, n_user;
	int owner_pid, owner_tid; /* at its begin, or at the first report */
	unsigned short owner;
	unsigned char owner_asked, user;
	unsigned int spun;	/* of a mutex: how long it has spun, waitrec_age(); of others 0 */
	unsigned long long par; /* parclock.h, when it began */
	unsigned long long begin_ns; /* session clock */
	unsigned long long frames[WAITREC_ALL + WAITREC_ON_WORDS];
};

/* For a wait that perf's own event has just reported: the frames of the program. */
#define WAITREC_FRAMES_MAGIC 0x3146574bu /* "KWF1" */

struct waitrec_frames {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	unsigned short n_user, has_on; /* that follow; 1: after them struct waitrec_on */
	unsigned int user;	       /* enum waitrec_user */
	unsigned long long frames[WAITREC_USER + WAITREC_ON_WORDS];
};

struct waitrec_end {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	int ret, tid;
	/* idleclock.h: now; and when the wait began, unless its begin has that. */
	unsigned int idle, began;
	unsigned long long par; /* parclock.h, now */
};

enum { WAITREC_END1 = 24, WAITREC_END2 = 32 }; /* the sizes of versions 1 and 2 */

struct waitrec_release {
	unsigned int size;
	unsigned int magic;
	unsigned long long lock;
	int tid, pad; /* pad: 0 */
};

#endif
