// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a lock to the code that waits for it: the locking functions that its waits' call chains
 * pass, and those that these call to lock (a chain begins where waiting is announced; spinning
 * shows in samples alone). Samples do not say which lock they are about: they decide between the
 * functions.
 */
#include "annotate.h"
#include "kontend/cell.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/wait.h"

#include <errno.h>

struct path_sums {
	uint64_t *waited;  /* by function */
	uint64_t *sampled; /* weight */
	uint32_t n;	   /* functions known when these were made */
};

/* Functions that announce the wait (tracepoints) are no part of it. */
static bool is_path_frame(const struct query *q, uint64_t frame)
{
	const struct sym_entry *e = sym_find(q->sym, frame);

	return sym_is_lock_function(q->sym, frame) && e && e->lockfn != SYM_LOCKFN_TRACE;
}

static void add_chain(struct query *q, struct path_sums *s, uint32_t stack, uint64_t ns)
{
	const uint64_t *frames = stack_frames(q->model->stacks, stack);

	if (stack >= q->model->stacks->n || !query_caller(q, stack))
		return;
	for (uint32_t i = 0; i < query_caller_frame(q, stack); i++) {
		uint32_t func = query_func(q, frames[i]);

		if (func && func < s->n && is_path_frame(q, frames[i]))
			s->waited[func] += ns + 1;
	}
}

static void add_waits(struct query *q, const struct query_scope *scope, struct path_sums *s)
{
	const struct cell_table *t = query_cells(q);
	const struct model *m = q->model;

	for (size_t i = 0; i < t->n; i++) {
		const struct query_where w = query_cell_where(&t->cells[i]);

		if (cell_n(t, &t->cells[i]) && query_in_scope(q, scope, &w))
			add_chain(q, s, w.stack, t->cells[i].total_ns);
	}
	for (uint32_t i = 1; m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *wait = &m->waits->waits[i];
		const struct query_where w = query_wait_where(wait);

		if (wait->used && query_in_scope(q, scope, &w))
			add_chain(q, s, w.stack, query_wait_ns(m, wait));
	}
}

/* A sample in locking code is that function's, if it or one of its callers is of the path. */
static void add_samples(struct query *q, struct path_sums *s)
{
	const struct profile *p = query_profile(q);

	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *c = &p->cells[i];
		const uint64_t *frames = stack_frames(&p->stacks, c->stack);
		uint32_t n = p->stacks.stacks[c->stack].n;
		uint32_t leaf = n ? query_func(q, frames[0]) : 0;
		bool passes = false;

		if (!leaf || leaf >= s->n || !map_frame_is_kernel(frames[0]) ||
		    !is_path_frame(q, frames[0]))
			continue;
		for (uint32_t k = 0; k < n && !passes; k++) {
			uint32_t func = query_func(q, frames[k]);
			passes = func < s->n && s->waited[func];
		}
		if (passes)
			s->sampled[leaf] += p->period ? c->period : c->n;
	}
}

/* Among equal ones, the innermost is the first found. */
static uint32_t pick(const struct path_sums *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->n; i++)
		if (s->sampled[i] > s->sampled[best] ||
		    (s->sampled[i] == s->sampled[best] && s->waited[i] > s->waited[best]))
			best = i;
	return best;
}

int query_annotate_path(struct query *q, const struct query_scope *scope, uint64_t *ret_start)
{
	struct path_sums s = {0};

	if (query_sync(q) < 0)
		return -ENOMEM;
	annotate_meet(q);
	s.n = (uint32_t)q->cache->n_funcs;
	s.waited = arena_alloc(&q->arena, (s.n + 1) * sizeof(*s.waited));
	s.sampled = arena_alloc(&q->arena, (s.n + 1) * sizeof(*s.sampled));
	if (!s.waited || !s.sampled)
		return -ENOMEM;
	add_waits(q, scope, &s);
	add_samples(q, &s);
	if (q->cache->failed)
		return -ENOMEM;
	uint32_t func = pick(&s);
	if (!func)
		return -ENOENT;
	*ret_start = q->cache->funcs[func].start;
	return 0;
}
