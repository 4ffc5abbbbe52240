/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERSITE_H
#define KONTEND_USERSITE_H

#include "kontend/userlock.h"

/*
 * For what a thread sleeps in futex(2) where no layout says it: the functions that have called
 * futex(2) say it, but a BPF program knows no functions. So it hands one stack of each place to
 * user space, which unwinds it and answers with a path: the return addresses that make up this
 * chain of calls, where they are on the stack, and for what a thread sleeps there. The program
 * compares these addresses at each later sleep. Plain C types only, sizes are multiples of 8.
 */
enum {
	USERSITE_RETURNS = 4, /* of a path: the calls next to the one that says it all */
	USERSITE_PATHS = 4,   /* of one place: the same word and the same instruction */
	USERSITE_STACK = 2048 /* bytes */
};

enum usersite_flag {
	USERSITE_LOCK = 1,  /* it is a lock; else a condition, work, a thread that ends, the time */
	USERSITE_KNOWN = 2, /* else no known function has called futex(2) */
	USERSITE_NAMED = 4, /* the lock has the name of its kind, and needs none by its place */
	USERSITE_SHARED = 8, /* by processes */
	/* A semaphore: a lock from when a thread posts it that has waited for it before. */
	USERSITE_COUNT = 16,
	/* The thread sleeps for a limited time, and again until it has the lock. */
	USERSITE_RETRIES = 32,
};

/*
 * Where a process says which lock it is before it sleeps: these bits at this address are the number
 * of a lock if it is of that class, and not 0. Such locks are in `space`, and are of the kind
 * USERLOCK_RUNTIME.
 */
struct usersite_info {
	unsigned long long at, space; /* at 0: nowhere */
	unsigned long long bits, mask, class;
};

struct usersite_path {
	unsigned long long returns[USERSITE_RETURNS];
	unsigned long long lock; /* userlock_addr() */
	struct usersite_info info;
	unsigned short at[USERSITE_RETURNS]; /* 8-byte words from the stack pointer */
	unsigned short n_returns, kind;	     /* enum userlock_kind */
	unsigned int flags;		     /* enum usersite_flag */
};

/* All that is known of one place. */
struct usersite {
	unsigned int n, asked;	       /* asked: a stack has been handed over */
	unsigned long long sleeps, ns; /* that ended before a path was known */
	struct usersite_path paths[USERSITE_PATHS];
};

/* A sleep whose path is not known. */
struct usersite_stack {
	unsigned long long key, space; /* usersite_key(), userlock_space() */
	unsigned long long addr, pc, sp;
	unsigned long long fp;	/* frame pointer */
	unsigned int op, value; /* of the call */
	int pid, tid;		/* taskid.h */
	unsigned int len, pad;	/* bytes from the stack pointer on */
	unsigned char stack[USERSITE_STACK];
};

/*
 * A sleep in epoll_wait(2) is for a lock only where the process says which; its place has this word
 * and instruction.
 */
enum { USERSITE_EPOLL = 1 };

/* @word: the address in the call; @pc: where the thread comes back from it. */
static inline unsigned long long usersite_key(unsigned long long space, unsigned long long word,
					      unsigned long long pc)
{
	return userlock_mix(userlock_addr(space, word) ^ pc);
}

#endif
