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
 * unwound each time; what is, now and then, in case that an address was taken for another one of
 * the same value.
 *
 * All of it is per CPU, and whoever interrupts who uses it does not get it.
 */
#ifndef KONTEND_INSPECT_WAITS_STACK_H
#define KONTEND_INSPECT_WAITS_STACK_H

#include "kernel-locks.h"
#include "waits-ring.h"

enum {
	STACK_WORDS = 512,   /* of the stack are looked at, from the tracepoint outwards */
	STACK_FIRST = 96,    /* of these, at first */
	STACK_BYTES = 16384, /* of it there are, on the machines that matter */
	STACK_SETS = 8,
	STACK_WAYS = 64,
	STACK_TRUST = 256, /* times that a chain is only recognized */
	STACK_TRIALS = 4,  /* chains with the same tag that are compared whole */
	STACK_NONE = 0xffff,
	STACK_TAG = 3,	     /* the frame in it; those before are often the same */
	STACK_LEAD = 2,	     /* frames: the program, and who calls it */
	STACK_ENTRY_X86 = 1, /* frames beyond the gap: the entry of system calls */
	STACK_ENTRY_ARM64 = 5,
	STACK_KNOWN = STACK_SETS * STACK_WAYS,
};

/* A chain: where its return addresses are, and a sum of them. Few cache lines matter most. */
struct stack_known {
	__u64 sum;
	__u32 from;  /* bytes between the stack's begin and the tracepoint's arguments */
	__u32 words; /* from these outwards, up to the last return address */
	__u32 uses;  /* since it was unwound */
	__u16 n;
	__u16 fixed; /* frames with no gap before them */
	__u16 at[WAITREC_FRAMES];
};

/*
 * Chains of the same system call and flags, and what tells them from each other before any of them
 * is looked at: these, with one of the return addresses next to the lock, and where that is.
 */
struct stack_set {
	__u32 tags[STACK_WAYS];
	__u16 places[STACK_WAYS]; /* STACK_NONE: there is none */
	__u32 used;		  /* ways that have been so far */
};

struct stack_work {
	volatile __u64 here; /* on the stack: the tracepoint's arguments */
	__u32 left;	     /* words from there to the stack's end, or STACK_WORDS */
	__u32 turn;	     /* whose place is taken next */
	__u32 busy;
	__u32 missed; /* records that could not be written */
	struct stack_set sets[STACK_SETS];
	__u64 frames[WAITREC_FRAMES];
	__u64 words[STACK_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_KNOWN);
	__type(key, __u32);
	__type(value, struct stack_known);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_work);
} works SEC(".maps");

struct task_struct___stack {
	void *stack;
} CORE;

struct pt_regs___x86 {
	long orig_ax;
} CORE;

struct pt_regs___arm64 {
	int syscallno;
} CORE;

#endif
