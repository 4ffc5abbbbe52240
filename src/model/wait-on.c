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
		if (set[i].most.on.kind && set[i].lock == lock && set[i].stack == stack)
			return &set[i];
	return NULL;
}

static bool is_same(const struct waitrec_on *a, const struct waitrec_on *b)
{
	return a->kind == b->kind && a->dev == b->dev && a->value == b->value;
}

void wait_on_add(struct wait_on_most *m, const struct waitrec_on *on, uint64_t ns)
{
	if (!on->kind)
		return;
	if (is_same(&m->on, on)) {
		m->ns += ns;
		return;
	}
	m->mixed |= m->on.kind != WAITREC_ON_UNKNOWN;
	if (m->on.kind && m->ns >= ns) {
		m->ns -= ns;
		return;
	}
	m->ns = ns - m->ns;
	m->on = *on;
}

void wait_ons_add(struct wait_ons *o, uint32_t lock, uint32_t stack, const struct waitrec_on *on,
		  uint64_t ns)
{
	struct wait_ons_one *set = o->all[set_of(lock, stack)], *least = set;

	if (!on->kind)
		return;
	for (unsigned i = 0; i < WAIT_ONS_WAYS; i++) {
		if (set[i].most.on.kind && set[i].lock == lock && set[i].stack == stack) {
			wait_on_add(&set[i].most, on, ns);
			return;
		}
		if (least->most.on.kind &&
		    (!set[i].most.on.kind || set[i].most.ns < least->most.ns))
			least = &set[i];
	}
	*least = (struct wait_ons_one){lock, stack, {.on = *on, .ns = ns}};
}

void wait_ons_zero(struct wait_ons *o)
{
	memset(o, 0, sizeof(*o));
}
