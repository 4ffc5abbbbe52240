// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cells that tables of blame are summed up from: the model's, or those of the window of time,
 * and sums of the model that are not charged yet. A window has the charges made in it: for a lock
 * whose holder was reported late this includes earlier waiting; time without a holder yet counts as
 * far as so many waiters can have waited in the window.
 */
#include "kontend/lock.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

/* A lock at the address of a node. */
static uint32_t lock_of_node(const struct model *m, uint32_t node)
{
	const struct blame *b = m->blame;

	for (uint32_t i = b->nodes[node].classes; i; i = b->classes[i].next)
		if (m->locks->locks[b->classes[i].lock].blame == node)
			return b->classes[i].lock;
	return 0;
}

static uint64_t pending_ns(const struct query *q, const struct blame_class *c, uint64_t window_ns)
{
	uint64_t now_ns = q->model->now_ns, ns = c->ns;

	if (now_ns > c->reported_ns)
		ns += c->n * (now_ns - c->reported_ns);
	uint64_t most = (c->n ? c->n : 1) * window_ns;
	return window_ns && ns > most ? most : ns;
}

/* The same of what it cost. */
static struct blame_cost pending_cost(const struct model *m, const struct blame_class *c)
{
	struct blame_cost r = c->cost;
	uint64_t idle_ns = m->waits->lost.ns;

	if (m->now_ns > c->reported_ns) {
		r.is_lost |= c->n_lost && idle_ns;
		r.unlost |= c->n != c->n_lost || !idle_ns;
	}
	if (c->idle_ns && idle_ns > c->idle_ns)
		r.lost_ns += c->n_lost * (idle_ns - c->idle_ns);
	return r;
}

struct pending {
	struct blame_cell *v; /* NULL: they are counted */
	size_t n;
};

static void add_node(const struct query *q, uint32_t node, uint64_t window_ns, struct pending *p)
{
	const struct model *m = q->model;
	const struct blame *b = m->blame;
	uint32_t lock = lock_of_node(m, node);

	for (uint32_t i = b->nodes[node].classes; i; i = b->classes[i].next) {
		const struct blame_class *c = &b->classes[i];
		uint64_t ns = pending_ns(q, c, window_ns);
		if (!ns)
			continue;
		if (p->v)
			p->v[p->n] = (struct blame_cell){
				.key = {.lock = c->lock,
					.stack = c->stack,
					.root_lock = lock ? lock : c->lock,
					.direct = m->locks->locks[c->lock].blame == node},
				.ns = ns,
				.cost = pending_cost(m, c),
				.last_ns = m->now_ns};
		p->n++;
	}
}

static size_t add_pending(const struct query *q, uint64_t window_ns, struct blame_cell *to)
{
	struct pending p = {.v = to};

	for (uint32_t i = 1; i < q->model->blame->n_nodes; i++)
		if (q->model->blame->nodes[i].refs)
			add_node(q, i, window_ns, &p);
	return p.n;
}

int query_blame_cells(struct query *q, struct query_blame_cells *ret)
{
	const struct blame *b = q->model->blame;
	uint64_t window_ns = query_has_window(q) ? query_rate_ns(q) : 0;

	*ret = (struct query_blame_cells){.lost_ns = window_ns ? 0 : b->lost_ns};
	if (query_sync(q) < 0)
		return -ENOMEM;
	ret->v = query_charged(q, &ret->n);
	size_t n = add_pending(q, window_ns, NULL);
	if (q->cache->failed)
		return -ENOMEM;
	if (!n)
		return 0;
	struct blame_cell *all = arena_alloc(&q->arena, (ret->n + n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (ret->n)
		memcpy(all, ret->v, ret->n * sizeof(*all));
	add_pending(q, window_ns, all + ret->n);
	ret->v = all;
	ret->n += n;
	return 0;
}

const char *query_blame_why_not(const struct query *q)
{
	if (!q->model->blame->max)
		return "it was not followed for whom tasks wait";
	return q->no_blame;
}

enum blame_who query_blame_who(const struct query *q, const struct blame_cell *c)
{
	const struct lock *l = &q->model->locks->locks[c->key.root_lock];

	if (c->key.state == BLAME_UNKNOWN)
		return BLAME_NOBODY;
	if (c->key.task != TASK_OTHER)
		return BLAME_TASK;
	return locktype_is_reader(l->type) ? BLAME_READER : BLAME_OTHER;
}
