// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the profile. Which group a call chain is of follows from its functions, once a chain: a
 * subsystem that it passes counts before a lock, and of several the innermost. Waits are added to
 * the functions that their call chains pass, each once a chain, so that a function shows the
 * waiting below it next to its CPU time.
 *
 * A function has no name until its file is loaded, and a query for the name starts that. Reports,
 * which draw no screen meanwhile, query all names first and wait for them (hot_load_*()): a pass
 * over the functions is cheap compared with adding up their costs.
 */
#include "list.h"

#include "kontend/cell.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/query-recorded.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "names/names.h"
#include "perf/snapshot.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>

const char *hot_no_task(const struct query *q)
{
	const struct profile *p = q->model->profile;

	return p->nameless + p->other ? "[ended or folded]" : "[ended tasks]";
}

bool hot_is_lock_path(enum path_group g)
{
	return g > PATH_IDLE;
}

enum path_group hot_group_of_chain(struct query *q, const uint64_t *frames, uint32_t n)
{
	enum path_group best = PATH_NONE;

	for (uint32_t i = 0; i < n && map_frame_is_kernel(frames[i]); i++) {
		enum path_group g = query_func_group(q, query_func(q, frames[i]));
		if (g >= PATH_PERF)
			return g;
		if (best == PATH_NONE || best == PATH_LOCK)
			best = g != PATH_NONE ? g : best;
	}
	return best;
}

bool hot_is_clock(const struct query *q)
{
	const struct eventlist_event *e = query_recorded_main(q);

	return e && e->is_clock;
}

/*
 * A timer interrupt waits until interrupts are on: if an unlock function enabled them, the sample
 * is of the code before it, which may be one of the callers.
 */
static enum path_group group_of_sample(struct query *q, const uint64_t *frames, uint32_t n)
{
	const char *leaf = n && map_frame_is_kernel(frames[0])
				   ? query_func_name(q, query_func(q, frames[0]))
				   : NULL;

	if (!leaf || !hot_is_clock(q) || !pathgroup_allows_irqs(leaf))
		return hot_group_of_chain(q, frames, n);
	enum path_group g = hot_group_of_chain(q, frames + 1, n - 1);
	return g == PATH_NONE ? PATH_IRQ_OFF : g;
}

static bool groups_are_current(const struct query *q, const struct query_hot_groups *g)
{
	return g->generation == q->model->generation && g->n_loads == q->sym->n_loads &&
	       g->profile_generation == q->model->profile->generation &&
	       g->sym_state == q->sym->state;
}

/* Only of chains that came since: going through all frames of all chains takes longest. */
uint8_t *hot_groups(struct query *q)
{
	const struct stack_table *t = &q->model->profile->stacks;
	struct query_hot_groups *g = &q->cache->hot_groups;

	if (!groups_are_current(q, g)) {
		g->n = 0;
		g->generation = q->model->generation;
		g->profile_generation = q->model->profile->generation;
		g->n_loads = q->sym->n_loads;
		g->sym_state = q->sym->state;
	}
	if (g->cap < t->n) {
		uint8_t *p = mem_resize(g->groups, t->cap, 1);
		if (!p)
			return NULL;
		g->groups = p;
		g->cap = t->cap;
	}
	for (; g->n < t->n; g->n++) {
		const struct stack *s = &t->stacks[g->n];
		g->groups[g->n] = (uint8_t)(s->used ? group_of_sample(q, t->frames + s->first, s->n)
						    : PATH_NONE);
	}
	return g->groups;
}

uint32_t hot_leaf(const struct hot_rows *h, uint32_t stack)
{
	const struct stack_table *t = &h->p->stacks;

	return t->stacks[stack].n ? query_func(h->q, stack_frames(t, stack)[0]) : 0;
}

/* Chains of the same functions are one, wherever in them the calls are. */
static uint64_t chain_key(const struct hot_rows *h, uint32_t stack)
{
	const struct stack_table *t = &h->p->stacks;
	const uint64_t *frames = stack_frames(t, stack);
	uint64_t v = 0;

	for (uint32_t i = 0; i < t->stacks[stack].n; i++) {
		uint32_t func = query_func(h->q, frames[i]); /* may move the table of functions */
		v = hash_u64(v * 31 + h->q->cache->funcs[func].start + 1);
	}
	return v;
}

