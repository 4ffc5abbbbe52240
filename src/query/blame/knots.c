// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes that would help most. Knots are strongly connected components of the wait-for graph
 * (knots-graph.c) with few edges that lead out: a bottleneck that waits a little for others itself
 * is one all the same. The model's blame, not the graph, says how strong a knot is: the sum of time
 * charged to its tasks as roots, moment by moment. It is a bound and no promise: a task that need
 * not wait here may wait elsewhere then.
 */
#include "knots.h"
#include "../locks/queues.h"
#include "kontend/lock.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct component {
	uint32_t tasks, nodes, locks; /* nodes: of tasks */
	bool blocks;
	uint64_t out_ns; /* waited, along edges to other components */
	uint64_t open_ns;
	struct blame_group g; /* what is charged to its tasks; id: its own number + 1 */
};

struct search {
	struct query *q;
	struct query_blame_cells cells;
	struct knots_graph graph;
	struct blame_rows rows;
	uint32_t *of; /* component of a node */
	struct component *components;
	size_t n;
};

static bool is_knot(const struct component *c)
{
	return c->blocks && c->g.ns && c->out_ns <= c->g.ns / QUERY_KNOTS_OUT_PART;
}

static int find_components(struct search *s)
{
	const struct knots_graph *g = &s->graph;
	struct arena *a = &s->q->arena;

	s->of = arena_alloc(a, (g->n_nodes + 1) * sizeof(*s->of));
	if (!s->of)
		return -ENOMEM;
	int64_t n = scc_find((uint32_t)g->n_nodes, g->edges, g->n_edges, s->of);
	s->components = n < 0 ? NULL : arena_alloc(a, ((size_t)n + 1) * sizeof(*s->components));
	if (!s->components)
		return -ENOMEM;
	s->n = (size_t)n;
	for (size_t i = 0; i < g->n_nodes; i++) {
		struct component *c = &s->components[s->of[i]];
		c->g.id = s->of[i] + 1u;
		c->tasks += g->nodes[i].tasks;
		c->nodes += g->nodes[i].tasks != 0;
		c->locks += g->nodes[i].tasks == 0;
		c->blocks |= g->nodes[i].blocks;
	}
	for (size_t i = 0; i < g->n_edges; i++)
		if (s->of[g->edges[i].from] != s->of[g->edges[i].to])
			s->components[s->of[g->edges[i].from]].out_ns += g->edges[i].weight;
	return 0;
}

/* Each nanosecond goes to the component of its root. */
static void charge(struct search *s)
{
	for (uint32_t i = 0; i < s->cells.n; i++) {
		const struct blame_cell *c = &s->cells.v[i];
		uint32_t node = c->key.task < s->q->model->tasks->n && c->key.task != TASK_OTHER
					? s->graph.task_node[c->key.task]
					: 0;
		if (!node || c->key.state == BLAME_PASSED || !c->ns)
			continue;
		struct blame_group *g = &s->components[s->of[node - 1]].g;
		g->ns += c->ns;
		g->state_ns[c->key.state] += c->ns;
		s->rows.next[i] = g->cells;
		g->first = i;
		g->cells = i + 1;
		s->graph.nodes[node - 1].ns += c->ns;
	}
}

/* A component whose tasks had a lock. */
static uint64_t pair_of(const struct search *s, const struct blame_cell *c)
{
	const struct knots_graph *g = &s->graph;
	uint32_t task = query_blame_who(s->q, c) == BLAME_TASK ? g->task_node[c->key.task] : 0;
	uint32_t lock = knots_lock_node(g, c->key.root_lock);

	return task && lock ? (uint64_t)s->of[task - 1] << 32 | (lock - 1) : UINT64_MAX;
}

/*
 * Time without a known holder goes, as a bound, to all tasks that are known to have had that lock.
 */
static int charge_open(struct search *s)
{
	struct blame_weight *pairs = s->rows.room;
	uint64_t *open = arena_alloc(&s->q->arena, (s->graph.n_nodes + 1) * sizeof(*open));
	size_t n = 0;

	for (size_t i = 0; open && i < s->cells.n; i++) {
		const struct blame_cell *c = &s->cells.v[i];
		uint32_t lock = knots_lock_node(&s->graph, c->key.root_lock);
		if (lock && c->key.state != BLAME_PASSED && query_blame_who(s->q, c) != BLAME_TASK)
			open[lock - 1] += c->ns;
		pairs[n].key = pair_of(s, c);
		n += c->ns && pairs[n].key != UINT64_MAX;
	}
	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct blame_weight){.key = pairs[i].key};
	blame_weights_sort(pairs, n);
	for (size_t i = 0; open && i < n; i++)
		if (!i || pairs[i].key != pairs[i - 1].key)
			s->components[pairs[i].key >> 32].open_ns += open[(uint32_t)pairs[i].key];
	return open ? 0 : -ENOMEM;
}

