// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system call, or the line of the program, that a group of waits is mostly in: by the time
 * waited, of those that go on, too. It is worked out for the rows that are really shown. Chains
 * that lack that part give way to one that has it: taking them has its price, so most may lack it.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/map64.h"
#include "kontend/wait.h"

static const uint64_t LACKING = UINT64_MAX; /* id */

struct part {
	uint64_t id, ns;
	const struct query_origin *origin;
};

struct parts {
	struct query *q;
	enum query_by by;
	struct map64 index; /* id -> part */
	struct part *list;
	size_t n, cap;
};

static bool lacks(const struct parts *p, const struct query_origin *o)
{
	return p->by == BY_SYSCALL ? o->syscall_lacks : o->at_lacks;
}

static uint64_t id_of(const struct parts *p, const struct query_origin *o)
{
	if (lacks(p, o))
		return LACKING;
	return p->by == BY_SYSCALL ? o->syscall_id : o->at_id;
}

static void add(struct parts *p, uint32_t stack, uint64_t ns)
{
	const struct query_origin *o = query_origin(p->q, stack);
	const uint64_t id = id_of(p, o);
	const uint32_t *known = map64_get(&p->index, id);
	uint32_t at = known ? *known : (uint32_t)p->n;

	if (!known && (arena_grow(&p->q->arena, &p->list, &p->cap, p->n, sizeof(*p->list)) ||
		       map64_put(&p->index, id, at) < 0)) {
		p->q->cache->failed = true;
		return;
	}
	if (!known)
		p->list[p->n++] = (struct part){.id = id, .origin = o};
	p->list[at].ns += ns + 1;
}

/* NULL: there is none. */
static const struct part *heaviest(const struct parts *p, bool has_it)
{
	const struct part *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct part *one = &p->list[i];
		if (has_it && (one->id == LACKING || !one->id))
			continue;
		if (!best || one->ns > best->ns || (one->ns == best->ns && one->id < best->id))
			best = one;
	}
	return best;
}

const struct query_origin *query_group_origin(struct query *q, const struct groups *gs,
					      const struct group *g, enum query_by by,
					      bool *ret_many)
{
	const struct cell *cells = query_cells(q)->cells;
	const struct model *m = q->model;
	struct parts p = {.q = q, .by = by};
	const struct part *best, *instead;

	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		add(&p, cells[i - 1].stack, cells[i - 1].total_ns);
	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1])
		add(&p, m->waits->waits[i - 1].stack, query_wait_ns(m, &m->waits->waits[i - 1]));
	best = heaviest(&p, false);
	if (best && best->id == LACKING && (instead = heaviest(&p, true)))
		best = instead;
	map64_deinit(&p.index);
	*ret_many = p.n > 1;
	return best ? best->origin : query_origin(q, g->first.stack);
}
