/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HELD_H
#define KONTEND_HELD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The owner rule of what queries answer: rows, and all that they point into, are held until the
 * next frame begins (query_begin()), and what they lie in is not renewed before. Builds with
 * KONTEND_CHECK (meson: a sanitizer, or buildtype debug) end where code reads rows of an older
 * frame; others trust it.
 */
struct held {
	const uint64_t *frame; /* the query's count of frames; NULL: no query's */
	uint64_t since;
};

static inline struct held held_now(const uint64_t *frame)
{
	return (struct held){frame, *frame};
}

/* Before rows are read: are they of this frame? */
static inline void held_check(const struct held *h)
{
#ifdef KONTEND_CHECK
	if (h->frame && *h->frame != h->since)
		__builtin_trap();
#else
	(void)h;
#endif
}

/* May rows of this frame point into it? */
static inline bool held_is_of(const struct held *h, const uint64_t *frame)
{
	return h->frame && h->since == *frame;
}

#endif
