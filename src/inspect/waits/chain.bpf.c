// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains at a tracepoint, without unwinding each time, which costs microseconds at the worst
 * place: between two tasks that pass a lock on. A chain that was unwound once is kept with the
 * places on the kernel stack where its return addresses are, and a sum of them. When the tracepoint
 * is passed again and the same addresses are there, the chain is the same one: where a function was
 * called says how far its caller's return address is from its own, so that no address that an
 * earlier call has left there can be mistaken for one of this chain. But a system call leaves a gap
 * of random size: the few frames beyond it, always the same ones, are at the same distance from the
 * stack's end. A chain that is not found on the stack (that of an interrupt, say) is unwound each
 * time; one that is found, now and then: often, where an address is there twice, as one may have
 * been taken for the other.
 *
 * All of it is per CPU; an interrupt that comes while it is used does not get it. waits.bpf.c
 * includes this file: both are one program.
 */
#include "kernel/locks.h"
#include "kfunc-call.h"
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
	STACK_DOUBT = 1 << 6,  /* or where one of its addresses is there twice */
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
 * The key that separates chains before any of them is compared: the system call and flags, with
 * one of the return addresses next to the lock, and its place.
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
	volatile __u64 base; /* of the stack */
	__u32 left;	     /* words from there to the stack's end, or STACK_WORDS */
	__u32 turn;	     /* whose place is taken next */
	__u32 n_known;	     /* chains that have their place */
	struct stack_set sets[STACK_SETS];
	struct stack_known known[STACK_KNOWN];
	__u64 frames[WAITREC_FRAMES];
	__u64 words[STACK_WORDS];
};

_Static_assert(sizeof(struct stack_work) <= WAITS_CHAINS, "the chains have their room");

static __always_inline struct stack_work *stack_work(struct waits_cpu *c)
{
	return (struct stack_work *)c->chains;
}

struct task_struct___stack {
	void *stack;
} CORE;

/* Words of the stack, and whether the return addresses of a chain are among them. */

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
		__u64 is_next = ((__u64)way - 1 - i) >> 63, is_same = (differs - 1) >> 63;

		/* Newer compilers make branches of what they know to be 0 or 1. */
		barrier_var(is_there);
		barrier_var(is_next);
		barrier_var(is_same);
		if (is_same & is_there & is_next)
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
 * Finds the next frame on the stack. An address that is there twice may have been mistaken for one
 * that an earlier call has left.
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
__noinline __u64 stack_report(const struct stack_work *w, struct ring_record *rec, __u32 n)
{
	__u64 sum = 0;

	for (__u32 i = 0; w && rec && i < WAITREC_FRAMES && i < n; i++) {
		sum = stack_sum(sum, w->frames[i]);
		rec->begin.frames[i] = w->frames[i];
	}
	return sum;
}

/* Into @to, of WAITREC_FRAMES. Frames. */
static __always_inline __u32 stack_unwind(void *ctx, __u64 *to, __u32 frames)
{
	__u64 size = frames * sizeof(*to);
	long len = 0;

	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > WAITREC_FRAMES * sizeof(*to))
		size = WAITREC_FRAMES * sizeof(*to);
	if (size)
		len = bpf_get_stack(ctx, to, size, STACK_LEAD);
	return len > 0 ? (__u32)len / 8 : 0;
}

/* A call chain that is unwound, and kept in case that it comes again. */

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
__noinline int stack_learn(struct stack_work *w, const struct stack_place *p, struct stack_way *way,
			   struct stack_known *k, __u32 n)
{
	struct stack_search s = {.k = k, .w = w, .n = n};

	if (!w || !p || !way || !k)
		return 0;
	way->place = STACK_NONE;
	if (!stack_read(w, STACK_WORDS))
		return 0;
	k->from = (__u16)p->from;
	k->sum = 0;
	/* Words beyond that are not searched. */
	k->unsure = w->left >= STACK_WORDS;
	bpf_loop(STACK_WORDS, stack_find, &s, 0);
	/* Of a chain that may be cut it is not known what is last. */
	k->n = k->fixed = (__u16)n;
	if (p->call != -1 && k->fixed < p->frames && k->fixed >= p->entry)
		k->fixed -= (__u16)p->entry;
	stack_file(way, w, k, p, s.found == n && k->fixed);
	return 0;
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
static __always_inline __u32 stack_again(void *ctx, struct stack_work *w, struct ring_record *rec,
					 const struct stack_place *p, __u32 at)
{
	__u32 n = stack_unwind(ctx, w->frames, p->frames);
	__u64 sum = stack_report(w, rec, n);
	struct stack_set *s = &w->sets[p->set & (STACK_SETS - 1)];
	bool is_one = at < STACK_WAYS;
	struct stack_way *way = &s->ways[(is_one ? at : stack_turn(w, s)) & (STACK_WAYS - 1)];
	struct stack_known *k = stack_chain(w, way);

	k->uses = 0;
	if (!is_one || k->n != n || k->sum != sum)
		stack_learn(w, p, way, k, n);
	return n;
}

/* The call chain of a tracepoint: one that is known again, or else unwound, and learnt. */

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

/* The flags that chains of the same place share, and few other chains have. */
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

/* Moves a frequent chain forward, where it is found soon. */
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
	/* By way of memory, or the verifier takes them for pointers, which are not to be shifted.
	 */
	w->here = (__u64)ctx;
	w->base = (__u64)t->stack;
	from = w->here - w->base;
	if (from >= STACK_BYTES) /* on no task's stack */
		return stack_unwind(ctx, rec->begin.frames, frames);
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
	return stack_again(ctx, w, rec, &p, trial.way);
}
