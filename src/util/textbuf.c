// SPDX-License-Identifier: GPL-2.0-only
/*
 * Digits are made from the last one on, two at a time: a division by a constant is a
 * multiplication, and the table saves half of them. They go into a local buffer first, without
 * checks, and are copied when their number is known.
 */
#include "kontend/textbuf.h"

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";

/* Writes the digits of @v, which end at @end; returns their start. */
static char *digits(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v < 10) {
		*--end = (char)('0' + v);
		return end;
	}
	end -= 2;
	memcpy(end, pairs + 2 * v, 2);
	return end;
}

static void fill(struct textbuf *b, char c, size_t n)
{
	size_t left = (size_t)(b->end - b->at);

	n = n < left ? n : left;
	memset(b->at, c, n);
	b->at += n;
}

static void put_filled(struct textbuf *b, uint64_t v, char c, size_t width)
{
	char number[TEXTBUF_NUMBER], *end = number + sizeof(number), *p = digits(end, v);
	size_t len = (size_t)(end - p);

	if (len < width)
		fill(b, c, width - len);
	textbuf_bytes(b, p, len);
}

void textbuf_pad(struct textbuf *b, const char *from, size_t width)
{
	size_t len = (size_t)(b->at - from);

	if (len < width)
		fill(b, ' ', width - len);
}

void textbuf_right(struct textbuf *b, const char *s, size_t width)
{
	size_t len = strlen(s);

	if (len < width)
		fill(b, ' ', width - len);
	textbuf_bytes(b, s, len);
}

void textbuf_left(struct textbuf *b, const char *s, size_t width)
{
	const char *from = b->at;

	textbuf_str(b, s);
	textbuf_pad(b, from, width);
}

void textbuf_u64(struct textbuf *b, uint64_t v)
{
	put_filled(b, v, ' ', 0);
}

void textbuf_i64(struct textbuf *b, int64_t v)
{
	if (v < 0)
		textbuf_char(b, '-');
	textbuf_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void textbuf_u64_zeros(struct textbuf *b, uint64_t v, size_t width)
{
	put_filled(b, v, '0', width);
}

void textbuf_u64_right(struct textbuf *b, uint64_t v, size_t width)
{
	put_filled(b, v, ' ', width);
}

void textbuf_hex(struct textbuf *b, uint64_t v)
{
	int n = v ? (67 - __builtin_clzll(v)) / 4 : 1;

	textbuf_bytes(b, "0x", 2);
	while (n-- > 0)
		textbuf_char(b, "0123456789abcdef"[v >> 4 * n & 15]);
}

void textbuf_seconds(struct textbuf *b, uint64_t ns, size_t width)
{
	textbuf_u64_right(b, ns / 1000000000, width);
	textbuf_char(b, '.');
	textbuf_u64_zeros(b, ns % 1000000000, 9);
}

char *textbuf_end(struct textbuf *b)
{
	if (b->at == b->end)
		b->at--;
	*b->at = '\0';
	return b->from;
}
