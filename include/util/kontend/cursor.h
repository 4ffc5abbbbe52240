/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CURSOR_H
#define KONTEND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Reads untrusted bytes. Every read is checked against the end. After the first read beyond it
 * `bad` stays set and all reads return 0, so a decoder checks only once, at its end. Values are
 * copied out in native byte order; nothing is swapped in place.
 */
struct cursor {
	const uint8_t *pos;
	const uint8_t *end;
	bool bad;
};

static inline struct cursor cursor_make(const void *data, size_t len)
{
	const uint8_t *p = data;
	return (struct cursor){.pos = p, .end = p + len};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->pos);
}

/* @n bytes, borrowed from the buffer; NULL (and bad) if there are fewer. */
static inline const void *cursor_bytes(struct cursor *c, size_t n)
{
	if (c->bad || n > cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	const void *p = c->pos;
	c->pos += n;
	return p;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	uint32_t v = 0;
	const void *p = cursor_bytes(c, sizeof(v));
	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t v = 0;
	const void *p = cursor_bytes(c, sizeof(v));
	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

#endif
