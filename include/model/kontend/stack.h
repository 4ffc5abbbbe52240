/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STACK_H
#define KONTEND_STACK_H

#include "kontend/limits.h"
#include "kontend/maps.h"
#include <stddef.h>
#include <stdint.h>

/*
 * Interned call chains, innermost frame first. Frames lie in one pool of u64; a stack is (offset,
 * n). Index 0 is "no or other stack", with no frames. A chain of a wait begins with its frames in
 * the kernel; those of the program follow, as in maps.h, if they are known.
 */
struct stack {
	uint64_t hash;
	uint32_t first; /* index of its first frame in the pool */
	uint16_t n;
	uint8_t marked;
	uint8_t used;
};

enum { STACK_OTHER = 0, STACK_RECENT = 2048 };

struct stack_table {
	struct stack *stacks;
	size_t n, cap;
	uint32_t max;
	uint64_t *frames;
	size_t n_frames, cap_frames;
	uint32_t *slots; /* open addressing on the hash; 0 = free */
	size_t mask;
	/* Index of the chain that came last, by some of its frames: a guess, always checked. */
	uint32_t recent[STACK_RECENT];
	size_t in_use;
	uint32_t free; /* list through `first` of unused entries */
};

int stack_table_init(struct stack_table *t, uint32_t max);
/* 0, or -ENOMEM with @dst to be given to stack_table_deinit(). */
int stack_table_copy(struct stack_table *dst, const struct stack_table *src);
void stack_table_deinit(struct stack_table *t);
/* Index of the chain (made if new), STACK_OTHER when empty or the table is full. */
uint32_t stack_get(struct stack_table *t, const uint64_t *frames, uint32_t n);

/* Index of a chain as the table has it; STACK_OTHER: it is not there. */
uint32_t stack_find(const struct stack_table *t, const uint64_t *frames, uint32_t n);

/* The chain is asked for soon, and will be at hand then. Its index, STACK_OTHER if it is new. */
uint32_t stack_expect(struct stack_table *t, const uint64_t *frames, uint32_t n);

/* Forgets all stacks that are not `marked`, and clears the marks. */
void stack_sweep(struct stack_table *t);

/* Of any chain, innermost first, how many frames at its begin are the kernel's. */
static inline uint32_t stack_kernel_part(const uint64_t *frames, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && map_frame_is_kernel(frames[i]))
		i++;
	return i;
}

/* Of a chain of a wait, those in the kernel. */
uint32_t stack_kernel_frames(const struct stack_table *t, uint32_t index);

static inline const uint64_t *stack_frames(const struct stack_table *t, uint32_t index)
{
	return t->frames + t->stacks[index].first;
}

#endif
