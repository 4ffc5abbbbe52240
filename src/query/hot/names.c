// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names before sums. A function has no name until its file is loaded, and asking for a name starts
 * that. For reports, where no screen has to be drawn meanwhile, all names are asked for and waited
 * for first: going through the functions is cheap beside adding up their costs.
 */
#include "list.h"
#include "names/lines.h"

#include <errno.h>

static void ask_chains(struct query *q, const struct stack_table *t)
{
	uint32_t funcs[2 * STACK_MAX_FRAMES];

	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used)
			query_chain_funcs(q, stack_frames(t, i), t->stacks[i].n, funcs,
					  2 * STACK_MAX_FRAMES);
}

static void ask_leaves(struct query *q, const struct stack_table *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used && t->stacks[i].n)
			query_func(q, stack_frames(t, i)[0]);
}

int hot_load_leaves(struct query *q)
{
	do {
		if (query_sync(q) < 0)
			return -ENOMEM;
		ask_leaves(q, &q->model->profile->stacks);
		if (q->cache->failed)
			return -ENOMEM;
	} while (query_load_wait(q, HOT_WAIT_NS));
	return query_sync(q);
}

int hot_load_chains(struct query *q)
{
	do {
		if (query_sync(q) < 0)
			return -ENOMEM;
		ask_chains(q, &q->model->profile->stacks);
		ask_chains(q, q->model->stacks);
		if (q->cache->failed)
			return -ENOMEM;
	} while (query_load_wait(q, HOT_WAIT_NS));
	return query_sync(q);
}