uint64_t hot_key(const struct hot_rows *h, const struct profile_cell *c, uint32_t func)
{
	const struct task *t = &h->q->model->tasks->tasks[c->task];

	switch (h->by) {
	case HOT_OBJECT:
		return text_hash(hot_object_name(h->q, func));
	case HOT_PROCESS:
		return (uint32_t)t->pid;
	case HOT_TASK:
		return t->serial;
	case HOT_GROUP:
		return h->groups[c->stack];
	case HOT_CPU:
		return c->cpu;
	case HOT_STACK:
		return chain_key(h, c->stack);
	default:
		return h->q->cache->funcs[func].start;
	}
}

enum { FIRST_ROWS = 256 };

static struct hot_row *row_get(struct hot_rows *h, uint64_t key)
{
	const uint32_t *known = map64_get(&h->index, key);
	struct hot_row *r;

	if (known)
		return &h->rows[*known];
	if (h->n == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : h->q->cache->hot_groups.rows + FIRST_ROWS;
		r = arena_alloc(&h->q->arena, cap * sizeof(*r));
		if (!r)
			return NULL;
		if (h->n)
			memcpy(r, h->rows, h->n * sizeof(*r));
		h->rows = r;
		h->cap = cap;
	}
	if (map64_put(&h->index, key, (uint32_t)h->n))
		return NULL;
	r = &h->rows[h->n++];
	*r = (struct hot_row){.id = hot_id(key), .key = key};
	return r;
}

static uint64_t plain_weight(const struct hot_rows *h, const struct profile_cell *c)
{
	return h->p->period ? c->period : c->n;
}

/* Of each event, on all its PMUs, in the order of the recording. */
static void sum_events(struct hot_rows *h)
{
	const struct eventlist *l = &h->q->engine->events;
	struct hot_events *e = &h->events;
	uint64_t left = query_recorded_shown(h->q);

	for (size_t i = 0; i < l->n && i < EVENTLIST_MOST; i++) {
		uint64_t same = left >> i & 1 ? eventlist_same(l, i) & left : 0;
		if (!same || !h->p->of_event[i])
			continue;
		for (unsigned k = 0; k < EVENTLIST_MOST; k++)
			if (same >> k & 1)
				e->slots[k] = (uint8_t)e->n_slots;
		if (e->n_slots < HOT_EVENTS)
			e->names[e->n++] = l->events[i].name;
		e->n_slots++;
		left &= ~same;
	}
	for (size_t i = 0; e->n_slots > 1 && i < h->p->n; i++)
		if (hot_zoom_sample(h, &h->p->cells[i]))
			e->total[e->slots[h->p->cells[i].event]] +=
				plain_weight(h, &h->p->cells[i]);
}

/* Weights of several events are in parts of 2^40 of all that the event has. */
static uint64_t weight_of(const struct hot_rows *h, const struct profile_cell *c)
{
	const struct hot_events *e = &h->events;
	uint64_t weight = plain_weight(h, c), all = e->total[e->slots[c->event]];

	if (e->n_slots < 2 || !all)
		return weight;
	return (uint64_t)((double)weight / (double)all * (double)(UINT64_C(1) << 40));
}

static int add_cell(struct hot_rows *h, const struct profile_cell *c)
{
	uint64_t weight = weight_of(h, c);
	unsigned slot = h->events.slots[c->event];
	enum path_group g = (enum path_group)h->groups[c->stack];

	if (!hot_zoom_sample(h, c))
		return 0;
	h->samples += c->n;
	h->weight += weight;
	if (h->locks && !hot_is_lock_path(g))
		return 0;
	uint32_t func = hot_leaf(h, c->stack);
	struct hot_row *r = row_get(h, hot_key(h, c, func));
	if (!r)
		return -ENOMEM;
	if (!r->n) {
		r->first = *c;
		r->func = func;
	}
	r->n += c->n;
	r->weight += weight;
	if (slot < HOT_EVENTS)
		r->of_event[slot] += weight;
	r->groups[g] += c->n;
	return 0;
}

