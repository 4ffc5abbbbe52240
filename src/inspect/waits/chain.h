/* SPDX-License-Identifier: GPL-2.0-only */
/* The call chain of a tracepoint: one that is known again, or else unwound, and learnt. */
#ifndef KONTEND_INSPECT_WAITS_CHAIN_H
#define KONTEND_INSPECT_WAITS_CHAIN_H

#include "learn.h"

static __always_inline void stack_call(struct stack_place *p)
{
	void *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm64 = regs;

	p->call = 0;
	if (is_x86()) {
		p->call = (int)x86->orig_ax;
		p->entry = STACK_ENTRY_X86;
	} else if (is_arm64()) {
		p->call = arm64->syscallno;
		p->entry = STACK_ENTRY_ARM64;
	}
}

/* What chains of the same place have in common, and few others. */
static __always_inline void stack_where(struct stack_place *p, __u32 flags)
{
	__u32 depth;

	stack_call(p);
	depth = p->call == -1 ? p->from : 0;
	p->key = (depth << 8 | (flags & 0xff)) ^ (__u32)p->call << 22;
	p->set = (p->key * 0x9e3779b1u) >> (32 - STACK_SET_BITS);
}

struct stack_trial {
	struct stack_work *w;
	const struct stack_place *p;
	struct ring_record *rec;
	__u32 next; /* way from which on it is looked */
	__u32 have; /* words that have been read */
	__u32 way;  /* whose chain is the one of here; STACK_WAYS: none */
	__u32 n;    /* its frames; 0: it is to be unwound again */
};

/* Is it the one of here, and all of it there to be seen? */
static __always_inline bool stack_is(struct stack_trial *t, const struct stack_known *k)
{
	int gap = (int)k->from - (int)t->p->from;
	__u32 need = k->words + (__u32)gap;

	if (need > t->w->left)
		return false;
	if (need > t->have) {
		if (!stack_read(t->w, need))
			return false;
		t->have = need;
	}
	return stack_same(k, t->w, t->rec, gap);
}

/* What comes often is found soon. */
static __always_inline void stack_forward(struct stack_set *s, __u32 at)
{
	__u32 before = at - 1;

	barrier_var(before); /* the same register for test and use, or the verifier forgets */
	if (before >= STACK_WAYS - 1)
		return;
	struct stack_way *ways = &s->ways[before], way = ways[0];
	barrier_var(ways);
	ways[0] = ways[1];
	ways[1] = way;
}

/* A loop's body, as the verifier goes through that once, and not once for each round. */
static long stack_try(__u64 i, void *arg)
{
	struct stack_trial *t = arg;
	__u32 at = (__u32)stack_next(t->w, t->p->set, t->p->key, t->next);
	struct stack_set *s = &t->w->sets[t->p->set & (STACK_SETS - 1)];
	struct stack_known *k = stack_chain(t->w, &s->ways[at & (STACK_WAYS - 1)]);

	(void)i;
	if (at >= STACK_WAYS)
		return 1;
	t->next = at + 1;
	if (!stack_is(t, k))
		return 0;
	t->way = at;
	if (++k->uses >= (k->unsure ? STACK_DOUBT : STACK_TRUST))
		return 1;
	t->n = k->n;
	stack_forward(s, at);
	return 1;
}

/* The chain of the tracepoint whose arguments are at @ctx into @rec. Frames, at most so many. */
static __always_inline __u32 stack_here(void *ctx, struct stack_work *w, struct ring_record *rec,
					__u32 flags, __u32 frames)
{
	struct task_struct___stack *t = (void *)bpf_get_current_task_btf();
	struct stack_place p = {.frames = frames};
	struct stack_trial trial = {.w = w, .p = &p, .rec = rec, .way = STACK_WAYS};
	__u64 from;

	if (!frames)
		return 0;
	/* By way of memory, or the verifier takes it for a pointer, which is not to be shifted. */
	w->here = (__u64)ctx;
	from = w->here - (__u64)t->stack;
	if (from >= STACK_BYTES)
		return stack_other(ctx, w, rec, frames);
	p.from = (__u32)from / sizeof(w->words[0]);
	w->left = STACK_BYTES / sizeof(w->words[0]) - p.from;
	if (w->left > STACK_WORDS)
		w->left = STACK_WORDS;
	stack_where(&p, flags);
	if (stack_read(w, STACK_FIRST)) {
		trial.have = STACK_FIRST;
		bpf_loop(STACK_TRIALS, stack_try, &trial, 0);
	}
	if (trial.n)
		return trial.n;
	return stack_anew(ctx, w, rec, &p, trial.way);
}

#endif
