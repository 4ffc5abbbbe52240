// SPDX-License-Identifier: GPL-2.0-only
/*
 * On what the system calls of waits were, by lock and call chain, in sets of a fixed number: so it
 * takes no memory in a stream of events. One that has more than half of a place's time is found
 * without counting the others: each takes its time off that of the one that is there.
 */
#include "kontend/wait-on.h"

#include "kontend/hash.h"

#include <string.h>

static uint32_t set_of(uint32_t lock, uint32_t stack)
{
	return (uint32_t)(hash_u64((uint64_t)lock << 32 | stack) % WAIT_ONS_SETS);
}

const struct wait_ons_one *wait_ons_get(const struct wait_ons *o, uint32_t lock, uint32_t stack)
{
	const struct wait_ons_one *set = o->all[set_of(lock, stack)];

	for (unsigned i = 0; i < WAIT_ONS_WAYS; i++)
		if (set[i].on.kind && set[i].lock == lock && set[i].stack == stack)
			return &set[i];
	return NULL;
}

static void vote(struct wait_ons_one *one, const struct waitrec_on *on, uint64_t ns)
{
	if (wait_on_same(&one->on, on)) {
		one->ns += ns;
		return;
	}
	one->mixed = true;
	if (one->ns >= ns) {
		one->ns -= ns;
		return;
	}
	one->ns = ns - one->ns;
	one->on = *on;
}

void wait_ons_add(struct wait_ons *o, uint32_t lock, uint32_t stack, const struct waitrec_on *on,
		  uint64_t ns)
{
	struct wait_ons_one *set = o->all[set_of(lock, stack)], *least = set;

	if (!on->kind)
		return;
	for (unsigned i = 0; i < WAIT_ONS_WAYS; i++) {
		if (set[i].on.kind && set[i].lock == lock && set[i].stack == stack) {
			vote(&set[i], on, ns);
			return;
		}
		if (least->on.kind && (!set[i].on.kind || set[i].ns < least->ns))
			least = &set[i];
	}
	*least = (struct wait_ons_one){.lock = lock, .stack = stack, .on = *on, .ns = ns};
}

void wait_ons_zero(struct wait_ons *o)
{
	memset(o, 0, sizeof(*o));
}
