/* SPDX-License-Identifier: GPL-2.0-only */
/* A call chain that is unwound, and kept in case that it comes again. */
#ifndef KONTEND_INSPECT_WAITS_LEARN_H
#define KONTEND_INSPECT_WAITS_LEARN_H

#include "waits-compare.h"

struct stack_place {
	__u32 from, key, set;
	__u32 frames; /* at most */
	int call;     /* the system call; -1: none, and no gap */
	__u32 entry;  /* frames beyond the gap */
};

/* So many words at most, where they have to be copied. False: the stack cannot be read. */
static __always_inline bool stack_read(struct stack_work *w, __u32 words)
{
	__u64 size = (words < w->left ? words : w->left) * sizeof(w->words[0]);

	if (config.word_type)
		return true;
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(w->words))
		size = sizeof(w->words);
	return bpf_probe_read_kernel(w->words, size, (void *)w->here) == 0;
}

/* Where a chain is looked for; or it is not, as not all of it is on the stack. */
static __always_inline void stack_file(struct stack_work *w, const struct stack_known *k,
				       const struct stack_place *p, __u32 index, bool is_whole)
{
	struct stack_set *s = &w->sets[index / STACK_WAYS & (STACK_SETS - 1)];
	__u32 way = index & (STACK_WAYS - 1), nth = k->fixed > STACK_TAG ? STACK_TAG : 0;

	barrier_var(way); /* or the bound is taken for known, and no test is left of it */
	if (way >= STACK_WAYS)
		return;
	s->tags[way] = stack_tag(p->key, w->frames[nth]);
	s->places[way] = is_whole ? k->at[nth] : STACK_NONE;
	if (way >= s->used)
		s->used = way + 1;
}

/* Keeps a chain that was unwound, if it is all on the stack. */
static __always_inline void stack_learn(struct stack_work *w, const struct stack_place *p,
					__u32 index, __u32 n)
{
	struct stack_known *k = bpf_map_lookup_elem(&stacks, &index);
	struct stack_search s = {.k = k, .w = w, .n = n};

	if (!k || !stack_read(w, STACK_WORDS))
		return;
	k->from = p->from;
	k->sum = 0;
	bpf_loop(STACK_WORDS, stack_find, &s, 0);
	/* Of a chain that may be cut it is not known what is last. */
	k->n = k->fixed = (__u16)n;
	if (p->call != -1 && k->fixed < p->frames && k->fixed >= p->entry)
		k->fixed -= (__u16)p->entry;
	stack_file(w, k, p, index, s.found == n && k->fixed);
}

/* What is on no task's stack. */
static __always_inline __u32 stack_other(void *ctx, struct stack_work *w, struct waits_ring *r,
					 __u64 at, __u32 frames)
{
	__u32 n = stack_unwind(ctx, w, frames);

	stack_tell(w, r, at, n);
	return n;
}

/* The next way that is free or, where none is, whose turn it is. */
static __always_inline __u32 stack_turn(struct stack_work *w, __u32 set)
{
	__u32 used = w->sets[set & (STACK_SETS - 1)].used;

	return used < STACK_WAYS ? used : w->turn++;
}

/* @way: whose chain it was taken for, until now. Frames. */
static __always_inline __u32 stack_anew(void *ctx, struct stack_work *w, struct waits_ring *r,
					__u64 at, const struct stack_place *p, __u32 way)
{
	__u32 n = stack_unwind(ctx, w, p->frames);
	__u64 sum = stack_tell(w, r, at, n);
	bool is_one = way < STACK_WAYS;
	__u32 index =
		p->set * STACK_WAYS + ((is_one ? way : stack_turn(w, p->set)) & (STACK_WAYS - 1));
	struct stack_known *k = bpf_map_lookup_elem(&stacks, &index);

	if (!k)
		return n;
	k->uses = 0;
	if (!is_one || k->n != n || k->sum != sum)
		stack_learn(w, p, index, n);
	return n;
}

#endif
