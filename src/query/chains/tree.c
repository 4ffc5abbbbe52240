// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trees of a graph as rows, from the top to the bottom. An object that no task keeps, such as
 * a device, is a root itself. Of the tasks that wait for a lock those
 * that hold another come first, each with what waits for it; the others follow, those of one
 * name that want the same in one row. Where others are too deep one row stands for them.
 */
#include "kontend/task.h"
#include "kontend/wait.h"
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct chain_row *add_row(struct chain_rows *c, enum query_chain_kind kind, uint32_t parent,
				 uint32_t at, const struct chain_sum *behind)
{
	struct chain_row *r = &c->rows[c->n++];

	*r = (struct chain_row){.kind = kind, .parent = parent, .at = at, .ended = c->g->ended};
	if (behind) {
		r->behind = behind->n;
		r->sum = *behind;
	}
	r->depth = parent == CHAIN_NONE ? 0 : c->rows[parent].depth + 1;
	return r;
}

/* Sum of the waits for locks that this waiter holds. */
static struct chain_sum sum_held(const struct chain_graph *g, const struct chain_wait *w)
{
	struct chain_sum sum = {0};

	for (uint32_t i = w->holds; i != CHAIN_NONE; i = g->locks[i].beside)
		if (!g->locks[i].in_circle)
			chain_sum_add(&sum, &g->locks[i].behind);
	return sum;
}

static int32_t pid_of(const struct chain_rows *c, uint32_t wait)
{
	return c->g->waits[wait].pid;
}

/* By the name of their process, and for the same: the mode is part of the lock's number. */
static int compare_alike(const struct chain_rows *c, uint32_t a, uint32_t b)
{
	const struct chain_wait *x = &c->g->waits[a], *y = &c->g->waits[b];
	int order = strcmp(x->comm ? x->comm : "", y->comm ? y->comm : "");
	int32_t p = pid_of(c, a), q = pid_of(c, b);

	if (order)
		return order;
	if (p != q && (!x->comm || !*x->comm)) /* whose name is not known */
		return p < q ? -1 : 1;
	if (!x->wait || !y->wait) /* all that wait for an object sleep */
		return 0;
	return x->wait->lock < y->wait->lock ? -1 : x->wait->lock > y->wait->lock;
}

static int alike_together(const void *a, const void *b, void *ctx)
{
	const uint32_t *x = a, *y = b;
	int order = compare_alike(ctx, *x, *y);

	return order ? order : *x < *y ? -1 : *x > *y;
}

static uint32_t tasks_or_fail(struct chain_rows *c, int64_t n)
{
	c->failed |= n < 0;
	return n < 0 ? 0u : (uint32_t)n;
}

/* Tasks behind a row about that lock; of waits that go on each is a task. */
static uint32_t behind_lock(struct chain_rows *c, uint32_t lock, bool beside, uint32_t waits)
{
	return c->g->ended ? tasks_or_fail(c, chain_tasks_of_locks(c->g, lock, beside)) : waits;
}

/* Adds rows for @waits, which are sorted. */
static void add_groups(struct chain_rows *c, uint32_t parent, const uint32_t *waits, uint32_t n)
{
	struct chain_row *r = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct chain_wait *w = &c->g->waits[waits[i]];
		const struct chain_sum one = chain_sum_one(w);
		if (!r || compare_alike(c, waits[i - 1], waits[i]))
			r = add_row(c, CHAIN_WAITER, parent, waits[i], NULL);
		if (w->ns > r->sum.longest_ns)
			r->at = waits[i];
		r->processes |= r->n && pid_of(c, r->at) != pid_of(c, waits[i]);
		chain_sum_add(&r->sum, &one);
		r->n++;
		bool is_last = i + 1 == n || compare_alike(c, waits[i], waits[i + 1]);
		if (c->g->ended && is_last) {
			const uint32_t *first = waits + i + 1 - r->n;
			r->n = tasks_or_fail(c, chain_tasks_of_waits(c->g, first, r->n));
		}
	}
}

