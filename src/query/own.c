// SPDX-License-Identifier: GPL-2.0-only
/*
 * What measuring itself waits for: tasks of kontend, whichever of several that run at a time. Their
 * waits are in all sums, as they hold up others; but they are counted apart, and no such wait is
 * named the longest one, as it is there because somebody looks.
 */
#include "internal.h"

#include <string.h>

bool query_is_kontend(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	if (!comm || strcmp(comm, "kontend"))
		return false;
	/* Its process may not be known: the task's name is all there is then. */
	comm = query_process_comm(q, task);
	return !comm || !strcmp(comm, "kontend");
}

void query_own_waits(struct query *q, struct query_overview *o)
{
	const struct model *m = q->model;

	for (size_t i = 0; i < m->cells.n; i++) {
		const struct cell *c = &m->cells.cells[i];
		if (!query_is_kontend(q, c->task))
			continue;
		o->own_waits += c->n;
		o->own_wait_ns += c->total_ns;
	}
}