static uint64_t root_of(struct blame_rows *b, const struct blame_cell *c)
{
	const struct lock *l = &b->q->model->locks->locks[c->key.root_lock];

	return l->twin && l->twin < c->key.root_lock ? l->twin : c->key.root_lock;
}

/* The function that got the lock named by the knot. */
static uint64_t got_in(struct blame_rows *b, const struct blame_cell *c)
{
	return c->key.got == STACK_OTHER || root_of(b, c) != b->lock ? UINT64_MAX : c->key.got;
}

static uint64_t caller_of(struct blame_rows *b, const struct blame_cell *c)
{
	uint32_t func = root_of(b, c) == b->lock ? query_got_in(b->q, &c->key) : 0;

	return func ? func : UINT64_MAX;
}

static void fill_lock(struct search *s, const struct blame_group *g, struct query_knot *k)
{
	struct query *q = s->q;
	struct blame_heaviest h;

	if (!blame_heaviest(&s->rows, g, root_of, &h))
		return;
	const uint32_t lock = s->rows.lock = (uint32_t)h.key;
	const struct lock *l = &q->model->locks->locks[s->cells.v[h.cell].key.root_lock];
	const struct query_where w = {.lock = s->cells.v[h.cell].key.root_lock};
	k->lock = query_lock_name(q, lock);
	k->kind = locktype_name((enum lock_type)l->type);
	k->many_locks = h.many;
	k->addr = lock >= LOCK_TYPES ? l->addr : 0;
	k->lock_id = lock >= LOCK_TYPES ? query_id(q, BY_LOCK, &w) : 0;
}

static void fill_got(struct search *s, const struct blame_group *g, struct query_knot *k)
{
	struct blame_heaviest h;

	if (blame_heaviest(&s->rows, g, got_in, &h))
		k->stack = query_chain(s->q, (uint32_t)h.key);
	if (blame_heaviest(&s->rows, g, caller_of, &h))
		k->caller = query_func_name(s->q, (uint32_t)h.key);
}

static void fill_mostly(struct search *s, const struct blame_group *g, struct query_knot *k)
{
	struct blame_mostly m;

	blame_mostly(&s->rows, g, &m);
	k->mostly = blame_mostly_text(s->q, &m);
	k->mostly_state = blame_state_name(m.state);
	k->mostly_pct = m.pct;
	k->mostly_who = m.who;
	k->mostly_in = m.in;
	k->mostly_what = m.what;
}

/* The nodes of the component, the one with the largest charge first. */
static uint32_t next_node(const struct search *s, uint64_t component, const uint32_t *reported,
			  size_t n_reported)
{
	const struct knots_node *nodes = s->graph.nodes;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < s->graph.n_nodes; i++) {
		bool known = false;
		for (size_t k = 0; k < n_reported; k++)
			known |= reported[k] == i;
		if (known || !nodes[i].tasks || s->of[i] + 1u != component)
			continue;
		if (best == UINT32_MAX || nodes[i].ns > nodes[best].ns)
			best = i;
	}
	return best;
}

static const char *node_name(struct query *q, const struct knots_node *n)
{
	const char *comm = query_task_comm(q, n->first);
	const struct task *t = &q->model->tasks->tasks[n->first];

	if (n->tasks == 1)
		return query_task_name(q, n->first);
	comm = comm && *comm ? comm : "[unknown]";
	if (n->name == KNOTS_PROCESS)
		return arena_printf(&q->arena, "%u threads %s of %d", n->tasks, comm,
				    taskid_number(t->pid));
	return arena_printf(&q->arena, "%u tasks %s", n->tasks, comm);
}

static void fill_names(struct search *s, const struct component *c, struct query_knot *k)
{
	uint32_t reported[QUERY_KNOT_NAMES], tasks = 0;
	const char *who = "";

	while (k->n_names < QUERY_KNOT_NAMES && k->n_names < c->nodes) {
		uint32_t node = next_node(s, c->g.id, reported, k->n_names);
		reported[k->n_names] = node;
		tasks += s->graph.nodes[node].tasks;
		const char *name = node_name(s->q, &s->graph.nodes[node]);
		who = arena_printf(&s->q->arena, "%s%s%s", who, *who ? ", " : "", name ? name : "");
		k->names[k->n_names++] = name;
		if (!who)
			return;
	}
	k->who = tasks < c->tasks
			 ? arena_printf(&s->q->arena, "%s and %u more", who, c->tasks - tasks)
			 : who;
}

