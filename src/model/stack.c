// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interned call chains. Looking one up is a hash over its frames, one probe of a slot array that
 * holds indices, and one comparison of the frames; all frames lie in one pool in order of arrival.
 * Indices are stable until stack_sweep(), which drops the stacks that nothing refers to, packs the
 * pool, and leaves the indices of the others as they are.
 */
#include "kontend/stack.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { FIRST_SLOTS = 256, FIRST_FRAMES = 1024 };

static uint64_t hash_frames(const uint64_t *f, uint32_t n)
{
	uint64_t a = n, b = 0x9e3779b97f4a7c15ull;
	uint32_t i;

	/* Two lanes: the multiplications overlap. */
	for (i = 0; i + 1 < n; i += 2) {
		a = (a ^ f[i]) * 0xff51afd7ed558ccdull;
		b = (b ^ f[i + 1]) * 0xc4ceb9fe1a85ec53ull;
		a ^= a >> 32;
		b ^= b >> 29;
	}
	if (i < n)
		a = (a ^ f[i]) * 0xff51afd7ed558ccdull;
	a ^= b * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 31;
}

int stack_table_init(struct stack_table *t, uint32_t max)
{
	*t = (struct stack_table){
		.max = max, .n = 1, .cap = 64, .mask = FIRST_SLOTS - 1, .cap_frames = FIRST_FRAMES};
	t->stacks = mem_calloc(t->cap, sizeof(*t->stacks));
	t->frames = mem_calloc(t->cap_frames, sizeof(*t->frames));
	t->slots = mem_calloc(FIRST_SLOTS, sizeof(*t->slots));
	if (t->stacks && t->frames && t->slots)
		return 0;
	stack_table_deinit(t);
	return -ENOMEM;
}

void stack_table_deinit(struct stack_table *t)
{
	mem_free(t->stacks);
	mem_free(t->frames);
	mem_free(t->slots);
	*t = (struct stack_table){0};
}

int stack_table_copy(struct stack_table *dst, const struct stack_table *src)
{
	*dst = *src;
	dst->cap = src->n;
	dst->stacks = mem_dup(src->stacks, src->n, sizeof(*src->stacks));
	/* reserve_frames() doubles: never 0. */
	dst->cap_frames = src->n_frames ? src->n_frames : 1;
	dst->frames = mem_dup(src->frames, dst->cap_frames, sizeof(*src->frames));
	dst->slots = mem_dup(src->slots, src->mask + 1, sizeof(*src->slots));
	return dst->stacks && dst->frames && dst->slots ? 0 : -ENOMEM;
}

static void put_slot(struct stack_table *t, uint32_t index)
{
	size_t i = t->stacks[index].hash & t->mask;

	while (t->slots[i])
		i = (i + 1) & t->mask;
	t->slots[i] = index;
}

static void rebuild_slots(struct stack_table *t)
{
	memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used)
			put_slot(t, i);
}

static bool grow_slots(struct stack_table *t)
{
	size_t n = (t->mask + 1) * 2;
	uint32_t *slots = mem_calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	mem_free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	rebuild_slots(t);
	return true;
}

static uint32_t free_index(struct stack_table *t)
{
	if (t->free) {
		uint32_t index = t->free;
		t->free = t->stacks[index].first;
		return index;
	}
	if (t->n >= t->max || mem_grow(&t->stacks, &t->cap, t->n, sizeof(*t->stacks)))
		return STACK_OTHER;
	return (uint32_t)t->n++;
}

static bool reserve_frames(struct stack_table *t, uint32_t n)
{
	while (t->n_frames + n > t->cap_frames) {
		uint64_t *frames = mem_resize(t->frames, t->cap_frames * 2, sizeof(*frames));
		if (!frames)
			return false;
		t->frames = frames;
		t->cap_frames *= 2;
	}
	return true;
}

