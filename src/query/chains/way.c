// SPDX-License-Identifier: GPL-2.0-only
/* The way from a task that waits to the root of its chain, in words. */
#include "graph.h"
#include "kontend/query-chains.h"
#include "list.h"

/* From the lock that it waits for, with its holder, to the end. */
static const char *way_of(struct chain_graph *g, uint32_t wait)
{
	struct arena *a = &g->q->arena;
	const uint32_t first = g->waits[wait].lock;
	const char *text = "";
	uint32_t at = first;

	for (uint32_t steps = 0; text && at != CHAIN_NONE; steps++) {
		const struct chain_lock *l = &g->locks[at];
		text = arena_printf(a, "%s%s%s", text, *text ? " -> " : "", chain_lock_text(g, l));
		if (text && l->holder)
			text = arena_printf(a, "%s -> %s", text, l->by.name);
		if (steps == CHAIN_DEPTH_MOST || (l->in_circle && steps && at == first))
			return text ? arena_printf(a, "%s -> ...", text) : NULL;
		at = l->up == CHAIN_NONE ? CHAIN_NONE : g->waits[l->up].lock;
	}
	return text;
}

const char *chain_way_of_sleep(struct chain_graph *g, int32_t tid)
{
	const uint32_t *wait = map64_get(&g->by_tid, (uint32_t)tid);

	return wait && g->waits[*wait].sleep ? way_of(g, *wait) : NULL;
}

const char *query_chains_of(struct query *q, int32_t tid)
{
	struct chain_graph g = {0};
	const char *way = NULL, *name = NULL;

	if (query_sync(q) < 0 || chain_graph_make_of(q, tid, &g) < 0) {
		chain_graph_deinit(&g);
		return NULL;
	}
	const uint32_t *wait = map64_get(&g.by_tid, (uint32_t)tid);
	if (wait && (way = way_of(&g, *wait)))
		name = chain_task_name(&g, &g.waits[*wait]);
	chain_graph_deinit(&g);
	return way ? arena_printf(&q->arena, "%s -> %s", name, way) : NULL;
}
