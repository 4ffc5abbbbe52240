// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the wait of a percpu-rwsem's writer: for a grace period of RCU, and for readers. No
 * event has them, so they are of the waits that snapshots have seen, and only as far as they have.
 */
#include "../internal.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/query-lock.h"
#include "kontend/units.h"
#include "kontend/wait.h"

void query_wait_parts(const struct wait *w, uint64_t until_ns, struct query_parts *ret)
{
	uint64_t ns = wait_current_part_ns(w, wait_until_ns(w, until_ns));

	*ret = (struct query_parts){.rcu_ns = w->rcu_ns};
	if (w->part == LOCKSNAP_RCU)
		ret->rcu_ns += ns;
	else if (w->part == LOCKSNAP_READERS_PART)
		ret->readers_ns = ns;
}

void query_lock_parts(const struct model *m, uint32_t lock, struct query_parts *ret)
{
	const struct lock *l = &m->locks->locks[lock];
	struct query_parts one;

	*ret = (struct query_parts){l->rcu_ns, l->readers_ns};
	for (uint32_t i = 1; l->waiting && i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (!w->used || w->doubtful || w->lock != lock)
			continue;
		query_wait_parts(w, m->now_ns, &one);
		ret->rcu_ns += one.rcu_ns;
		ret->readers_ns += one.readers_ns;
	}
}

const char *query_parts_text(struct query *q, const struct query_parts *p)
{
	char rcu[UNITS_BUF], readers[UNITS_BUF];

	units_ns(rcu, p->rcu_ns);
	units_ns(readers, p->readers_ns);
	if (p->rcu_ns && p->readers_ns)
		return arena_printf(&q->arena, "RCU grace period %s, readers %s", rcu, readers);
	if (p->rcu_ns)
		return arena_printf(&q->arena, "RCU grace period %s", rcu);
	return p->readers_ns ? arena_printf(&q->arena, "readers %s", readers) : NULL;
}