/* Sum of waits by call chain, in the arena. */
static uint64_t *waits_by_stack(struct hot_rows *h)
{
	const struct model *m = h->q->model;
	const struct cell_table *t = query_cells(h->q);
	uint64_t *ns = arena_alloc(&h->q->arena, (m->stacks->n + 1) * sizeof(*ns));

	for (size_t i = 0; ns && i < t->n; i++) {
		const struct query_where w = query_cell_where(&t->cells[i]);
		if (!hot_zoom_wait(h->q, h->zoom, &w))
			continue;
		ns[t->cells[i].stack] += t->cells[i].total_ns;
		h->wait_ns += t->cells[i].total_ns;
	}
	return ns;
}

static void add_waits_of(struct hot_rows *h, uint32_t stack, uint64_t ns, uint64_t *seen)
{
	uint32_t n;
	const uint64_t *frames = query_wait_frames(h->q, stack, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t func = query_func(h->q, frames[i]);
		const uint32_t *row = map64_get(&h->index, h->q->cache->funcs[func].start);
		if (!row || seen[*row] == stack)
			continue;
		seen[*row] = stack;
		h->rows[*row].wait_ns += ns;
	}
}

static int add_waits(struct hot_rows *h)
{
	uint64_t *ns = waits_by_stack(h);
	uint64_t *seen = arena_alloc(&h->q->arena, (h->n + 1) * sizeof(*seen));

	if (!ns || !seen)
		return -ENOMEM;
	for (uint32_t i = 1; h->by == HOT_SYMBOL && i < h->q->model->stacks->n; i++)
		if (ns[i])
			add_waits_of(h, i, ns[i], seen);
	return 0;
}

static int sum(struct hot_rows *h)
{
	sum_events(h);
	for (size_t i = 0; i < h->p->n; i++)
		if (add_cell(h, &h->p->cells[i]))
			return -ENOMEM;
	return add_waits(h);
}

int hot_sum(struct hot_rows *h)
{
	int r;

	h->p = query_profile(h->q);
	h->groups = hot_groups(h->q);
	r = h->groups ? sum(h) : -ENOMEM;
	map64_deinit(&h->index);
	/* Doubled arrays stay in the arena until the frame ends. */
	h->q->cache->hot_groups.rows = h->n;
	return h->q->cache->failed ? -ENOMEM : r;
}

bool query_hot_is_short(const struct query_hot_sum *s)
{
	return s->running_pct < 99.5;
}

int hot_find_share(struct query *q, const struct eventlist_event *d, struct query_hot_sum *s)
{
	struct query_perf p;
	uint64_t enabled = 0, running = 0;
	int r = query_perf(q, QUERY_PERF_EVENTS, &p);

	s->running_pct = NAN;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i < p.snap->n_events; i++) {
		const struct snap_event *e = &p.snap->events[i];

		if (!(e->flags & SNAP_OWN) || e->type != d->type || e->config != d->config)
			continue;
		enabled += e->enabled_ns;
		running += e->running_ns;
	}
	if (enabled && running <= enabled)
		s->running_pct = 100.0 * (double)running / (double)enabled;
	return 0;
}

static void query_chain_names(struct query *q, const struct stack_table *t)
{
	uint32_t funcs[2 * STACK_MAX_FRAMES];

	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used)
			query_chain_funcs(q, stack_frames(t, i), t->stacks[i].n, funcs,
					  2 * STACK_MAX_FRAMES);
}

static void query_leaf_names(struct query *q, const struct stack_table *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used && t->stacks[i].n)
			query_func(q, stack_frames(t, i)[0]);
}

int hot_load_leaves(struct query *q)
{
	do {
		if (query_sync(q) < 0)
			return -ENOMEM;
		query_leaf_names(q, &q->model->profile->stacks);
		if (q->cache->failed)
			return -ENOMEM;
	} while (query_load_wait(q, QUERY_WAIT_NS));
	return query_sync(q);
}

int hot_load_chains(struct query *q)
{
	do {
		if (query_sync(q) < 0)
			return -ENOMEM;
		query_chain_names(q, &q->model->profile->stacks);
		query_chain_names(q, q->model->stacks);
		if (q->cache->failed)
			return -ENOMEM;
	} while (query_load_wait(q, QUERY_WAIT_NS));
	return query_sync(q);
}
