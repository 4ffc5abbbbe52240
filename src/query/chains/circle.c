// SPDX-License-Identifier: GPL-2.0-only
/* A deadlock, in words: the circle with most tasks behind it, of those that are proved. */
#include "graph.h"
#include "kontend/query-chains.h"
#include "kontend/query-lock.h"

#include <inttypes.h>

enum { NAMED_MOST = 3 };

/* The wait of that lock's holder, which is for the next one in the circle. */
static const struct chain_wait *up(const struct chain_graph *g, uint32_t lock)
{
	return &g->waits[g->locks[lock].up];
}

static void put_task(struct query *q, const struct chain_lock *l, struct query_deadlock *d)
{
	const char *name = l->object ? l->object->object : query_lock_name(q, l->number);
	const char *who = l->by.name;
	bool first = d->tasks == 1;

	if (d->tasks > NAMED_MOST)
		return;
	d->who = arena_printf(&q->arena, "%s%s%s", first ? "" : d->who, first ? "" : ", ",
			      who ? who : "-");
	d->have = arena_printf(&q->arena, "%s%s%s has %s", first ? "" : d->have, first ? "" : ", ",
			       who ? who : "-", name ? name : "a lock");
}

static void describe(const struct chain_graph *g, uint32_t first, struct query_deadlock *d)
{
	uint32_t at = first;

	do {
		const struct chain_wait *w = up(g, at);
		d->tasks++;
		put_task(g->q, &g->locks[at], d);
		if (w->ns > d->longest_ns) {
			d->longest_ns = w->ns;
			d->approx = chain_sum_one(w).approx;
		}
		at = w->lock;
	} while (at != first);
	if (d->tasks > NAMED_MOST)
		d->who = arena_printf(&g->q->arena, "%s and %" PRIu32 " more", d->who,
				      d->tasks - NAMED_MOST);
}

int query_chains_deadlock(struct query *q, struct query_deadlock *ret)
{
	struct chain_graph g = {0};
	int r = query_sync(q);

	*ret = (struct query_deadlock){0};
	r = r < 0 ? r : chain_graph_make_locks(q, &g);
	for (uint32_t i = 0; r == 0 && i < g.n_roots; i++) {
		if (!g.roots[i].circle || !g.roots[i].proved)
			continue;
		if (!ret->n++)
			describe(&g, g.roots[i].lock, ret);
	}
	chain_graph_deinit(&g);
	return r;
}
