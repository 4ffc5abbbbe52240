// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charges, by (lock, place, root, state of the root): a dense array with an index by the hash of
 * the key. At a tick the parts of the bucket go into a log, one word a cell, of which sums over
 * the last seconds are made. When all cells are taken, the lesser half of them is folded into cells
 * that keep the types of both locks and the state; the sum stays.
 */
#include "blame-int.h"
#include "kontend/blame.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/recent.h"
#include "kontend/stack.h"
#include "kontend/task.h"

#include <stdlib.h>

bool blame_is_reader(const struct model *m, uint32_t lock)
{
	return locktype_is_reader((enum lock_type)m->locks->locks[lock].type);
}

static uint64_t blame_key_hash(const struct blame_key *k)
{
	uint64_t h = hash_u64((uint64_t)k->lock << 32 | k->stack);

	h = hash_add(h, ((uint64_t)k->root_lock << 32 | k->task));
	h = hash_add(h, ((uint64_t)k->got << 32 | k->why));
	return hash_add(h, ((uint64_t)k->state << 1 | k->direct));
}

static bool is_same(const struct blame_key *a, const struct blame_key *b)
{
	return a->lock == b->lock && a->stack == b->stack && a->root_lock == b->root_lock &&
	       a->task == b->task && a->got == b->got && a->why == b->why && a->state == b->state &&
	       a->direct == b->direct;
}

/* NULL: there is none, or for a new one no room. Of equal hashes the second is one further. */
static struct blame_cell *find_cell(struct blame *b, const struct blame_key *key, bool make)
{
	uint64_t hash = blame_key_hash(key);
	const uint32_t *at;

	for (; (at = map64_get(&b->index, hash)); hash++)
		if (is_same(&b->cells[*at].key, key))
			return &b->cells[*at];
	if (!make || b->n >= b->max || mem_grow(&b->cells, &b->cap, b->n, sizeof(*b->cells)) < 0 ||
	    map64_put(&b->index, hash, (uint32_t)b->n) < 0)
		return NULL;
	b->cells[b->n] = (struct blame_cell){.key = *key};
	return &b->cells[b->n++];
}

static int compare_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Half of the cells have less; all have, where there is no memory to find that out. */
static uint64_t median_ns(const struct blame *b)
{
	uint64_t *ns = mem_calloc(b->n + 1, sizeof(*ns)), median = UINT64_MAX;

	for (size_t i = 0; ns && i < b->n; i++)
		ns[i] = b->cells[i].ns;
	if (ns) {
		qsort(ns, b->n, sizeof(*ns), compare_ns);
		median = ns[b->n / 2] + 1;
	}
	mem_free(ns);
	return median;
}

static struct blame_key coarse(const struct model *m, const struct blame_key *k)
{
	return (struct blame_key){.lock = fold_coarse_lock(m->locks, k->lock),
				  .root_lock = fold_coarse_lock(m->locks, k->root_lock),
				  .state = k->state,
				  .direct = k->direct};
}

static void add_cell(struct blame_cell *to, const struct blame_cell *c)
{
	to->ns += c->ns;
	to->time_ns += c->time_ns;
	to->cur_ns += c->cur_ns;
	to->cur_time_ns += c->cur_time_ns;
	blame_cost_add(&to->cost, &c->cost);
	blame_cost_add(&to->cur_cost, &c->cur_cost);
	to->last_ns = c->last_ns > to->last_ns ? c->last_ns : to->last_ns;
}

/* Into an empty table, where equal ones become one. Its index; 0 where it has no room. */
static uint32_t put_again(struct blame *b, const struct blame_cell *c)
{
	struct blame_cell *to = find_cell(b, &c->key, true);

	if (to)
		add_cell(to, c);
	else
		b->lost_ns += c->key.state == BLAME_PASSED ? 0 : c->ns;
	return to ? (uint32_t)(to - b->cells) : 0;
}

static void note_touched(struct blame *b)
{
	b->n_touched = 0;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct blame_cell *c = &b->cells[i];
		if ((c->cur_ns || c->cur_time_ns) &&
		    mem_grow(&b->touched, &b->cap_touched, b->n_touched, sizeof(*b->touched)) == 0)
			b->touched[b->n_touched++] = i;
	}
}

/* Builds all cells again, as their keys have changed. */
static void rebuild(struct model *m)
{
	struct blame *b = m->blame;
	struct blame_cell *old = b->cells;
	size_t n = b->n;
	uint32_t *map = b->recent.n ? mem_calloc(n + 1, sizeof(*map)) : NULL;

	b->cells = NULL;
	b->n = b->cap = 0;
	map64_clear(&b->index);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = put_again(b, &old[i]);
		if (map)
			map[i] = at;
	}
	if (b->recent.n)
		recent_remap(&b->recent, map);
	b->folded += n - b->n;
	blame_done_forget(m);
	mem_free(map);
	mem_free(old);
	note_touched(b);
	m->generation++;
}

