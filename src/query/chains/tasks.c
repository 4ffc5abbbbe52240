// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of tasks that waited in chains that have ended. A task may have ended several waits in
 * the last seconds, for one lock or for several of a chain, and counts once in each row that it
 * waited behind. A wait whose task is no longer known counts as one task. Each wait in flight has a
 * task of its own.
 */
#include "graph.h"

#include <errno.h>

struct chain_tasks {
	const struct chain_graph *g;
	struct map64 seen;
	uint32_t n;
};

static int count_wait(struct chain_tasks *t, uint32_t wait)
{
	int32_t tid = t->g->waits[wait].tid;

	if (tid && map64_get(&t->seen, (uint32_t)tid))
		return 0;
	t->n++;
	return tid && map64_put(&t->seen, (uint32_t)tid, wait) < 0 ? -ENOMEM : 0;
}

static int count_lock(struct chain_tasks *t, uint32_t lock)
{
	int r = 0;

	for (uint32_t i = t->g->locks[lock].waits; r == 0 && i != CHAIN_NONE;
	     i = t->g->waits[i].next) {
		r = count_wait(t, i);
		for (uint32_t l = t->g->waits[i].holds; r == 0 && l != CHAIN_NONE;
		     l = t->g->locks[l].beside)
			r = count_lock(t, l);
	}
	return r;
}

/* Ends the count: it is answered, or the error. */
static int64_t answer(struct chain_tasks *t, int r)
{
	map64_deinit(&t->seen);
	return r < 0 ? (int64_t)r : (int64_t)t->n;
}

int64_t chain_tasks_of_locks(const struct chain_graph *g, uint32_t lock, bool beside)
{
	struct chain_tasks t = {.g = g};
	int r = 0;

	for (uint32_t l = lock; r == 0 && l != CHAIN_NONE;
	     l = beside ? g->locks[l].beside : CHAIN_NONE)
		r = count_lock(&t, l);
	return answer(&t, r);
}

int64_t chain_tasks_of_waits(const struct chain_graph *g, const uint32_t *waits, uint32_t n)
{
	struct chain_tasks t = {.g = g};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = count_wait(&t, waits[i]);
	return answer(&t, r);
}

int64_t chain_tasks_of_all(const struct chain_graph *g)
{
	struct chain_tasks t = {.g = g};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < g->n_waits; i++)
		r = count_wait(&t, i);
	return answer(&t, r);
}
