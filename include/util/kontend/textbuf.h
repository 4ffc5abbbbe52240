/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEXTBUF_H
#define KONTEND_TEXTBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Writes text into the caller's memory, for output that is written event by event: printf() would
 * parse its format each time. Text that does not fit is cut; only textbuf_end() terminates it.
 * Numbers are in the C locale. Widths count bytes, as in printf().
 */
struct textbuf {
	char *from, *at, *end;
};

enum { TEXTBUF_NUMBER = 20 }; /* digits of the longest number */

static inline struct textbuf textbuf_make(char *buf, size_t size)
{
	return (struct textbuf){.from = buf, .at = buf, .end = buf + size};
}

static inline size_t textbuf_len(const struct textbuf *b)
{
	return (size_t)(b->at - b->from);
}

static inline void textbuf_char(struct textbuf *b, char c)
{
	if (b->at < b->end)
		*b->at++ = c;
}

static inline void textbuf_bytes(struct textbuf *b, const char *s, size_t len)
{
	size_t left = (size_t)(b->end - b->at);

	len = len < left ? len : left;
	memcpy(b->at, s, len);
	b->at += len;
}

static inline void textbuf_str(struct textbuf *b, const char *s)
{
	textbuf_bytes(b, s, strlen(s));
}

/* Appends blanks until the text since @from has @width bytes: "%-*s". */
void textbuf_pad(struct textbuf *b, const char *from, size_t width);
/* "%*s" and "%-*s" */
void textbuf_right(struct textbuf *b, const char *s, size_t width);
void textbuf_left(struct textbuf *b, const char *s, size_t width);
void textbuf_u64(struct textbuf *b, uint64_t v);
void textbuf_i64(struct textbuf *b, int64_t v);
/* At least @width digits, with leading zeros: "%0*llu"; at least @width bytes: "%*llu". */
void textbuf_u64_zeros(struct textbuf *b, uint64_t v, size_t width);
void textbuf_u64_right(struct textbuf *b, uint64_t v, size_t width);
void textbuf_hex(struct textbuf *b, uint64_t v); /* "0xffff" */
/* Seconds in at least @width bytes, a point and nine digits. */
void textbuf_seconds(struct textbuf *b, uint64_t ns, size_t width);
/* Terminates the text, replacing its last byte if it is full. Returns its start. */
char *textbuf_end(struct textbuf *b);

#endif
