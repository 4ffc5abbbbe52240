/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of the stack, and whether the return addresses of a chain are among them. */
#ifndef KONTEND_INSPECT_WAITS_COMPARE_H
#define KONTEND_INSPECT_WAITS_COMPARE_H

#include "kfunc-call.h"
#include "stack.h"

static const void *(*const rdonly_cast)(__u64 addr, __u32 type) = (void *)KFUNC_RDONLY_CAST;

/* Where they can be read in place, no memory is touched that tasks do not use anyway. */
static __always_inline __u64 stack_word(const struct stack_work *w, __u32 place)
{
	if (config.word_type)
		return *(const __u64 *)rdonly_cast(w->here + place * sizeof(__u64),
						   config.word_type);
	barrier_var(place); /* the same register for test and use, or the verifier forgets */
	return place < STACK_WORDS ? w->words[place] : 0;
}

/* On arm64 the upper bits of a return address may sign it. */
static __always_inline __u64 stack_frame(__u64 word)
{
	return word | 0xffffull << 48;
}

static __always_inline __u64 stack_sum(__u64 sum, __u64 frame)
{
	return (sum ^ frame) * 0x9e3779b97f4a7c15ull ^ sum >> 29;
}

static __always_inline __u32 stack_tag(__u32 key, __u64 frame)
{
	return key ^ (__u32)frame;
}

/*
 * The first way from @way on whose tag is that of here; STACK_WAYS: none. With one branch, or the
 * verifier goes through every combination of several. Not static, as others below: it goes through
 * such a function by itself, once.
 */
__noinline int stack_next(const struct stack_work *w, __u32 set, __u32 key, __u32 way)
{
	if (!w)
		return STACK_WAYS;
	const struct stack_set *s = &w->sets[set & (STACK_SETS - 1)];
	for (__u32 i = 0; i < STACK_WAYS && i < s->used; i++) {
		__u64 place = s->ways[i].place, is_there = (place - w->left) >> 63;
		__u64 frame = stack_frame(stack_word(w, place & (STACK_WORDS - 1)));
		__u64 differs = s->ways[i].tag ^ stack_tag(key, frame);
		__u64 is_next = ((__u64)way - 1 - i) >> 63;

		if ((differs - 1) >> 63 & is_there & is_next)
			return (int)i;
	}
	return STACK_WAYS;
}

/*
 * The chain @k into @rec, if it is that of here. @gap: by how many words that of the system call
 * has grown.
 */
__noinline int stack_same(const struct stack_known *k, const struct stack_work *w,
			  struct ring_record *rec, int gap)
{
	__u64 sum = 0;

	if (!k || !w || !rec)
		return 0;
	for (__u32 i = 0; i < WAITREC_FRAMES && i < k->n; i++) {
		__u32 place = k->at[i] + (i < k->fixed ? 0 : (__u32)gap);

		if (place >= STACK_WORDS)
			return 0;
		__u64 frame = stack_frame(stack_word(w, place));
		sum = stack_sum(sum, frame);
		rec->begin.frames[i] = frame;
	}
	return sum == k->sum;
}

struct stack_search {
	struct stack_known *k;
	const struct stack_work *w;
	__u32 found, n;
};

/* Is @frame among the first @n of the chain? */
__noinline int stack_has(const struct stack_work *w, __u64 frame, __u32 n)
{
	__u64 has = 0;

	for (__u32 i = 0; w && i < WAITREC_FRAMES && i < n; i++)
		has |= ((w->frames[i] ^ frame) - 1) >> 63;
	return (int)has;
}

/*
 * Where the frame that is next stands. One that stands there twice may have been taken for what an
 * earlier call has left.
 */
static long stack_find(__u64 i, void *arg)
{
	struct stack_search *s = arg;
	__u32 n = s->found;

	if (n > WAITREC_FRAMES - 1 || i >= s->w->left || i >= STACK_WORDS)
		return 1;
	__u64 frame = stack_frame(stack_word(s->w, (__u32)i));
	if (frame >> 40 != s->w->frames[0] >> 40)
		return 0;
	s->k->unsure |= stack_has(s->w, frame, n);
	if (n < s->n && frame == s->w->frames[n]) {
		s->k->at[n] = (__u16)i;
		s->k->words = (__u16)i + 1;
		s->k->sum = stack_sum(s->k->sum, frame);
		s->found = n + 1;
	}
	return 0;
}

/* A chain that was unwound into @rec. Its sum. */
__noinline __u64 stack_tell(const struct stack_work *w, struct ring_record *rec, __u32 n)
{
	__u64 sum = 0;

	for (__u32 i = 0; w && rec && i < WAITREC_FRAMES && i < n; i++) {
		sum = stack_sum(sum, w->frames[i]);
		rec->begin.frames[i] = w->frames[i];
	}
	return sum;
}

/* Frames. */
static __always_inline __u32 stack_unwind(void *ctx, struct stack_work *w, __u32 frames)
{
	__u64 size = frames * sizeof(w->frames[0]);
	long len = 0;

	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(w->frames))
		size = sizeof(w->frames);
	if (size)
		len = bpf_get_stack(ctx, w->frames, size, STACK_LEAD);
	return len > 0 ? (__u32)len / 8 : 0;
}

#endif
