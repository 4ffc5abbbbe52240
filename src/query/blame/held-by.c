// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holder that made tasks wait longest for a lock, in the window of time: where no task waits
 * now, no present one is known. It is a task that had this very lock, whatever that task waited for
 * itself, so that time which blame has passed on to other locks counts here and not there. Cells
 * are sorted by lock once, for all rows of a table.
 */
#include "held-by.h"
#include "kontend/bisect.h"
#include "kontend/lock.h"

static bool make(struct held_by *h, struct query *q)
{
	const struct lock *locks = q->model->locks->locks;
	struct query_blame_cells *all = &h->b.cells;

	h->is_made = true;
	h->b.q = q;
	if (query_blame_why_not(q) || query_blame_cells(q, all) < 0)
		return false;
	h->v = arena_alloc(&q->arena, (all->n + 1) * sizeof(*h->v));
	h->b.room = arena_alloc(&q->arena, (all->n + 1) * sizeof(*h->b.room));
	h->cells = arena_alloc(&q->arena, (all->n + 1) * sizeof(*h->cells));
	if (!h->v || !h->b.room || !h->cells)
		return false;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i].ns && all->v[i].key.lock >= LOCK_TYPES)
			h->v[h->n++] = (struct blame_weight){locks[all->v[i].key.lock].id,
							     all->v[i].ns, i};
	blame_weights_sort(h->v, h->n);
	return true;
}

/* The first one of that lock, or of the next. */
static size_t first_of(const struct held_by *h, uint64_t lock)
{
	return lock ? BISECT(h->v, h->n, key, lock - 1) : 0;
}

static bool has_it(struct query *q, const struct blame_cell *c)
{
	return c->key.direct && query_blame_who(q, c) == BLAME_TASK;
}

static const char *name_of(struct query *q, const struct blame_leader *l, uint32_t task)
{
	switch (l->is) {
	case BLAME_LEADER_TASK:
		return query_task_name(q, task);
	case BLAME_LEADER_PROCESS:
		return query_process_name(q, task);
	case BLAME_LEADER_NAMED:
		break;
	}
	return arena_printf(&q->arena, "%u of %s", l->tasks, blame_leader_comm(q, task));
}

bool held_by_most(struct held_by *h, struct query *q, uint64_t lock, struct held_by_most *ret)
{
	struct blame_leader leader;
	uint64_t all_ns = 0;
	size_t n = 0;

	if (!h->is_made && !make(h, q))
		h->n = 0;
	for (size_t i = first_of(h, lock); i < h->n && h->v[i].key == lock; i++) {
		const struct blame_cell *c = &h->b.cells.v[h->v[i].cell];
		/* Time that is passed on is charged to the root as well. */
		all_ns += c->key.state != BLAME_PASSED ? c->ns : 0;
		if (has_it(q, c))
			h->cells[n++] = h->v[i].cell;
	}
	if (!n || !blame_leader(&h->b, h->cells, n, &leader))
		return false;
	*ret = (struct held_by_most){
		.name = name_of(q, &leader, h->b.cells.v[leader.cell].key.task),
		.pct = blame_share(leader.ns, all_ns),
	};
	return ret->name && ret->pct >= BLAME_LEADER_LEAST_PCT;
}
