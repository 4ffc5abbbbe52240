// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts for each place of a function: samples whose innermost frame is in it, and waits whose call
 * chain passes it. A chain that passes a place twice has waited there once.
 */
#include "annotate.h"
#include "kontend/cell.h"
#include "kontend/profile.h"
#include "kontend/stack.h"

#include <errno.h>

static struct annotate_place *place_get(struct query *q, struct annotate_places *p, uint64_t offset,
					bool is_return)
{
	uint64_t key = offset << 1 | is_return;
	const uint32_t *known = map64_get(&p->index, key);

	if (known)
		return &p->items[*known];
	if (arena_grow(&q->arena, &p->items, &p->cap, p->n, sizeof(*p->items)))
		return NULL;
	if (map64_put(&p->index, key, (uint32_t)p->n) < 0)
		return NULL;
	p->items[p->n] = (struct annotate_place){.offset = offset, .is_return = is_return};
	return &p->items[p->n++];
}

static uint64_t offset_in(const struct query *q, uint64_t start, uint64_t frame)
{
	if (map_frame_is_ksym(start))
		return map_ksym_offset(frame);
	return (map_frame_is_ksym(frame) ? query_kernel_address(q, frame) : frame) - start;
}

static int sum_samples(struct query *q, uint32_t func, struct annotate_places *p,
		       struct query_annotate *sums)
{
	const struct profile *profile = query_profile(q);

	for (size_t i = 0; i < profile->n; i++) {
		const struct profile_cell *c = &profile->cells[i];
		uint64_t weight = profile->period ? c->period : c->n;
		uint64_t frame = profile->stacks.stacks[c->stack].n
					 ? stack_frames(&profile->stacks, c->stack)[0]
					 : 0;

		p->all_weight += weight;
		if (!frame || query_func(q, frame) != func)
			continue;
		struct annotate_place *at =
			place_get(q, p, offset_in(q, sums->start, frame), false);
		if (!at)
			return -ENOMEM;
		at->samples += c->n;
		at->weight += weight;
		sums->samples += c->n;
		sums->weight += weight;
	}
	return 0;
}

static int sum_chain(struct query *q, uint32_t func, uint32_t stack, uint64_t ns,
		     struct annotate_places *p, struct query_annotate *sums)
{
	uint32_t n;
	const uint64_t *frames = query_wait_frames(q, stack, &n);
	bool seen = false;

	for (uint32_t i = 0; i < n; i++) {
		bool again = false;

		if (query_func(q, frames[i]) != func)
			continue;
		for (uint32_t k = 0; k < i && !again; k++)
			again = frames[k] == frames[i];
		struct annotate_place *at =
			place_get(q, p, offset_in(q, sums->start, frames[i]), true);
		if (!at)
			return -ENOMEM;
		at->wait_ns += again ? 0 : ns;
		sums->wait_ns += seen ? 0 : ns;
		seen = true;
	}
	return 0;
}

static int sum_waits(struct query *q, uint32_t func, struct annotate_places *p,
		     struct query_annotate *sums)
{
	const struct cell_table *cells = query_cells(q);
	uint64_t *ns = arena_alloc(&q->arena, (q->model->stacks->n + 1) * sizeof(*ns));
	int r = ns ? 0 : -ENOMEM;

	for (size_t i = 0; ns && i < cells->n; i++) {
		ns[cells->cells[i].stack] += cells->cells[i].total_ns;
		p->all_wait_ns += cells->cells[i].total_ns;
	}
	for (uint32_t i = 1; r == 0 && i < q->model->stacks->n; i++)
		if (ns[i])
			r = sum_chain(q, func, i, ns[i], p, sums);
	return r;
}

int annotate_sum(struct query *q, uint32_t func, struct annotate_places *ret,
		 struct query_annotate *sums)
{
	int r;

	*ret = (struct annotate_places){0};
	r = sum_samples(q, func, ret, sums);
	if (r == 0)
		r = sum_waits(q, func, ret, sums);
	map64_deinit(&ret->index);
	return q->cache->failed ? -ENOMEM : r;
}
