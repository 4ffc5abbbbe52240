/* SPDX-License-Identifier: GPL-2.0-only */
/* The call chain of a tracepoint: one that is known again, or else unwound, and learnt. */
#ifndef KONTEND_INSPECT_WAITS_CHAIN_H
#define KONTEND_INSPECT_WAITS_CHAIN_H

#include "waits-stack.h"

struct stack_place {
	__u32 from, key, set;
	__u32 frames; /* at most */
	int call;     /* the system call; -1: none, and no gap */
	__u32 entry;  /* frames beyond the gap */
};

static __always_inline struct stack_known *stack_learn(void *ctx, struct stack_work *w,
						       const struct stack_place *p, __u32 way)
{
	__u32 index = p->set * STACK_WAYS + (way & (STACK_WAYS - 1));
	struct stack_known *k = bpf_map_lookup_elem(&stacks, &index);
	struct stack_search s = {.k = k, .w = w};

	if (!k)
		return NULL;
	k->from = p->from;
	k->uses = 0;
	stack_unwind(ctx, k, p->frames);
	bpf_loop(STACK_WORDS, stack_find, &s, 0);
	k->key = s.found && s.found == k->rec.n_frames ? p->key : 0;
	/* Of a chain that may be cut it is not known what is last. */
	k->fixed = k->rec.n_frames;
	if (p->call != -1 && k->fixed < p->frames && k->fixed >= p->entry)
		k->fixed -= p->entry;
	return k;
}

static __always_inline struct stack_known *stack_other(void *ctx, __u32 frames)
{
	__u32 index = STACK_KNOWN - 1;
	struct stack_known *k = bpf_map_lookup_elem(&stacks, &index);

	if (k)
		stack_unwind(ctx, k, frames);
	return k;
}

static __always_inline void stack_call(struct stack_place *p)
{
	void *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	p->call = 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		p->call = (int)BPF_CORE_READ(x86, orig_ax);
		p->entry = STACK_ENTRY_X86;
	} else if (bpf_core_field_exists(arm64->syscallno)) {
		p->call = BPF_CORE_READ(arm64, syscallno);
		p->entry = STACK_ENTRY_ARM64;
	}
}

/* What chains of the same place have in common, and few others. */
static __always_inline void stack_where(struct stack_place *p, __u32 flags)
{
	__u32 depth;

	stack_call(p);
	depth = p->call == -1 ? p->from : p->from >> 9;
	p->key = ((depth << 8 | (flags & 0xff)) ^ (__u32)p->call << 22) | 1;
	p->set = (p->key * 0x9e3779b1u) >> 26; /* of STACK_SETS */
}

/* False: the stack cannot be read. */
static __always_inline bool stack_read(struct stack_work *w, __u32 from, __u64 words)
{
	__u64 size = words * sizeof(w->words[0]), left = STACK_BYTES - from;

	size = size < left ? size : left;
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(w->words))
		size = sizeof(w->words);
	return bpf_probe_read_kernel(w->words, size, (void *)w->here) == 0;
}

struct stack_trial {
	struct stack_work *w;
	const struct stack_place *p;
	__u32 have; /* words that have been read */
	__u32 way;  /* whose chain is the one of here; STACK_WAYS: none */
};

/* A loop's body, as the verifier goes through that once, and not once for each round. */
static long stack_try(__u64 way, void *arg)
{
	struct stack_trial *t = arg;
	const struct stack_place *p = t->p;
	__u32 index = p->set * STACK_WAYS + ((__u32)way & (STACK_WAYS - 1));
	const struct stack_known *k = bpf_map_lookup_elem(&stacks, &index);
	__u32 need;
	int gap;

	if (!k || k->key != p->key)
		return 0;
	gap = ((int)k->from - (int)p->from) >> 3;
	need = k->words + (__u32)gap;
	if (need > STACK_WORDS)
		return 0;
	if (need > t->have) {
		if (!stack_read(t->w, p->from, need))
			return 1;
		t->have = need;
	}
	if (!stack_same(k, t->w, gap))
		return 0;
	t->way = (__u32)way;
	return 1;
}

/* The chain of the tracepoint whose arguments are at @ctx, of at most @frames. */
static __always_inline struct stack_known *stack_here(void *ctx, struct stack_work *w, __u32 flags,
						      __u32 frames)
{
	struct task_struct___stack *t = (void *)bpf_get_current_task();
	struct stack_place p = {.frames = frames};
	struct stack_trial trial = {.w = w, .p = &p, .way = STACK_WAYS};
	struct stack_known *k;
	__u64 from;
	__u32 index;

	/* By way of memory, or the verifier takes it for a pointer, which is not to be shifted. */
	w->here = (__u64)ctx;
	from = w->here - (__u64)BPF_CORE_READ(t, stack);
	if (!frames || from >= STACK_BYTES)
		return stack_other(ctx, frames);
	p.from = (__u32)from;
	stack_where(&p, flags);
	bpf_loop(STACK_WAYS, stack_try, &trial, 0);
	index = p.set * STACK_WAYS + (trial.way & (STACK_WAYS - 1));
	k = bpf_map_lookup_elem(&stacks, &index);
	if (trial.way < STACK_WAYS && k && ++k->uses < STACK_TRUST)
		return k;
	if (!stack_read(w, p.from, STACK_WORDS))
		return stack_other(ctx, frames);
	return stack_learn(ctx, w, &p, trial.way < STACK_WAYS ? trial.way : w->turn++);
}

#endif
