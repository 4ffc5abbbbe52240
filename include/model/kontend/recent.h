/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECENT_H
#define KONTEND_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Entries of the last minute, in order and closed at ticks, from which sums over the last seconds
 * are made. An entry is one word: kind, cell and amount. Its room is bounded: where more comes the
 * oldest ticks go first, and recent_find() returns how far back it still reaches.
 */
enum recent_kind {
	RECENT_HIGH,   /* upper bits of the value of the next word */
	RECENT_WAIT,   /* a wait has ended: how long it lasted */
	RECENT_PART,   /* what was waited in the tick differs from its RECENT_WAITs by so much */
	RECENT_FAILED, /* one ended with nothing */
	RECENT_DOUBT,  /* one is left out */
	RECENT_SAMPLE, /* a sample of the profile: its period */
	RECENT_BLOCK,  /* what many waits or samples add up to: so many words follow */
	RECENT_SPIN,   /* so much of what was waited in the tick was spinning for a mutex */
	RECENT_LOST,   /* and in so much of it a CPU was idle */
	RECENT_PAR,    /* so long other threads ran, */
	RECENT_PAR_OF, /* in so much time of waits */
};

enum { RECENT_VALUE_BITS = 33, RECENT_INDEX_BITS = 27 };

/* The head of a block, before the histogram: words of two buckets each, number and count in 8 and
 * 24 bits.
 */
struct recent_block {
	uint64_t n, total_ns, max_ns, min_ns;
};

/* A range of words, from `first` to that of the next one. */
struct recent_tick {
	uint64_t begin_ns, end_ns;
	size_t first;
};

struct recent {
	uint64_t *words;
	size_t n, cap, max;	   /* max 0: nothing is kept */
	size_t open;		   /* those of the open tick begin here */
	struct recent_tick *ticks; /* closed, the oldest first */
	size_t n_ticks, cap_ticks;
	bool spilt;	     /* the open tick alone has no room: it is not kept */
	uint64_t dropped_ns; /* end of the latest tick that was dropped to make room; 0: none */
};

void recent_deinit(struct recent *r);
int recent_copy(struct recent *dst, const struct recent *src); /* 0 or -ENOMEM */
void recent_clear(struct recent *r);
size_t recent_bytes(const struct recent *r);
void recent_add_slowly(struct recent *r, enum recent_kind kind, size_t index, uint64_t value);

/* @n waits, which are in @bucket of the histogram. */
void recent_add_many(struct recent *r, size_t index, const struct recent_block *b, unsigned bucket);

static inline uint64_t recent_word(enum recent_kind kind, size_t index, uint64_t value)
{
	return (uint64_t)kind << 60 | (uint64_t)index << RECENT_VALUE_BITS | value;
}

static inline enum recent_kind recent_kind(uint64_t word)
{
	return (enum recent_kind)(word >> 60);
}

static inline size_t recent_index(uint64_t word)
{
	return word >> RECENT_VALUE_BITS & ((1u << RECENT_INDEX_BITS) - 1);
}

static inline uint64_t recent_value(uint64_t word)
{
	return word & ((1ull << RECENT_VALUE_BITS) - 1);
}

static inline void recent_add(struct recent *r, enum recent_kind kind, size_t index, uint64_t value)
{
	if (!r->max)
		return;
	if (r->n < r->cap && !(value >> RECENT_VALUE_BITS) && !r->spilt)
		r->words[r->n++] = recent_word(kind, index, value);
	else
		recent_add_slowly(r, kind, index, value);
}

/* Closes a tick: what comes from now on is of the next one. */
void recent_tick(struct recent *r, uint64_t begin_ns, uint64_t end_ns);
/* Makes blocks of what came in the open tick, where that is shorter. */
void recent_pack(struct recent *r);
/* Indices have changed: @map has the new ones; NULL: not known, and all entries are dropped. */
void recent_remap(struct recent *r, const uint32_t *map);

/* The ticks that a window of the last @window_ns is made of. */
struct recent_window {
	size_t first; /* word */
	uint64_t begin_ns, end_ns;
	bool is_short; /* there were more ticks, but there is no room for them */
};
struct recent_window recent_find(const struct recent *r, uint64_t window_ns);

#endif
