// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a comm or a path: cleaned text is valid, printable, stays as it is when cleaned
 * again, and fits whatever room there is.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include <string.h>

static void check_decoding(const char *s)
{
	size_t at = 0, len;
	uint32_t ch;

	for (; (len = text_decode(s + at, &ch)) != 0; at += len) {
		char back[4];

		fuzz_require(len <= 4 && ch && ch <= 0x10ffff);
		fuzz_require(text_char_width(ch) >= 0 && text_char_width(ch) <= 2);
		if (len > 1 || ch != 0xfffd)
			fuzz_require(text_encode(back, ch) == len && !memcmp(back, s + at, len));
	}
	fuzz_require(at == strlen(s));
}

static void check_clean(const char *s)
{
	size_t len;
	uint32_t ch;

	for (; (len = text_decode(s, &ch)) != 0; s += len) {
		fuzz_require(ch >= 0x20 && ch != 0x7f && !(ch >= 0x80 && ch < 0xa0));
		fuzz_require(ch != 0xfffd || len == 3);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = mem_calloc(size + 1, 1), *clean = mem_calloc(size + 1, 1);
	char room[16];

	fuzz_require(s && clean);
	memcpy(s, data, size);
	check_decoding(s);
	text_clean(clean, size + 1, s);
	check_clean(clean);
	fuzz_require(strlen(clean) <= strlen(s));
	fuzz_require(text_width(clean) <= (int)strlen(clean));
	for (size_t n = 1; n <= sizeof(room); n++) {
		text_clean(room, n, s);
		fuzz_require(strlen(room) < n);
		fuzz_require(!strncmp(room, clean, strlen(room)));
	}
	fuzz_require(text_contains(s, s) && text_contains(clean, room));
	text_clean(s, size + 1, clean);
	fuzz_require(!strcmp(s, clean));
	text_clean(clean, size + 1, clean);
	fuzz_require(!strcmp(s, clean));
	mem_free(s);
	mem_free(clean);
	return 0;
}
