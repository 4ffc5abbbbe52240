// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time for which consecutive snapshots have seen the same task hold a lock: a list of the locks
 * of the last snapshot, by address, built again from the previous one. Between two snapshots
 * another task may have had the lock, so it is a claim about snapshots: if events report that a
 * waiter got it since, these are right (query/locks/queues.c). When time goes back the list starts
 * again.
 */
#include "kontend/lockhold.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdlib.h>

static int by_addr(const void *a, const void *b)
{
	uint64_t x = ((const struct lockhold *)a)->addr, y = ((const struct lockhold *)b)->addr;

	return (x > y) - (x < y);
}

static const struct lockhold *find_hold(const struct lockholds *h, uint64_t addr)
{
	const struct lockhold key = {.addr = addr};

	return h->n ? bsearch(&key, h->v, h->n, sizeof(key), by_addr) : NULL;
}

int lockhold_take(struct lockholds *h, const struct locksnap *snap)
{
	struct lockholds new = {.time_ns = snap->head.time_ns};

	new.v = mem_calloc(snap->n_queues + 1, sizeof(*new.v));
	if (!new.v)
		return -ENOMEM;
	for (size_t i = 0; i < snap->n_queues; i++) {
		const struct locksnap_queue *q = &snap->queues[i];
		const struct lockhold *before = find_hold(h, q->addr);
		if (q->certainty != LOCKSNAP_SURE || !q->holder_tid)
			continue;
		bool same = before && before->tid == q->holder_tid && h->time_ns <= new.time_ns;
		new.v[new.n++] = (struct lockhold){q->addr, same ? before->since_ns : new.time_ns,
						   q->holder_tid};
	}
	qsort(new.v, new.n, sizeof(*new.v), by_addr);
	mem_free(h->v);
	*h = new;
	return 0;
}

uint64_t lockhold_ns(const struct lockholds *h, uint64_t addr, int32_t tid)
{
	const struct lockhold *l = find_hold(h, addr);

	return l && l->tid == tid ? h->time_ns - l->since_ns : 0;
}

void lockhold_deinit(struct lockholds *h)
{
	mem_free(h->v);
	*h = (struct lockholds){0};
}
