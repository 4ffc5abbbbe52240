// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums cells and waits in flight up into groups, by any dimension. A group's id is made of the
 * thing it represents (address and type, thread and serial, chain), never of an index, since
 * folding changes the model's indices and the selection on a screen must survive that. Every group
 * keeps the lists of its cells and waits: figures that cost more than an addition (histogram,
 * hottest caller, number of locks) are worked out from them for the rows that are really shown.
 */
#include "internal.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/hash.h"
#include "kontend/hist.h"
#include "kontend/lock.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "mmap/list.h"

#include <errno.h>
#include <string.h>

/* A caller's id, as lock_key() makes a lock's: the top byte of a kernel address is all ones. */
static uint64_t caller_id(struct query *q, uint32_t stack, enum lock_type type)
{
	/* First: it may move the array. */
	uint32_t func = query_caller(q, stack);

	return lock_key(q->cache->funcs[func].start, type);
}

static uint64_t task_id(const struct task *t, uint32_t index)
{
	return index == TASK_OTHER ? 0 : (uint64_t)t->serial << 32 | (uint32_t)t->tid;
}

/* Hints apart from what is sure. */
static uint64_t owner_id(const struct model *m, uint32_t owner)
{
	return task_id(&m->tasks->tasks[cell_owner_task(owner)], cell_owner_task(owner)) << 1 |
	       (owner & OWNER_HINT ? 1 : 0);
}

uint64_t query_id(struct query *q, enum query_by by, const struct query_where *w)
{
	const struct model *m = q->model;
	const struct lock *l = &m->locks->locks[w->lock];
	const struct task *t = &m->tasks->tasks[w->task];

	switch (by) {
	case BY_LOCK:
		return l->id;
	case BY_CALLER:
		return caller_id(q, w->stack, (enum lock_type)l->type);
	case BY_TASK:
		return task_id(t, w->task);
	case BY_PROCESS:
		return w->task == TASK_OTHER ? UINT64_MAX : (uint32_t)t->pid;
	case BY_TYPE:
		return l->type;
	case BY_CPU:
		return w->cpu;
	case BY_CGROUP:
		return t->cgroup;
	case BY_OWNER:
		return owner_id(m, w->owner);
	case BY_STACK:
		return m->stacks->stacks[w->stack].hash;
	case BY_SYSCALL:
		return query_origin(q, w->stack)->syscall_id;
	case BY_AT:
		return query_origin(q, w->stack)->at_id;
	case BY_MMAP:
	case BY_MMAP_MEMCG:
		return query_mmap_id(q, by, w->lock);
	default:
		return 0;
	}
}

bool query_in_scope(struct query *q, const struct query_scope *s, const struct query_where *w)
{
	if (!s || !s->mask)
		return true;
	for (int by = 0; by < QUERY_SCOPES; by++)
		if (s->mask & 1u << by && query_id(q, (enum query_by)by, w) != s->id[by])
			return false;
	return true;
}

static bool grow_slots(struct groups *gs)
{
	size_t size = gs->slots ? (gs->mask + 1) * 4 : 256;
	uint32_t *slots = arena_alloc(gs->arena, size * sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < gs->n; i++) {
		size_t k = hash_u64(gs->g[i].id) & (size - 1);
		while (slots[k])
			k = (k + 1) & (size - 1);
		slots[k] = (uint32_t)i + 1;
	}
	gs->slots = slots;
	gs->mask = size - 1;
	return true;
}

static struct group *group_new(struct query *q, struct groups *gs, size_t slot, uint64_t id,
			       const struct query_where *w)
{
	struct group *g;

	if (arena_grow(gs->arena, &gs->g, &gs->cap, gs->n, sizeof(*gs->g)))
		return NULL;
	g = &gs->g[gs->n++];
	gs->slots[slot] = (uint32_t)gs->n;
	*g = (struct group){.id = id, .min_ns = UINT64_MAX, .first = *w};
	g->type = q->model->locks->locks[w->lock].type;
	g->func = query_caller(q, w->stack);
	return g;
}

/* The slot of the group, or the free one where it belongs. */
static size_t slot_of(const struct groups *gs, uint64_t id)
{
	size_t k = hash_u64(id) & gs->mask;

	while (gs->slots[k] && gs->g[gs->slots[k] - 1].id != id)
		k = (k + 1) & gs->mask;
	return k;
}

