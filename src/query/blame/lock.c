// SPDX-License-Identifier: GPL-2.0-only
/* The activity of the holders of one lock while others waited, for the page of that lock. */
#include "rows.h"

#include <errno.h>

/* In one of its modes. */
static bool is_lock(const struct model *m, uint32_t lock, uint64_t id)
{
	const struct lock *l = &m->locks->locks[lock];

	return lock >= LOCK_TYPES &&
	       (l->id == id || (l->twin && m->locks->locks[l->twin].id == id));
}

static void add_cell(struct blame_rows *b, struct blame_group *g, uint32_t cell)
{
	const struct blame_cell *c = &b->cells.v[cell];

	g->ns += c->time_ns;
	g->state_ns[c->key.state] += c->time_ns;
	b->next[cell] = g->cells;
	g->cells = cell + 1;
}

int query_blame_lock(struct query *q, uint64_t id, struct query_blame_lock *ret)
{
	struct blame_rows b = {.q = q, .by = BLAME_BY_LOCK, .did = true};
	struct blame_group g = {0};
	struct blame_mostly why;

	*ret = (struct query_blame_lock){0};
	int r = blame_rows_sum(&b);
	for (size_t i = 0; r == 0 && i < b.n; i++) {
		if (!is_lock(q->model, blame_first(&b, &b.g[i])->key.root_lock, id))
			continue;
		for (uint32_t c = b.g[i].cells, next; c; c = next) {
			next = b.next[c - 1];
			add_cell(&b, &g, c - 1);
		}
	}
	ret->time_ns = g.ns;
	for (uint32_t i = 0; r == 0 && i < BLAME_STATES; i++) {
		ret->state_ns[i] = g.state_ns[i];
		if (!g.state_ns[i])
			continue;
		blame_why(&b, &g, i, &why);
		ret->why[i] = blame_why_text(q, &why);
	}
	return r < 0 || q->cache->failed ? -ENOMEM : 0;
}
