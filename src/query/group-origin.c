// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system call, or the line of the program, that waits or holders are mostly in: by the time
 * waited, of those that go on, too. It is worked out for the rows that are really shown. Chains
 * that lack that part give way to one that has it: taking them has its price, so most may lack it.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/map64.h"
#include "kontend/wait.h"

static const uint64_t LACKING = UINT64_MAX; /* id */

struct origin_part {
	uint64_t id, ns;
	const struct query_origin *origin;
};

static uint64_t id_of(enum query_by by, const struct query_origin *o)
{
	if (by == BY_SYSCALL)
		return o->syscall_lacks ? LACKING : o->syscall_id;
	return o->at_lacks ? LACKING : o->at_id;
}

void query_origin_add(struct origin_parts *p, uint32_t stack, uint64_t ns)
{
	const struct query_origin *o = query_origin(p->q, stack);
	const uint64_t id = id_of(p->by, o);
	const uint32_t *known = map64_get(&p->index, id);
	uint32_t at = known ? *known : (uint32_t)p->n;

	if (!known && (arena_grow(&p->q->arena, &p->list, &p->cap, p->n, sizeof(*p->list)) ||
		       map64_put(&p->index, id, at) < 0)) {
		p->q->cache->failed = true;
		return;
	}
	if (!known)
		p->list[p->n++] = (struct origin_part){.id = id, .origin = o};
	p->list[at].ns += ns;
}

/* NULL: there is none. */
static const struct origin_part *heaviest(const struct origin_parts *p, bool has_it)
{
	const struct origin_part *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct origin_part *one = &p->list[i];
		if (!one->ns || (has_it && (one->id == LACKING || !one->id)))
			continue;
		if (!best || one->ns > best->ns || (one->ns == best->ns && one->id < best->id))
			best = one;
	}
	return best;
}

const struct query_origin *query_origin_most(struct origin_parts *p, bool *ret_many)
{
	const struct origin_part *best = heaviest(p, false), *instead;

	if (best && best->id == LACKING && (instead = heaviest(p, true)))
		best = instead;
	map64_deinit(&p->index);
	*ret_many = p->n > 1;
	return best ? best->origin : NULL;
}

const struct query_origin *query_group_origin(struct query *q, const struct groups *gs,
					      const struct group *g, enum query_by by,
					      bool *ret_many)
{
	const struct cell *cells = query_cells(q)->cells;
	const struct model *m = q->model;
	struct origin_parts p = {.q = q, .by = by};

	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		query_origin_add(&p, cells[i - 1].stack, cells[i - 1].total_ns + 1);
	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1])
		query_origin_add(&p, m->waits->waits[i - 1].stack,
				 query_wait_ns(m, &m->waits->waits[i - 1]) + 1);
	const struct query_origin *o = query_origin_most(&p, ret_many);
	return o ? o : query_origin(q, g->first.stack);
}
