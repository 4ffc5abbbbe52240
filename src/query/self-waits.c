// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits of kontend's own tasks, of all its instances. They are in all sums, as they hold up others;
 * but they are counted apart, and none is named the longest wait, as only measuring has caused it.
 */
#include "internal.h"

#include <errno.h>
#include <string.h>

bool query_is_kontend(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	if (!comm || strcmp(comm, "kontend"))
		return false;
	/* Its process may be unknown: then there is only the task's name. */
	comm = query_process_comm(q, task);
	return !comm || !strcmp(comm, "kontend");
}

/* Mostly there are none, and then the cells need not be searched. */
static bool find_own(struct query *q, bool *own)
{
	bool any = false;

	for (uint32_t i = 0; i < q->model->tasks->n; i++)
		any |= own[i] = query_is_kontend(q, i);
	return any;
}

static int sum_own(struct query *q, struct reuse_own *ret)
{
	const struct model *m = q->model;
	bool *own = arena_alloc(&q->arena, m->tasks->n + 1);

	if (!own)
		return -ENOMEM;
	bool any = find_own(q, own);
	for (size_t i = 0; any && i < m->cells->n; i++) {
		const struct cell *c = &m->cells->cells[i];
		if (c->task >= m->tasks->n || !own[c->task])
			continue;
		ret->waits += cell_n(m->cells, c);
		ret->ns += c->total_ns;
	}
	return 0;
}

int query_own_waits(struct query *q, struct query_overview *o)
{
	struct reuse_own own = {0};

	if (!reuse_own_find(q, &own)) {
		int r = sum_own(q, &own);
		if (r < 0)
			return r;
		reuse_own_put(q, &own);
	}
	o->own_waits = own.waits;
	o->own_wait_ns = own.ns;
	return 0;
}
