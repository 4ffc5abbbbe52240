// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of whole call chains, kept from frame to frame until names change: to find inlined
 * functions takes a look into debug information for each address. Addresses whose debug information
 * is not loaded yet are asked for again in the next frame.
 */
#include "names.h"

#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-functions.h"
#include "kontend/query-load.h"
#include "kontend/stack.h"

#include <string.h>

enum { CHAIN_MOST = 2 * STACK_MAX_FRAMES };

static const struct query_chain *fail(struct query *q)
{
	q->cache->failed = true;
	return NULL;
}

static struct query_chain *room_for(struct query_chains *c, uint32_t stack, size_t n)
{
	if (stack < c->n)
		return &c->of[stack];
	n += n / 2;
	struct query_chain *grown = mem_resize(c->of, n, sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + c->n, 0, (n - c->n) * sizeof(*grown));
	c->of = grown;
	c->n = n;
	return &c->of[stack];
}

static const struct query_chain *look_up(struct query *q, struct query_chain *c,
					 const uint64_t *frames, uint32_t n)
{
	uint32_t funcs[CHAIN_MOST];

	if (c->funcs && (!c->frame || c->frame == q->frame))
		return c;
	q->cache->pending = false;
	n = query_chain_funcs(q, frames, n, funcs, CHAIN_MOST);
	struct arena *a = q->cache->pending ? &q->arena : &q->cache->text;
	uint32_t *kept = arena_alloc(a, n * sizeof(*kept));
	if (!kept)
		return fail(q);
	memcpy(kept, funcs, n * sizeof(*kept));
	*c = (struct query_chain){kept, n, q->cache->pending ? q->frame : 0};
	return c;
}

const struct query_chain *query_sample_chain(struct query *q, uint32_t stack)
{
	const struct stack_table *t = &q->model->profile->stacks;
	struct query_chain *c = room_for(&q->cache->sampled, stack, t->n);

	return c ? look_up(q, c, stack_frames(t, stack), t->stacks[stack].n) : fail(q);
}

const struct query_chain *query_wait_chain(struct query *q, uint32_t stack)
{
	struct query_chain *c = room_for(&q->cache->waited, stack, q->model->stacks->n);
	uint32_t n;

	if (!c)
		return fail(q);
	const uint64_t *frames = query_wait_frames(q, stack, &n);
	return look_up(q, c, frames, n);
}

const char *query_functions_name(struct query *q, uint64_t frame)
{
	const char *name;

	do {
		if (query_sync(q) < 0)
			return NULL;
		name = query_func_name(q, query_func(q, frame));
	} while (query_load_again(q));
	return q->cache->failed ? NULL : name;
}

uint32_t query_functions_own_frame(struct query *q, const uint64_t *frames, uint32_t n)
{
	uint32_t at;

	do {
		if (query_sync(q) < 0)
			return 0;
		at = query_own_frame(q, frames, n);
	} while (query_load_again(q));
	return at;
}

void query_chains_drop(struct query_cache *c)
{
	mem_free(c->sampled.of);
	mem_free(c->waited.of);
}