static void fill(struct search *s, const struct component *c, struct query_knot *k)
{
	*k = (struct query_knot){
		.waited_ns = c->g.ns,
		.open_ns = c->open_ns,
		.waited_pct = 100 * (double)c->g.ns / (double)s->graph.all_ns,
		.at_most_pct = 100 * (double)(c->g.ns + c->open_ns) / (double)s->graph.all_ns,
		.tasks = c->tasks,
		.circle = c->tasks > 1 && c->locks,
	};
	fill_names(s, c, k);
	fill_lock(s, &c->g, k);
	fill_got(s, &c->g, k);
	fill_mostly(s, &c->g, k);
	s->q->cache->failed |= !k->who || !k->mostly;
}

static int by_strength(const void *a, const void *b)
{
	const struct component *x = a, *y = b;

	if (is_knot(x) != is_knot(y))
		return is_knot(x) ? -1 : 1;
	if (x->g.ns != y->g.ns)
		return x->g.ns > y->g.ns ? -1 : 1;
	return x->g.id < y->g.id ? -1 : x->g.id > y->g.id;
}

static int pick(struct search *s, size_t most, struct query_knots *ret)
{
	qsort(s->components, s->n, sizeof(*s->components), by_strength);
	while (ret->found < s->n && is_knot(&s->components[ret->found]))
		ret->found++;
	ret->n = ret->found < most ? ret->found : most;
	ret->knots = arena_alloc(&s->q->arena, (ret->n + 1) * sizeof(*ret->knots));
	for (size_t i = 0; ret->knots && i < ret->n; i++)
		fill(s, &s->components[i], &ret->knots[i]);
	return ret->knots ? 0 : -ENOMEM;
}

static int sum_up(struct search *s, struct query_knots *ret)
{
	struct arena *a = &s->q->arena;
	int r = query_blame_cells(s->q, &s->cells);

	if (r < 0)
		return r;
	ret->unknown_ns = ret->waited_ns = s->cells.lost_ns;
	for (size_t i = 0; i < s->cells.n; i++) {
		const struct blame_cell *c = &s->cells.v[i];
		uint64_t ns = c->key.state == BLAME_PASSED ? 0 : c->ns;
		ret->waited_ns += ns;
		ret->unknown_ns += query_blame_who(s->q, c) == BLAME_TASK ? 0 : ns;
	}
	s->rows = (struct blame_rows){.q = s->q, .by = BLAME_BY_TASK, .cells = s->cells};
	s->rows.next = arena_alloc(a, (s->cells.n + 1) * sizeof(*s->rows.next));
	s->rows.room = arena_alloc(a, (s->cells.n + 1) * sizeof(*s->rows.room));
	s->graph = (struct knots_graph){.q = s->q, .cells = &s->cells, .all_ns = ret->waited_ns};
	return s->rows.next && s->rows.room ? knots_graph(&s->graph) : -ENOMEM;
}

int query_knots(struct query *q, size_t most, struct query_knots *ret)
{
	struct search s = {.q = q};
	int r = query_sync(q);

	*ret = (struct query_knots){.refused = query_blame_why_not(q)};
	if (r < 0 || ret->refused)
		return r;
	r = sum_up(&s, ret);
	if (r == 0)
		r = find_components(&s);
	if (r < 0)
		return r;
	charge(&s);
	r = charge_open(&s);
	if (r < 0)
		return r;
	ret->nodes = s.graph.n_nodes;
	ret->edges = s.graph.all_edges;
	ret->weak_edges = s.graph.all_edges - s.graph.n_edges;
	ret->weak_ns = s.graph.weak_ns;
	ret->merged = s.graph.merged;
	r = pick(&s, most, ret);
	return r < 0 || q->cache->failed ? -ENOMEM : 0;
}

const char *query_knots_sentence(struct query *q, const struct query_knot *k)
{
	char most[UNITS_BUF], pct[UNITS_BUF], known[UNITS_BUF + 16] = "";

	if (k->at_most_pct - k->waited_pct >= 0.1)
		snprintf(known, sizeof(known), " (%s%% known)", units_pct(pct, k->waited_pct));
	return arena_printf(&q->arena, "at most %s%%%s of the waiting ends with %s%s: %s%s%s%s, %s",
			    units_pct(most, k->at_most_pct), known, k->who,
			    k->circle ? ", who wait for each other" : "",
			    k->many_locks ? "most for " : "", k->lock ? k->lock : "a lock",
			    k->caller ? ", got in " : "", k->caller ? k->caller : "", k->mostly);
}
