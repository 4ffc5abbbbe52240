/* SPDX-License-Identifier: GPL-2.0-only */
/* A call chain that is unwound, and kept in case that it comes again. */
#ifndef KONTEND_INSPECT_WAITS_LEARN_H
#define KONTEND_INSPECT_WAITS_LEARN_H

#include "compare.h"

struct stack_place {
	__u32 from; /* words between the stack's begin and the tracepoint's arguments */
	__u32 key, set;
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

static __always_inline struct stack_known *stack_chain(struct stack_work *w,
						       const struct stack_way *way)
{
	return &w->known[way->nth & (STACK_KNOWN - 1)];
}

/* By what a chain is found; or it is not, as not all of it is on the stack. */
static __always_inline void stack_file(struct stack_way *way, const struct stack_work *w,
				       const struct stack_known *k, const struct stack_place *p,
				       bool is_whole)
{
	__u32 nth = k->fixed > STACK_TAG ? STACK_TAG : 0;

	way->tag = stack_tag(p->key, w->frames[nth]);
	way->place = is_whole ? k->at[nth] : STACK_NONE;
}

/* Keeps a chain that was unwound, if it is all on the stack. */
static __always_inline void stack_learn(struct stack_work *w, const struct stack_place *p,
					struct stack_way *way, struct stack_known *k, __u32 n)
{
	struct stack_search s = {.k = k, .w = w, .n = n};

	way->place = STACK_NONE;
	if (!stack_read(w, STACK_WORDS))
		return;
	k->from = (__u16)p->from;
	k->sum = 0;
	/* Beyond that nobody looks. */
	k->unsure = w->left >= STACK_WORDS;
	bpf_loop(STACK_WORDS, stack_find, &s, 0);
	/* Of a chain that may be cut it is not known what is last. */
	k->n = k->fixed = (__u16)n;
	if (p->call != -1 && k->fixed < p->frames && k->fixed >= p->entry)
		k->fixed -= (__u16)p->entry;
	stack_file(way, w, k, p, s.found == n && k->fixed);
}

/* What is on no task's stack. */
static __always_inline __u32 stack_other(void *ctx, struct stack_work *w, struct ring_record *rec,
					 __u32 frames)
{
	__u32 n = stack_unwind(ctx, w, frames);

	stack_tell(w, rec, n);
	return n;
}

/* The next way that is free, with the next place for a chain, or where none is, whose turn it is.
 */
static __always_inline __u32 stack_turn(struct stack_work *w, struct stack_set *s)
{
	__u32 at = s->used;

	if (at >= STACK_WAYS)
		return STACK_WAYS - STACK_OLD + w->turn++ % STACK_OLD;
	s->ways[at].nth = (__u16)w->n_known++;
	s->used = at + 1;
	return at;
}

/* @at: the way whose chain it was taken for, until now. Frames. */
static __always_inline __u32 stack_anew(void *ctx, struct stack_work *w, struct ring_record *rec,
					const struct stack_place *p, __u32 at)
{
	__u32 n = stack_unwind(ctx, w, p->frames);
	__u64 sum = stack_tell(w, rec, n);
	struct stack_set *s = &w->sets[p->set & (STACK_SETS - 1)];
	bool is_one = at < STACK_WAYS;
	struct stack_way *way = &s->ways[(is_one ? at : stack_turn(w, s)) & (STACK_WAYS - 1)];
	struct stack_known *k = stack_chain(w, way);

	k->uses = 0;
	if (!is_one || k->n != n || k->sum != sum)
		stack_learn(w, p, way, k, n);
	return n;
}

#endif
