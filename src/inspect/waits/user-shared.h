/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the programs that report sleeps in futex(2). Included by both sides:
 * plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_USER_SHARED_H
#define KONTEND_INSPECT_LOCKS_USER_SHARED_H

#include "kontend/userrec.h"
#include "kontend/usersite.h"

/* The sleep in futex(2) that a thread is in. */
struct raw_user_now {
	unsigned long long since_ns;   /* 0: in none */
	unsigned long long lock;       /* userlock_addr() */
	unsigned long long woken_ns;   /* 0: it sleeps */
	unsigned long long word, addr; /* of the call, and of the object */
	unsigned long long pc;
	int owner_pid, owner_tid, waker_pid, waker_tid;
	unsigned int op, value;
	unsigned int kind, flags; /* enum userlock_kind, enum userrec_flag */
	unsigned int cpu, epoch;
	unsigned long long number; /* of the runtime's lock, by usersite_path.info; 0: none */
	unsigned long long place;  /* usersite_key() where more is to be known; 0: not */
	/* Kept from sleep to sleep: where the process says for which lock it is in epoll_wait(2).
	 */
	unsigned long long mm; /* of that process; another program has another one */
	struct usersite_info info;
	unsigned int site;	     /* enum usersite_flag */
	unsigned int has_epoll;	     /* as it was then */
	unsigned int n_frames, user; /* of the program; enum waitrec_user */
	unsigned int idle, pad;	     /* idleclock.h, when the sleep began */
	unsigned long long par;	     /* parclock.h, likewise */
	unsigned long long frames[USERREC_FRAMES];
};

enum {
	RAW_USER_LOCKS = 8192, /* with sums and names of their own */
	RAW_USER_NEW = 1024,   /* since the last look */
	RAW_USER_MODES = 2,    /* 1: to read */
	RAW_USER_SITES = 8192,
	RAW_USER_STACKS = 32, /* that user space has not read yet */
};

/*
 * A lock that has been waited for, by userlock_addr(), and the waits that were too short for a
 * record; or all locks of a kind for which there was no room, by RAW_USER_REST and the kind.
 */
enum { RAW_USER_REST = 1 };

struct raw_user_lock {
	unsigned long long addr; /* in process */
	int pid;
	unsigned int kind;	 /* enum userlock_kind */
	unsigned int flags, pad; /* enum userrec_flag: SHARED */
	unsigned long long n[RAW_USER_MODES], ns[RAW_USER_MODES];
	/* Of ns, while a CPU was idle; and of so many of them that is known. */
	unsigned long long lost_ns[RAW_USER_MODES], lost_of_ns[RAW_USER_MODES];
};

/* Once a lock, to give it a name. */
struct raw_user_new {
	unsigned long long lock, addr, number; /* number: as in raw_user_now */
	int pid;
	unsigned int flags; /* enum userrec_flag: SHARED */
};

/* Of one CPU, as all of them would write to the same words otherwise at each sleep. */
struct raw_user_counts {
	unsigned long long sleeps;		  /* in futex(2), and those for locks elsewhere */
	unsigned long long dropped;		  /* of threads without storage */
	unsigned long long unproven, unproven_ns; /* for what is not known */
	unsigned long long idle, idle_ns;	  /* for conditions, work, threads that end */
	unsigned long long unknown; /* words that are not in memory, and shared ones without file */
	unsigned long long foreign; /* of 32-bit programs */
	unsigned long long records, missed; /* written; not written, as there was no room or ring */
	unsigned long long busy_ns;	    /* for begins and ends of sleeps */
};

/* Set by user space. */
struct raw_user_state {
	unsigned long long min_ns; /* sleeps from that on have a record */
	unsigned long long stacks; /* that may be handed over until the next look */
	unsigned int off;	   /* nothing is measured */
	unsigned int epoch;	   /* a number of the attachment */
	unsigned int
		has_epoll; /* places of sleeps in epoll_wait(2) are known: another number by each */
	unsigned int saves; /* no call chains of programs, as all would cost too much */
};

#endif