static uint32_t add_stack(struct stack_table *t, uint64_t hash, const uint64_t *frames, uint32_t n)
{
	if (t->in_use * 4 >= (t->mask + 1) * 3 && !grow_slots(t))
		return STACK_OTHER;
	if (!reserve_frames(t, n))
		return STACK_OTHER;
	uint32_t index = free_index(t);
	if (index == STACK_OTHER)
		return STACK_OTHER;
	memcpy(t->frames + t->n_frames, frames, n * sizeof(*frames));
	t->stacks[index] = (struct stack){
		.hash = hash, .first = (uint32_t)t->n_frames, .n = (uint16_t)n, .used = 1};
	t->n_frames += n;
	t->in_use++;
	put_slot(t, index);
	return index;
}

static inline bool is_chain(const struct stack_table *t, uint32_t index, const uint64_t *frames,
			    uint32_t n)
{
	const struct stack *s = &t->stacks[index];

	return s->n == n && !memcmp(t->frames + s->first, frames, n * sizeof(*frames));
}

static uint32_t find_stack(const struct stack_table *t, uint64_t hash, const uint64_t *frames,
			   uint32_t n)
{
	for (size_t i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask)
		if (t->stacks[t->slots[i]].hash == hash && is_chain(t, t->slots[i], frames, n))
			return t->slots[i];
	return STACK_OTHER;
}

/* By the frames that differ most between chains: next to the lock, and the task's way to there. */
static inline uint32_t *recent_slot(struct stack_table *t, const uint64_t *f, uint32_t n)
{
	uint64_t v = (f[0] + f[n / 2] * 3 + f[n - n / 4 - 1] * 5 + n) * 0x9e3779b97f4a7c15ull;

	return &t->recent[(v >> 32) % STACK_RECENT];
}

/* Most waits repeat what came lately: comparing frames is cheaper than hashing them all. */
static inline uint32_t look_up(struct stack_table *t, const uint64_t *frames, uint32_t n, bool make)
{
	if (!n)
		return STACK_OTHER;
	if (n > STACK_MAX_FRAMES)
		n = STACK_MAX_FRAMES;
	uint32_t *recent = recent_slot(t, frames, n);
	if (is_chain(t, *recent, frames, n))
		return *recent;
	uint64_t hash = hash_frames(frames, n);
	uint32_t known = find_stack(t, hash, frames, n);
	if (known || make)
		*recent = known ? known : add_stack(t, hash, frames, n);
	return known || make ? *recent : STACK_OTHER;
}

uint32_t stack_find(const struct stack_table *t, const uint64_t *frames, uint32_t n)
{
	return n ? find_stack(t, hash_frames(frames, n), frames, n) : STACK_OTHER;
}

uint32_t stack_expect(struct stack_table *t, const uint64_t *frames, uint32_t n)
{
	return look_up(t, frames, n, false);
}

uint32_t stack_get(struct stack_table *t, const uint64_t *frames, uint32_t n)
{
	return look_up(t, frames, n, true);
}

/* Frames are packed in index order, not pool order, so they go to a new pool. */
void stack_sweep(struct stack_table *t)
{
	size_t live = 0, at = 0;

	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used && t->stacks[i].marked)
			live += t->stacks[i].n;
	size_t cap = live < FIRST_FRAMES ? FIRST_FRAMES : live * 2;
	uint64_t *pool = mem_calloc(cap, sizeof(*pool));
	if (!pool)
		return;
	for (uint32_t i = 1; i < t->n; i++) {
		struct stack *s = &t->stacks[i];
		if (!s->used)
			continue;
		if (!s->marked) {
			*s = (struct stack){.first = t->free};
			t->free = i;
			t->in_use--;
			continue;
		}
		memcpy(pool + at, t->frames + s->first, s->n * sizeof(*pool));
		s->first = (uint32_t)at;
		s->marked = 0;
		at += s->n;
	}
	mem_free(t->frames);
	t->frames = pool;
	t->n_frames = at;
	t->cap_frames = cap;
	rebuild_slots(t);
}

uint32_t stack_kernel_frames(const struct stack_table *t, uint32_t index)
{
	const uint64_t *frames = stack_frames(t, index);
	uint32_t n = t->stacks[index].n;

	while (n && map_frame_is_user(frames[n - 1]))
		n--;
	return n;
}
