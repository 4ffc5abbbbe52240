/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call chains at a tracepoint, without unwinding each time, which costs microseconds at the worst
 * place: between two tasks that pass a lock on. A chain that was unwound once is kept with the
 * places on the kernel stack where its return addresses stand. When the tracepoint is passed again
 * and all of them stand there as they did, the chain is the same one: how far the return address of
 * a function's caller is from what the function has called is known by where it called that, so
 * that none can be mistaken for what an earlier call has left there. But a system call leaves a gap
 * of random size: the few frames beyond it, always the same ones, stand at the same distance from
 * the stack's end. What is not found on the stack (that of an interrupt, say) is unwound each time;
 * what is, now and then, in case that an address was taken for another one of the same value.
 *
 * All of it is per CPU, and whoever interrupts who uses it does not get it.
 */
#ifndef KONTEND_INSPECT_WAITS_STACK_H
#define KONTEND_INSPECT_WAITS_STACK_H

#include "kernel-locks.h"

#include "../../include/kontend/waitrec.h"

enum {
	STACK_WORDS = 384,   /* of the stack are looked at, from the tracepoint outwards */
	STACK_BYTES = 16384, /* of it there are, on the machines that matter */
	STACK_SETS = 64,
	STACK_WAYS = 4,
	STACK_TRUST = 64,    /* times that a chain is only recognized */
	STACK_LEAD = 2,	     /* frames: the program, and who calls it */
	STACK_ENTRY_X86 = 1, /* frames beyond the gap: the entry of system calls */
	STACK_ENTRY_ARM64 = 5,
	STACK_KNOWN = STACK_SETS * STACK_WAYS + 1, /* the last: chains that are not kept */
};

/* A chain, as the record that tells of it. */
struct stack_known {
	__u32 key;   /* 0: none */
	__u32 from;  /* bytes between the stack's begin and the tracepoint's arguments */
	__u32 words; /* from these outwards, up to the last return address */
	__u32 fixed; /* frames with no gap before them */
	__u32 uses;  /* since it was unwound */
	__u16 at[WAITREC_FRAMES];
	struct waitrec_begin rec;
};

struct stack_work {
	__u64 words[STACK_WORDS];
	volatile __u64 here;
	__u32 turn; /* whose place is taken next */
	__u32 busy;
	__u32 missed; /* as it was busy */
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

/* On arm64 the upper bits of a return address may sign it. */
static __always_inline bool stack_is(__u64 word, __u64 frame)
{
	return (word | 0xffffull << 48) == frame;
}

/*
 * Is the chain the one of here? @gap: by how many words that of the system call has grown. Not
 * static: the verifier goes through it by itself, once.
 */
__noinline int stack_same(const struct stack_known *k, const struct stack_work *w, int gap)
{
	if (!k || !w)
		return 0;
	for (__u32 i = 0; i < WAITREC_FRAMES && i < k->rec.n_frames; i++) {
		__u32 at = k->at[i] + (i < k->fixed ? 0 : (__u32)gap);

		if (at >= STACK_WORDS || !stack_is(w->words[at], k->rec.frames[i]))
			return 0;
	}
	return 1;
}

struct stack_search {
	struct stack_known *k;
	const struct stack_work *w;
	__u32 found;
};

static long stack_find(__u64 i, void *arg)
{
	struct stack_search *s = arg;
	__u32 n = s->found;

	if (n >= s->k->rec.n_frames || n >= WAITREC_FRAMES || i >= STACK_WORDS)
		return 1;
	if (stack_is(s->w->words[i], s->k->rec.frames[n])) {
		s->k->at[n] = (__u16)i;
		s->k->words = (__u32)i + 1;
		s->found = n + 1;
	}
	return 0;
}

static __always_inline void stack_unwind(void *ctx, struct stack_known *k, __u32 frames)
{
	__u64 size = frames * sizeof(k->rec.frames[0]);
	long len = 0;

	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(k->rec.frames))
		size = sizeof(k->rec.frames);
	if (size)
		len = bpf_get_stack(ctx, k->rec.frames, size, STACK_LEAD);
	k->rec.n_frames = len > 0 ? (__u32)len / 8 : 0;
}

#endif
