// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text to the clipboard of the terminal, wherever that runs: OSC 52, whose text is base64 and ends
 * with BEL. A terminal answers nothing, so whether it took it is not known; those that surely do
 * not are the console of Linux and GNU screen, which passes on nothing that it does not know.
 */
#include "clipboard.h"

#include "kontend/display.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define BEGIN "\033]52;c;"
#define END "\a"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Four digits of up to three bytes. */
static void put_group(char *to, const uint8_t *from, size_t n)
{
	uint32_t bits = (uint32_t)from[0] << 16;

	if (n > 1)
		bits |= (uint32_t)from[1] << 8;
	if (n > 2)
		bits |= from[2];
	for (size_t i = 0; i < 4; i++)
		to[i] = i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=';
}

int clipboard_sequence(const char *text, char **ret)
{
	const size_t len = strlen(text), begin = strlen(BEGIN), groups = (len + 2) / 3;

	if (len > DISPLAY_COPY_MAX)
		return -E2BIG;
	char *to = mem_calloc(begin + 4 * groups + sizeof(END), 1);
	if (!to)
		return -ENOMEM;
	memcpy(to, BEGIN, begin);
	for (size_t i = 0; i < groups; i++)
		put_group(to + begin + 4 * i, (const uint8_t *)text + 3 * i, len - 3 * i);
	memcpy(to + begin + 4 * groups, END, sizeof(END));
	*ret = to;
	return 0;
}

bool clipboard_is_there(const char *term, const char *screen, const char *tmux)
{
	static const char console[] = "linux";
	bool in_screen = screen && *screen && !(tmux && *tmux);

	return term && !in_screen && strncmp(term, console, sizeof(console) - 1) != 0;
}