const struct group *query_group_find(const struct groups *gs, uint64_t id)
{
	uint32_t at = gs->slots ? gs->slots[slot_of(gs, id)] : 0;

	return at ? &gs->g[at - 1] : NULL;
}

static struct group *group_get(struct query *q, struct groups *gs, uint64_t id,
			       const struct query_where *w)
{
	if ((!gs->slots || gs->n * 2 > gs->mask) && !grow_slots(gs))
		return NULL;
	size_t k = slot_of(gs, id);
	return gs->slots[k] ? &gs->g[gs->slots[k] - 1] : group_new(q, gs, k, id, w);
}

/* Notes in which dimensions the group spans more than one thing. */
static void group_widen(struct query *q, struct group *g, const struct query_where *w)
{
	enum lock_type type = (enum lock_type)q->model->locks->locks[w->lock].type;

	if (w->lock != g->first.lock)
		g->many_locks = true;
	if (type != g->type) {
		g->many_types = true;
		if (strcmp(locktype_base(type), locktype_base((enum lock_type)g->type)) != 0)
			g->many_bases = true;
	}
	if (w->stack != g->first.stack && query_caller(q, w->stack) != g->func)
		g->many_callers = true;
}

static bool where_is_valid(const struct model *m, const struct query_where *w)
{
	return w->lock < m->locks->n && w->stack < m->stacks->n && w->task < m->tasks->n &&
	       cell_owner_task(w->owner) < m->tasks->n;
}

static struct group *group_of(struct query *q, struct groups *gs, enum query_by by,
			      const struct query_where *w)
{
	struct group *g = group_get(q, gs, query_id(q, by, w), w);

	if (g)
		group_widen(q, g, w);
	return g;
}

/* The kernel reports which part of a wait spins for these types only. */
static bool reports_spins(enum lock_type type)
{
	return type == LOCK_MUTEX || locktype_is_spin(type);
}

bool query_cell_spun(const struct query *q, const struct cell *c, const struct cell_sums *s,
		     uint64_t *ret)
{
	enum lock_type type = (enum lock_type)q->model->locks->locks[c->lock].type;

	*ret = 0;
	if (type == LOCK_MUTEX)
		*ret = s->spun_ns;
	else if (reports_spins(type))
		*ret = query_has_window(q) ? c->rate_wait_ns : s->waited_ns;
	return reports_spins(type);
}

static void group_add_spins(const struct query *q, struct group *g, const struct cell *c,
			    const struct cell_sums *s)
{
	uint64_t ns;

	if (!query_cell_spun(q, c, s, &ns))
		return;
	g->is_split = true;
	g->unsplit |= c->unsplit;
	g->spun_ns += ns;
}

static void group_add_lost(struct group *g, const struct cell *c, const struct cell_sums *s)
{
	g->lost_ns += s->lost_ns;
	g->is_lost |= s->lost_ns || (!c->unlost && (s->n || s->failed));
	g->unlost |= c->unlost;
	g->par_ns += s->par_ns;
	g->par_of_ns += s->par_of_ns;
}

static void group_add_cell(struct group *g, const struct cell *c, const struct cell_sums *s)
{
	g->n += s->n;
	g->total_ns += c->total_ns;
	g->waited_ns += s->waited_ns;
	g->rate_n += s->rate_n;
	g->rate_wait_ns += c->rate_wait_ns;
	g->failed += s->failed;
	g->has_shorts |= s->n && c->cpu == CELL_NO_CPU;
	if (s->n == 0)
		return;
	g->min_ns = s->min_ns < g->min_ns ? s->min_ns : g->min_ns;
	g->max_ns = s->max_ns > g->max_ns ? s->max_ns : g->max_ns;
	g->last_ns = c->last_ns > g->last_ns ? c->last_ns : g->last_ns;
}

/* A cell that nothing has come to since the aggregates were zeroed makes no row. */
static bool cell_is_empty(const struct cell *c, const struct cell_sums *s)
{
	return !s->n && !s->failed && !s->rate_n && !c->rate_wait_ns;
}

static int group_cells(struct query *q, enum query_by by, const struct query_scope *scope,
		       struct groups *gs)
{
	const struct cell_table *t = query_cells(q);

	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		const struct cell_sums sums = cell_sums(t, c);
		struct query_where w = query_cell_where(c);
		struct group *g;