static int most_first(const void *a, const void *b)
{
	const struct chain_row *x = a, *y = b;

	if (x->sum.sum_ns != y->sum.sum_ns)
		return x->sum.sum_ns > y->sum.sum_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_lock(struct chain_rows *c, uint32_t parent, uint32_t lock);

/* A task that waits and for which others wait. */
static void add_link(struct chain_rows *c, uint32_t parent, uint32_t wait)
{
	const struct chain_wait *w = &c->g->waits[wait];
	const struct chain_sum behind = sum_held(c->g, w);
	uint32_t row = c->n;
	struct chain_row *r = add_row(c, CHAIN_WAITER, parent, wait, &behind);

	r->n = 1;
	r->behind = behind_lock(c, w->holds, true, behind.n);
	r->sum = chain_sum_one(w);
	if (r->depth >= CHAIN_DEPTH_MOST) {
		add_row(c, CHAIN_MORE, row, wait, &behind);
		return;
	}
	for (uint32_t i = w->holds; i != CHAIN_NONE; i = c->g->locks[i].beside)
		if (!c->g->locks[i].in_circle)
			add_lock(c, row, i);
}

static void add_waits(struct chain_rows *c, uint32_t parent, uint32_t lock)
{
	const struct chain_graph *g = c->g;

	for (uint32_t i = g->locks[lock].waits; i != CHAIN_NONE; i = g->waits[i].next)
		if (sum_held(g, &g->waits[i]).n)
			add_link(c, parent, i);
	const uint32_t first = c->n;
	uint32_t n = 0;
	for (uint32_t i = g->locks[lock].waits; i != CHAIN_NONE; i = g->waits[i].next)
		if (!sum_held(g, &g->waits[i]).n)
			c->scratch[n++] = i;
	qsort_r(c->scratch, n, sizeof(*c->scratch), alike_together, c);
	add_groups(c, parent, c->scratch, n);
	qsort(c->rows + first, c->n - first, sizeof(*c->rows), most_first);
}

static void add_lock(struct chain_rows *c, uint32_t parent, uint32_t lock)
{
	const struct chain_lock *l = &c->g->locks[lock];
	uint32_t row = c->n;

	if (l->object && !l->holder) { /* it is the root itself */
		add_waits(c, parent, lock);
		return;
	}
	struct chain_row *r =
		add_row(c, l->object ? CHAIN_OBJECT : CHAIN_LOCK, parent, lock, &l->behind);

	r->behind = behind_lock(c, lock, false, r->behind);
	add_waits(c, row, lock);
}

static void add_circle(struct chain_rows *c, uint32_t parent, uint32_t first)
{
	uint32_t at = first;

	do {
		add_lock(c, parent, at);
		at = c->g->waits[c->g->locks[at].up].lock;
	} while (at != first);
}

static void add_roots(struct chain_rows *c)
{
	for (uint32_t i = 0; i < c->g->n_roots; i++) {
		const struct chain_root *root = &c->g->roots[i];
		uint32_t row = c->n;
		struct chain_row *r = add_row(c, root->circle ? CHAIN_DEADLOCK : CHAIN_ROOT,
					      CHAIN_NONE, i, &root->behind);
		r->behind = behind_lock(c, root->lock, true, r->behind);
		if (root->circle)
			add_circle(c, row, root->lock);
		for (uint32_t l = root->lock; !root->circle && l != CHAIN_NONE;
		     l = c->g->locks[l].beside)
			add_lock(c, row, l);
	}
}

int chain_rows_make(struct chain_rows *c)
{
	size_t rows = 1, waits = 1;
	int r = chain_graph_make(c->q, &c->graphs[0]);

	r = r < 0 ? r : chain_graph_make_ended(c->q, &c->graphs[1]);
	if (r < 0)
		return r;
	/*
	 * A wait has a row and perhaps one for the levels below the limit; locks and roots have
	 * one.
	 */
	for (int i = 0; i < 2; i++) {
		const struct chain_graph *g = &c->graphs[i];
		rows += 2 * (size_t)g->n_waits + g->n_locks + g->n_roots;
		waits += g->n_waits;
	}
	c->rows = arena_alloc(&c->q->arena, rows * sizeof(*c->rows));
	c->scratch = arena_alloc(&c->q->arena, waits * sizeof(*c->scratch));
	if (!c->rows || !c->scratch)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		c->g = &c->graphs[i];
		add_roots(c);
	}
	return c->failed ? -ENOMEM : 0;
}
