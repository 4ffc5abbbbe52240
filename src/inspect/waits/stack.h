/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call chains at a tracepoint, without unwinding each time, which costs microseconds at the worst
 * place: between two tasks that pass a lock on. A chain that was unwound once is kept with the
 * places on the kernel stack where its return addresses stand, and a sum of them. When the
 * tracepoint is passed again and the same stand there, the chain is the same one: how far the
 * return address of a function's caller is from what the function has called is known by where it
 * called that, so that none can be mistaken for what an earlier call has left there. But a system
 * call leaves a gap of random size: the few frames beyond it, always the same ones, stand at the
 * same distance from the stack's end. What is not found on the stack (that of an interrupt, say) is
 * unwound each time; what is, now and then: often, where an address stands there twice, as one may
 * have been taken for the other.
 *
 * All of it is per CPU, and whoever interrupts who uses it does not get it.
 */
#ifndef KONTEND_INSPECT_WAITS_STACK_H
#define KONTEND_INSPECT_WAITS_STACK_H

#include "kernel/locks.h"
#include "ring.h"

enum {
	STACK_WORDS = 512,   /* of the stack are looked at, from the tracepoint outwards */
	STACK_FIRST = 96,    /* of these, at first */
	STACK_BYTES = 16384, /* of it there are, on the machines that matter */
	STACK_SET_BITS = 3,
	STACK_SETS = 1 << STACK_SET_BITS,
	STACK_WAYS = 64,
	STACK_KNOWN = STACK_SETS * STACK_WAYS,
	STACK_TRUST = 1 << 13, /* times that a chain is only recognized, */
	STACK_DOUBT = 1 << 6,  /* or where one of its addresses stands there twice */
	STACK_TRIALS = 4,      /* chains with the same tag that are compared whole */
	STACK_NONE = 0xffff,
	STACK_OLD = 16, /* ways at the end, of chains that come seldom: their places are taken */
	STACK_TAG = 3,	/* the frame in it; those before are often the same */
	STACK_LEAD = 2, /* frames: the program, and who calls it */
	STACK_ENTRY_X86 = 1, /* frames beyond the gap: the entry of system calls */
	STACK_ENTRY_ARM64 = 5,
};

/* A chain: where its return addresses are, and a sum of them. Few cache lines matter most. */
struct stack_known {
	__u64 sum;
	__u16 from;  /* words between the stack's begin and the tracepoint's arguments */
	__u16 words; /* from these outwards, up to the last return address */
	__u16 uses;  /* since it was unwound */
	__u16 n;
	__u16 fixed; /* frames with no gap before them */
	__u16 unsure;
	__u16 at[WAITREC_FRAMES];
} __attribute__((aligned(64)));

/*
 * What tells chains from each other before any of them is looked at: the system call and flags,
 * with one of the return addresses next to the lock, and where that is.
 */
struct stack_way {
	__u32 tag;
	__u16 place; /* STACK_NONE: there is none */
	__u16 nth;   /* of the chains, and no other way's */
};

/* Chains of the same system call and flags: those that come often move to the front. */
struct stack_set {
	__u32 used; /* ways that have been so far */
	struct stack_way ways[STACK_WAYS];
};

/* Chains have their places in the order in which they come: those that come often are together. */
struct stack_work {
	volatile __u64 here; /* on the stack: the tracepoint's arguments */
	__u32 left;	     /* words from there to the stack's end, or STACK_WORDS */
	__u32 turn;	     /* whose place is taken next */
	__u32 n_known;	     /* chains that have their place */
	struct stack_set sets[STACK_SETS];
	struct stack_known known[STACK_KNOWN];
	__u64 frames[WAITREC_FRAMES];
	__u64 words[STACK_WORDS];
};

_Static_assert(sizeof(struct stack_work) <= WAITS_CHAINS, "the chains have their room");

static __always_inline struct stack_work *stack_work(struct waits_ring *r)
{
	return (struct stack_work *)r->chains;
}

struct task_struct___stack {
	void *stack;
} CORE;

#endif
