// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cached parts of answers that outlive a frame. Groups and orders are found by their inputs: the
 * question, and the state of the model. They lie in one arena, which is given back at the beginning
 * of a frame, as no row is read any more then.
 */
#include "reuse.h"
#include "internal.h"
#include "kontend/engine.h"

#include <string.h>

enum { MOST_GROUPS = 6, MOST_ORDERS = 24, MANY_BYTES = 128 << 20, FEW_GROUPS = 2 };

struct reuse_groups {
	struct reuse_groups *next;
	struct reuse_state state;
	enum query_by by;
	struct query_scope scope;
	struct groups groups;
};

struct reuse_order {
	struct reuse_order *next;
	struct reuse_state state;
	const struct table_kind *kind;
	enum query_by by;
	struct query_scope scope;
	size_t sort;
	bool reverse, average;
	const char *filter;
	struct rows_order order;
};

static struct reuse_state state_of(const struct query *q)
{
	const struct model *m = q->model;

	return (struct reuse_state){.changes = q->engine->changes,
				    .generation = m->generation,
				    .n_events = m->n_events,
				    .n_ticks = m->n_ticks,
				    .now_ns = m->now_ns,
				    .n_renewed = q->cache->n_renewed,
				    .n_lines = q->n_lines,
				    .only = q->only,
				    .window_ns = q->window_ns};
}

static bool is_same_state(const struct reuse_state *a, const struct reuse_state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_same_scope(const struct query_scope *a, const struct query_scope *b)
{
	for (int by = 0; by < QUERY_SCOPES; by++)
		if (a->mask & 1u << by && a->id[by] != b->id[by])
			return false;
	return a->mask == b->mask;
}

static bool is_too_much(const struct reuse *k)
{
	return k->n_groups > MOST_GROUPS || k->n_orders > MOST_ORDERS ||
	       (k->arena.used_bytes > MANY_BYTES && k->n_groups > FEW_GROUPS);
}

void reuse_begin(struct query *q)
{
	struct reuse *k = &q->cache->reuse;
	const struct reuse_state now = state_of(q);

	if (q->keeps && q->cache->valid && is_same_state(&k->state, &now) && !is_too_much(k))
		return;
	arena_reset(&k->arena);
	*k = (struct reuse){.arena = k->arena, .state = now, .number = k->number};
	q->cache->lock_head = q->cache->lock_next = NULL;
}

void reuse_deinit(struct reuse *k)
{
	arena_deinit(&k->arena);
}

struct arena *reuse_arena(struct query *q)
{
	return q->keeps ? &q->cache->reuse.arena : &q->arena;
}

static void keep_groups(struct query *q, enum query_by by, const struct query_scope *scope,
			const struct groups *groups)
{
	struct reuse *k = &q->cache->reuse;
	struct reuse_groups *g = arena_alloc(&k->arena, sizeof(*g));

	if (!g)
		return;
	*g = (struct reuse_groups){k->groups, state_of(q), by, *scope, *groups};
	k->groups = g;
	k->n_groups++;
}

int reuse_group(struct query *q, enum query_by by, const struct query_scope *scope,
		struct groups *ret)
{
	const struct reuse_state now = state_of(q);

	for (struct reuse_groups *g = q->cache->reuse.groups; g; g = g->next) {
		if (g->by != by || !is_same_scope(&g->scope, scope) ||
		    !is_same_state(&g->state, &now))
			continue;
		*ret = g->groups;
		return 0;
	}
	int r = query_group_in(q, by, scope, reuse_arena(q), ret);
	if (r == 0 && q->keeps)
		keep_groups(q, by, scope, ret);
	return r;
}

bool reuse_own_find(const struct query *q, struct reuse_own *ret)
{
	const struct reuse_own *own = &q->cache->reuse.own;
	const struct reuse_state now = state_of(q);

	if (!q->keeps || !own->state.n_renewed || !is_same_state(&own->state, &now))
		return false;
	*ret = *own;
	return true;
}

void reuse_own_put(struct query *q, const struct reuse_own *own)
{
	q->cache->reuse.own = *own;
	q->cache->reuse.own.state = state_of(q);
}

const struct reuse_cause *reuse_cause_find(const struct query *q, uint64_t lock)
{
	const struct reuse_cause *cause = &q->cache->reuse.cause;
	const struct reuse_state now = state_of(q);

	if (!q->keeps || cause->lock != lock || !cause->state.n_renewed ||
	    !is_same_state(&cause->state, &now))
		return NULL;
	return cause;
}

static const char *copy_text(struct query *q, const char *text)
{
	return text ? arena_printf(reuse_arena(q), "%s", text) : NULL;
}

void reuse_cause_put(struct query *q, const struct reuse_cause *cause)
{
	if (!q->keeps)
		return;
	q->cache->reuse.cause = (struct reuse_cause){.state = state_of(q),
						     .lock = cause->lock,
						     .text = copy_text(q, cause->text),
						     .at = copy_text(q, cause->at)};
}

static const char *filter_of(const struct query_spec *s)
{
	return s->filter ? s->filter : "";
}

const struct rows_order *reuse_order_find(struct query *q, const struct query_spec *s,
					  const struct table_kind *kind, size_t sort)
{
	const struct reuse_state now = state_of(q);

	for (struct reuse_order *o = q->cache->reuse.orders; o; o = o->next)
		if (o->kind == kind && o->by == s->by && o->sort == sort &&
		    o->reverse == s->reverse && o->average == s->average &&
		    is_same_scope(&o->scope, &s->scope) && is_same_state(&o->state, &now) &&
		    strcmp(o->filter, filter_of(s)) == 0)
			return &o->order;
	return NULL;
}

void reuse_order_put(struct query *q, const struct query_spec *s, const struct table_kind *kind,
		     size_t sort, struct rows_order *order)
{
	struct reuse *k = &q->cache->reuse;
	struct reuse_order *o = arena_alloc(&k->arena, sizeof(*o));
	const char *filter = arena_strndup(&k->arena, filter_of(s), strlen(filter_of(s)));

	if (!o || !filter)
		return;
	order->number = ++k->number;
	*o = (struct reuse_order){.next = k->orders,
				  .state = state_of(q),
				  .kind = kind,
				  .by = s->by,
				  .scope = s->scope,
				  .sort = sort,
				  .reverse = s->reverse,
				  .average = s->average,
				  .filter = filter,
				  .order = *order};
	k->orders = o;
	k->n_orders++;
}
