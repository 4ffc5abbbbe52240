// SPDX-License-Identifier: GPL-2.0-only
/*
 * Characters that views draw with, for terminals without UTF-8 and for --ascii: pairs of a code
 * point and its look, sorted by code point. The eight levels of a sparkline keep eight different
 * characters, since they carry data; the eighths of a bar's last cell are rounded to one half.
 */
#include "screen-ascii.h"

#include "kontend/bisect.h"

struct look {
	uint64_t ch;
	char ascii;
};

static const struct look looks[] = {
	{0x00b1, '+'},	{0x00b5, 'u'},	{0x00b7, '.'}, {0x00d7, 'x'}, {0x2013, '-'}, {0x2014, '-'},
	{0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'}, {0x201d, '"'}, {0x2022, '*'}, {0x2026, '~'},
	{0x2039, '<'},	{0x203a, '>'},	{0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'},
	{0x2264, '<'},	{0x2265, '>'},	{0x2500, '-'}, {0x2502, '|'}, {0x250c, '+'}, {0x2510, '+'},
	{0x2514, '`'},	{0x2518, '+'},	{0x251c, '|'}, {0x2524, '|'}, {0x252c, '+'}, {0x2534, '+'},
	{0x253c, '+'},	{0x2581, '_'},	{0x2582, '.'}, {0x2583, '-'}, {0x2584, '='}, {0x2585, '+'},
	{0x2586, '*'},	{0x2587, '%'},	{0x2588, '#'}, {0x2589, '#'}, {0x258a, '#'}, {0x258b, '#'},
	{0x258c, '#'},	{0x258d, '|'},	{0x258e, '|'}, {0x258f, '|'}, {0x2590, '#'}, {0x2591, ':'},
	{0x2592, ':'},	{0x2593, '#'},	{0x25a0, '#'}, {0x25a1, '.'}, {0x25b2, '^'}, {0x25b4, '^'},
	{0x25b6, '>'},	{0x25b8, '+'},	{0x25bc, 'v'}, {0x25be, '-'}, {0x25c0, '<'}, {0x25cf, '*'},
};

uint32_t screen_ascii(uint32_t ch)
{
	size_t n = BISECT(looks, sizeof(looks) / sizeof(looks[0]), ch, ch);

	if (ch < 0x80)
		return ch;
	return n && looks[n - 1].ch == ch ? (uint32_t)looks[n - 1].ascii : '?';
}
