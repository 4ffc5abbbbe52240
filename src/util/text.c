// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strict UTF-8: overlong forms, surrogates and values above U+10FFFF are errors, and an error costs
 * exactly one byte, so decoding always advances and finds the next valid character. The kernel cuts
 * a comm at 15 bytes, often within a character: that is the usual cause of invalid bytes here, not
 * an attack.
 */
#include "kontend/text.h"
#include "kontend/hash.h"
#include <string.h>

enum { TEXT_BAD = 0xfffd };

size_t text_decode(const char *s, uint32_t *ret_ch)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s;
	size_t len = p[0] < 0xc2 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 1;

	if (p[0] < 0x80) {
		*ret_ch = p[0];
		return p[0] ? 1 : 0;
	}
	*ret_ch = TEXT_BAD;
	if (len == 1)
		return 1;
	uint32_t ch = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		ch = ch << 6 | (p[i] & 0x3f);
	}
	if (ch < least[len] || ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
		return 1;
	*ret_ch = ch;
	return len;
}

size_t text_encode(char out[4], uint32_t ch)
{
	if (ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
		ch = TEXT_BAD;
	if (ch < 0x80) {
		out[0] = (char)ch;
		return 1;
	}
	size_t len = ch < 0x800 ? 2 : ch < 0x10000 ? 3 : 4;
	for (size_t i = len - 1; i > 0; i--, ch >>= 6)
		out[i] = (char)(0x80 | (ch & 0x3f));
	out[0] = (char)((0xf00u >> len & 0xff) | ch);
	return len;
}

static bool text_is_harmful(uint32_t ch)
{
	return ch < 0x20 || (ch >= 0x7f && ch < 0xa0) ||      /* C0, DEL, C1 */
	       ch == 0x61c || ch == 0x200e || ch == 0x200f || /* direction marks */
	       (ch >= 0x2028 && ch <= 0x202e) ||	      /* line ends, embeddings, overrides */
	       (ch >= 0x2066 && ch <= 0x2069) ||	      /* isolates */
	       ch == 0xfeff || (ch >= 0xe0000 && ch <= 0xe007f); /* invisible: marks, tags */
}

char *text_clean(char *dst, size_t size, const char *src)
{
	size_t at = 0, len;
	uint32_t ch;

	if (!size)
		return dst;
	/* Nearly all text is printable ASCII. */
	for (; *src >= ' ' && *src < 0x7f && at < size - 1; src++)
		dst[at++] = *src;
	for (; (len = text_decode(src, &ch)) != 0; src += len) {
		bool bad = (len == 1 && ch == TEXT_BAD) || text_is_harmful(ch);
		size_t n = bad ? 1 : len;

		if (n > size - 1 - at)
			break;
		if (bad)
			dst[at] = '?';
		else
			memmove(dst + at, src, n);
		at += n;
	}
	dst[at] = '\0';
	return dst;
}

int text_width(const char *s)
{
	int width = 0;
	uint32_t ch;

	for (size_t len; (len = text_decode(s, &ch)) != 0; s += len)
		width += text_char_width(ch);
	return width;
}

static char text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_is_figure(const char *word)
{
	word += strspn(word, "~<>+-(");
	return word[0] >= '0' && word[0] <= '9' && word[1] != 'x';
}

bool text_contains(const char *haystack, const char *needle)
{
	for (;; haystack++) {
		size_t i = 0;

		while (needle[i] && text_lower(haystack[i]) == text_lower(needle[i]))
			i++;
		if (!needle[i])
			return true;
		if (!*haystack)
			return false;
	}
}

uint64_t text_hash(const char *s)
{
	return s ? hash_text(HASH_START, s) : HASH_START;
}

void text_hex(char *ret, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		ret[2 * i] = digits[p[i] >> 4];
		ret[2 * i + 1] = digits[p[i] & 15];
	}
	ret[2 * n] = '\0';
}
