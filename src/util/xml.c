// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/xml.h"
#include "kontend/text.h"

#include <stdbool.h>

static bool xml_is_allowed(uint32_t ch)
{
	bool is_control = (ch < ' ' && ch != '\n') || (ch >= 0x7f && ch < 0xa0);
	bool is_surrogate = ch >= 0xd800 && ch < 0xe000;

	return !is_control && !is_surrogate && (ch & 0xfffe) != 0xfffe && ch <= 0x10ffff;
}

void xml_put_char(FILE *out, uint32_t ch)
{
	char bytes[4];

	if (ch == '&')
		fputs("&amp;", out);
	else if (ch == '<')
		fputs("&lt;", out);
	else if (ch == '>')
		fputs("&gt;", out);
	else
		fwrite(bytes, 1, text_encode(bytes, xml_is_allowed(ch) ? ch : '?'), out);
}

void xml_put(FILE *out, const char *text, size_t most)
{
	uint32_t ch;

	for (size_t n; most-- && (n = text_decode(text, &ch)) > 0; text += n)
		xml_put_char(out, ch);
}