		if (cell_is_empty(c, &sums) || !where_is_valid(q->model, &w) ||
		    !query_in_scope(q, scope, &w))
			continue;
		g = group_of(q, gs, by, &w);
		if (!g)
			return -ENOMEM;
		group_add_cell(g, c, &sums);
		group_add_spins(q, g, c, &sums);
		group_add_lost(g, c, &sums);
		gs->cell_next[i] = g->cells;
		g->cells = (uint32_t)i + 1;
	}
	return 0;
}

/* Waits that are left out make no row, but say of one that there is that it is not all. */
static void group_doubts(struct query *q, enum query_by by, const struct query_scope *scope,
			 struct groups *gs)
{
	const struct cell_table *t = query_cells(q);

	for (size_t i = 0; gs->n && i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		struct query_where w = query_cell_where(c);
		if (!c->doubt || !where_is_valid(q->model, &w) || !query_in_scope(q, scope, &w))
			continue;
		uint32_t known = gs->slots[slot_of(gs, query_id(q, by, &w))];
		if (!known)
			continue;
		gs->g[known - 1].at_least = true;
		gs->g[known - 1].at_least_now |= c->doubt_closed;
	}
}

bool query_wait_spun(const struct model *m, const struct wait *w, uint64_t *ret)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;

	*ret = 0;
	if (type == LOCK_MUTEX)
		*ret = wait_spun_ns(w, query_from(m), m->now_ns);
	else if (reports_spins(type))
		*ret = query_wait_within_ns(m, w);
	return reports_spins(type);
}

/* Without a window, which ends with the last tick. */
static void group_add_spinning(const struct model *m, struct group *g, const struct wait *wait)
{
	uint64_t ns;

	if (!query_wait_spun(m, wait, &ns))
		return;
	g->is_split = true;
	g->unsplit |= m->locks->locks[wait->lock].type == LOCK_MUTEX && !wait->is_split;
	g->spun_ns += ns;
}

/* The time that it has lost until the last tick, which a window has in cells. */
static void group_add_losing(struct group *g, const struct wait *wait, bool windowed)
{
	g->is_lost |= wait->idle_ns != 0;
	g->unlost |= !wait->idle_ns;
	g->lost_ns += windowed ? 0 : wait->lost_ns;
}

static void group_add_wait(const struct model *m, struct group *g, const struct wait *wait)
{
	uint64_t ns = query_wait_ns(m, wait);

	g->n_inflight++;
	g->inflight_ns += ns;
	g->longest_ns = ns > g->longest_ns ? ns : g->longest_ns;
	g->waited_ns += query_wait_within_ns(m, wait);
}

static int group_waits(struct query *q, enum query_by by, const struct query_scope *scope,
		       struct groups *gs)
{
	const struct wait_pool *p = q->model->waits;

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *wait = &p->waits[i];
		struct query_where w = query_wait_where(wait);
		struct group *g;

		if (!wait->used || !where_is_valid(q->model, &w) || !query_in_scope(q, scope, &w))
			continue;
		if (wait->no_cpu && by == BY_CPU)
			continue;
		g = group_of(q, gs, by, &w);
		if (!g)
			return -ENOMEM;
		g->waiting++;
		g->at_least |= wait->doubtful;
		g->at_least_now |= wait->doubtful;
		if (!wait->doubtful)
			group_add_wait(q->model, g, wait);
		if (!wait->doubtful && !query_has_window(q))
			group_add_spinning(q->model, g, wait);
		if (!wait->doubtful)
			group_add_losing(g, wait, query_has_window(q));
		gs->wait_next[i] = g->waits;
		g->waits = i + 1;
	}
	return 0;
}

int query_group_in(struct query *q, enum query_by by, const struct query_scope *scope,
		   struct arena *arena, struct groups *ret)
{
	const struct model *m = q->model;
	struct groups gs = {.arena = arena};
	int r;

	gs.cell_next = arena_alloc(gs.arena, (query_cells(q)->n + 1) * sizeof(uint32_t));
	gs.wait_next = arena_alloc(gs.arena, ((size_t)m->waits->high + 1) * sizeof(uint32_t));
	if (!gs.cell_next || !gs.wait_next)
		return -ENOMEM;
	r = group_cells(q, by, scope, &gs);
	if (r == 0)
		r = group_waits(q, by, scope, &gs);
	if (r == 0 &&
	    q->model->damage->doubtful + q->model->damage->unmatched_begin + q->model->n_at_least)
		group_doubts(q, by, scope, &gs);
	if (r == 0 && q->cache->failed)
		r = -ENOMEM;
	if (r == 0)
		*ret = gs;
	return r;
}