static void fold(struct model *m)
{
	struct blame *b = m->blame;
	uint64_t median = median_ns(b);

	for (size_t i = 0; i < b->n; i++)
		if (b->cells[i].ns < median)
			b->cells[i].key = coarse(m, &b->cells[i].key);
	rebuild(m);
}

uint32_t blame_charge(struct model *m, const struct blame_key *key, const struct blame_sum *s)
{
	struct blame *b = m->blame;
	struct blame_cell *c = find_cell(b, key, true);

	if (!c && b->n >= b->max) {
		fold(m);
		c = find_cell(b, key, true);
	}
	if (!c) {
		b->lost_ns += key->state == BLAME_PASSED ? 0 : s->ns;
		return BLAME_NO_CELL;
	}
	if (!c->cur_ns && !c->cur_time_ns &&
	    mem_grow(&b->touched, &b->cap_touched, b->n_touched, sizeof(*b->touched)) == 0)
		b->touched[b->n_touched++] = (uint32_t)(c - b->cells);
	c->ns += s->ns;
	c->time_ns += s->time_ns;
	c->cur_ns += s->ns;
	c->cur_time_ns += s->time_ns;
	blame_cost_add(&c->cost, &s->cost);
	blame_cost_add(&c->cur_cost, &s->cost);
	c->last_ns = m->now_ns;
	return (uint32_t)(c - b->cells);
}

static void close_cost(struct blame *b, uint32_t cell, const struct blame_cost *c)
{
	if (c->lost_ns)
		recent_add(&b->recent, RECENT_LOST, cell, c->lost_ns);
	if (!c->par_of_ns)
		return;
	recent_add(&b->recent, RECENT_PAR_OF, cell, c->par_of_ns);
	if (c->par_ns)
		recent_add(&b->recent, RECENT_PAR, cell, c->par_ns);
}

/* The parts of the bucket go into the log. */
void blame_close_bucket(struct model *m, uint64_t time_ns)
{
	struct blame *b = m->blame;

	for (size_t i = 0; i < b->n_touched; i++) {
		struct blame_cell *c = &b->cells[b->touched[i]];
		recent_add(&b->recent, RECENT_WAIT, b->touched[i], c->cur_ns);
		if (c->cur_time_ns)
			recent_add(&b->recent, RECENT_SAMPLE, b->touched[i], c->cur_time_ns);
		close_cost(b, b->touched[i], &c->cur_cost);
		c->cur_ns = c->cur_time_ns = 0;
		c->cur_cost = (struct blame_cost){0};
	}
	b->n_touched = 0;
	if (b->recent.max)
		recent_tick(&b->recent, m->bucket_ns, time_ns);
}

void blame_mark_why(struct model *m, uint32_t state, uint32_t why)
{
	if (state == BLAME_RUNNABLE)
		m->tasks->tasks[why].marked = 1;
	else if (state == BLAME_PASSED)
		m->locks->locks[why].marked = 1;
	else
		m->stacks->stacks[why].marked = 1;
}

void blame_mark_cells(struct model *m)
{
	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_key *k = &m->blame->cells[i].key;
		m->locks->locks[k->lock].marked = 1;
		m->locks->locks[k->root_lock].marked = 1;
		m->stacks->stacks[k->stack].marked = 1;
		m->stacks->stacks[k->got].marked = 1;
		m->tasks->tasks[k->task].marked = 1;
		blame_mark_why(m, k->state, k->why);
	}
}

static bool is_ended(const struct model *m, uint32_t task, uint64_t until_ns)
{
	return task != TASK_OTHER && task_ended_until(&m->tasks->tasks[task], until_ns);
}

void blame_end_tasks(struct model *m, uint64_t until_ns)
{
	struct blame *b = m->blame;
	bool any = false;

	for (size_t i = 0; i < b->n; i++) {
		struct blame_key *k = &b->cells[i].key;
		bool kept_off = k->state == BLAME_RUNNABLE && is_ended(m, k->why, until_ns);
		if (!is_ended(m, k->task, until_ns) && !kept_off)
			continue;
		any = true;
		if (kept_off)
			k->why = 0;
		if (is_ended(m, k->task, until_ns))
			k->task = TASK_OTHER;
	}
	if (any)
		rebuild(m);
}
