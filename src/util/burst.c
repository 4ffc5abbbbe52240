// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts at fixed distances, counted from where each began: one that ends late, since whoever steps
 * it was late, is longer, and is told as it was; the next one does not come earlier for it.
 */
#include "kontend/burst.h"

enum burst_change burst_step(struct burst *b, uint64_t now_ns, bool wanted)
{
	if (!b->len_ns || now_ns < b->next_ns)
		return BURST_STAYS;
	if (b->on) {
		b->on = false;
		b->next_ns = b->from_ns + b->every_ns;
		if (b->next_ns <= now_ns)
			b->next_ns = now_ns + b->every_ns - b->len_ns;
		return BURST_OFF;
	}
	if (!wanted) {
		b->next_ns = now_ns + b->every_ns;
		return BURST_STAYS;
	}
	b->on = true;
	b->from_ns = now_ns;
	b->next_ns = now_ns + b->len_ns;
	return BURST_ON;
}

uint64_t burst_next(const struct burst *b)
{
	return b->len_ns ? b->next_ns : UINT64_MAX;
}