int query_group(struct query *q, enum query_by by, const struct query_scope *scope,
		struct groups *ret)
{
	return query_group_in(q, by, scope, &q->arena, ret);
}

void query_group_hist(struct query *q, const struct groups *gs, const struct group *g,
		      struct hist *ret)
{
	const struct cell_table *t = query_cells(q);

	*ret = (struct hist){0};
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		cell_hist(t, &t->cells[i - 1], ret);
}

struct group_times query_group_times(const struct group *g, bool ended)
{
	struct group_times t = {.n = g->n, .total_ns = g->total_ns, .max_ns = g->max_ns};

	if (ended || !g->n_inflight)
		return t;
	t.n += g->n_inflight;
	t.total_ns += g->inflight_ns;
	t.at_least = true;
	t.max_at_least = g->longest_ns > t.max_ns;
	t.max_ns = t.max_at_least ? g->longest_ns : t.max_ns;
	return t;
}

void query_group_inflight(struct query *q, const struct groups *gs, const struct group *g,
			  struct hist *h)
{
	const struct wait *waits = q->model->waits->waits;

	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1])
		if (!waits[i - 1].doubtful)
			hist_count(h, query_wait_ns(q->model, &waits[i - 1]));
}

void query_heat(struct query *q, uint32_t *best, uint32_t stack, uint64_t ns)
{
	uint32_t func = query_caller(q, stack);
	struct query_func *f = &q->cache->funcs[func];
	const struct query_func *b;

	if (!func)
		return;
	if (f->stamp != q->cache->stamp)
		f->sum = 0;
	f->stamp = q->cache->stamp;
	f->sum += ns + 1;
	b = &q->cache->funcs[*best];
	if (!*best || f->sum > b->sum || (f->sum == b->sum && f->start < b->start))
		*best = func;
}

uint32_t query_group_caller(struct query *q, const struct groups *gs, struct group *g)
{
	const struct cell *cells = query_cells(q)->cells;
	const struct model *m = q->model;
	uint32_t best = 0;

	if (!g->many_callers)
		return g->func;
	if (g->hottest)
		return g->hottest - 1;
	q->cache->stamp++;
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		query_heat(q, &best, cells[i - 1].stack, cells[i - 1].total_ns);
	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1])
		query_heat(q, &best, m->waits->waits[i - 1].stack,
			   query_wait_ns(m, &m->waits->waits[i - 1]));
	g->hottest = q->cache->failed ? 0 : best + 1;
	return best;
}

/* One more of its waits, or cells. The worst is the lock that was waited for most. */
static void see_lock(struct groups *gs, struct group *g, uint32_t lock, uint64_t ns)
{
	struct lock_seen *seen = &gs->lock_seen[lock];
	const struct lock_seen *worst = &gs->lock_seen[g->worst_lock];

	if (seen->stamp != gs->stamp) {
		*seen = (struct lock_seen){.stamp = gs->stamp};
		g->n_locks++;
	}
	seen->ns += ns;
	if (worst->stamp != gs->stamp || seen->ns > worst->ns)
		g->worst_lock = lock;
}

/* False: no memory. */
static bool see_locks(struct query *q, struct groups *gs, struct group *g)
{
	const struct cell *cells = query_cells(q)->cells;
	const struct model *m = q->model;

	if (!gs->lock_seen)
		gs->lock_seen = arena_alloc(&q->arena, m->locks->n * sizeof(*gs->lock_seen));
	if (!gs->lock_seen)
		return false;
	gs->stamp++;
	g->worst_lock = g->first.lock;
	for (uint32_t i = g->cells; i; i = gs->cell_next[i - 1])
		see_lock(gs, g, cells[i - 1].lock, cells[i - 1].total_ns);
	for (uint32_t i = g->waits; i; i = gs->wait_next[i - 1])
		see_lock(gs, g, m->waits->waits[i - 1].lock,
			 query_wait_ns(m, &m->waits->waits[i - 1]));
	return true;
}

size_t query_group_locks(struct query *q, struct groups *gs, struct group *g)
{
	if (!g->many_locks)
		return 1;
	if (!g->n_locks && !see_locks(q, gs, g))
		q->cache->failed = true;
	return g->n_locks;
}

uint32_t query_group_worst_lock(struct query *q, struct groups *gs, struct group *g)
{
	return query_group_locks(q, gs, g) > 1 ? g->worst_lock : g->first.lock;
}
