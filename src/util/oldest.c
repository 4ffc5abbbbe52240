// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the value digit by digit, the highest first: counts each next digit among the items that
 * begin with the digits found so far. It needs no memory and keeps the order of the items.
 */
#include "kontend/oldest.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

uint64_t oldest_until(const void *items, size_t n, size_t size,
		      uint64_t (*age)(const void *ctx, const void *item), const void *ctx,
		      size_t want)
{
	size_t counts[DIGITS];
	uint64_t found = 0, mask = 0;

	for (unsigned shift = 64; want && shift > 0;) {
		uint64_t digit = 0;

		shift -= DIGIT_BITS;
		memset(counts, 0, sizeof(counts));
		for (size_t i = 0; i < n; i++) {
			uint64_t v = age(ctx, (const char *)items + i * size);
			if (v && (v & mask) == found)
				counts[v >> shift & (DIGITS - 1)]++;
		}
		for (; digit < DIGITS && counts[digit] < want; digit++)
			want -= counts[digit];
		if (digit == DIGITS)
			return UINT64_MAX;
		found |= digit << shift;
		mask |= (uint64_t)(DIGITS - 1) << shift;
	}
	return found;
}
