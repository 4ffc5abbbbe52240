// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts at fixed distances, each counted from the start of the previous one. A burst that ends
 * late because the caller was late is longer and is reported as such; the next one does not start
 * earlier for that. Spread bursts start at an unpredictable place in their period: so their samples
 * are representative, even for a load with a period of seconds, or one that starts with kontend.
 */
#include "kontend/burst.h"

static uint64_t next_random(struct burst *b, uint64_t seed)
{
	if (!b->random)
		b->random = seed | 1;
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

/* Start of the burst in the next period. */
static uint64_t next_place(struct burst *b, uint64_t now_ns)
{
	uint64_t room = b->every_ns > b->len_ns ? b->every_ns - b->len_ns : 0;

	while (b->period_ns + room < now_ns)
		b->period_ns += b->every_ns;
	uint64_t at = b->period_ns + next_random(b, now_ns) % (room + 1);
	b->period_ns += b->every_ns;
	return at > now_ns ? at : now_ns;
}

enum burst_change burst_step(struct burst *b, uint64_t now_ns, bool wanted)
{
	if (!b->len_ns || now_ns < b->next_ns)
		return BURST_STAYS;
	if (b->spread && !b->period_ns) {
		b->period_ns = now_ns;
		b->next_ns = next_place(b, now_ns);
		return BURST_STAYS;
	}
	if (b->on) {
		b->on = false;
		b->next_ns = b->spread ? next_place(b, now_ns) : b->from_ns + b->every_ns;
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
