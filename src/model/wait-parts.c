// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the wait of a percpu-rwsem's writer, as looks have seen them: for a grace period of
 * RCU, then, perhaps, for another writer, which alone has events, then until readers are through.
 * Each of the first and the last is one sleep, whose begin the scheduler knows, unless readers wake
 * the writer in vain: then its wait is taken for another one, so it is never too long. That for
 * another writer is a wait of its own, as nothing shows that it is in the same call.
 */
#include "wait-parts.h"
#include "internal.h"
#include "kontend/event.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/model.h"

void wait_parts_see(const struct model *m, struct wait *w, const struct locksnap_waiter *v,
		    uint64_t look_ns)
{
	if (w->part == LOCKSNAP_RCU && v->part == LOCKSNAP_READERS_PART)
		w->rcu_ns = wait_current_part_ns(w, v->ran_ns);
	if (v->part != w->part)
		w->part_ns = v->ran_ns;
	w->part = (uint8_t)v->part;
	w->switches = v->switches;
	w->slept_ns = v->ran_ns;
	w->looked_ns = look_ns < m->now_ns ? look_ns : m->now_ns;
}

bool wait_parts_go_on(const struct wait *w, const struct locksnap_waiter *v)
{
	if (v->ran_ns <= w->slept_ns + WAIT_CLOCKS_NS)
		return true;
	/* From one part to the next, with no other sleep in between. */
	return w->part == LOCKSNAP_RCU && v->part == LOCKSNAP_READERS_PART &&
	       v->switches == w->switches + 1;
}

void wait_parts_end(struct model *m, const struct wait *w, uint64_t ns)
{
	struct lock *l = &m->locks->locks[w->lock];
	uint64_t part_ns = wait_current_part_ns(w, ns);

	if (w->doubtful || ns < m->zero_ns)
		return;
	l->rcu_ns += w->rcu_ns + (w->part == LOCKSNAP_RCU ? part_ns : 0);
	l->readers_ns += w->part == LOCKSNAP_READERS_PART ? part_ns : 0;
}

void wait_parts_over(struct model *m, struct wait *w)
{
	const struct event ev = {.time = w->looked_ns};

	w->held_by = w->seen;
	w->at_least = true;
	wait_parts_end(m, w, ev.time);
	account_end(m, w, &ev);
}
