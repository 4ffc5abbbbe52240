// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait-for graph of a window. A lock, both modes of it, is a node between those who waited for
 * it and those who had it: so there are as many edges as pairs of a task and a lock, and not of
 * every waiter and every holder, and what n threads lose at one lock is not cut into n * n pieces
 * too small to be seen. How much a task waited for a lock is in the cells of waits; who had it then
 * in those of blame, for who waited for the very lock, also where that one waited itself. Of which
 * holder each one waited for is no more known than that.
 */
#include "knots.h"
#include "kontend/cell.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/wait.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t lock_of(const struct model *m, uint32_t lock)
{
	uint32_t twin = m->locks->locks[lock].twin;

	return twin && twin < lock ? twin : lock;
}

uint32_t knots_lock_node(const struct knots_graph *g, uint32_t lock)
{
	const struct model *m = g->q->model;

	return lock < m->locks->n ? g->lock_node[lock_of(m, lock)] : 0;
}

/* Nothing is known about folded locks and dropped tasks. */
static bool is_known(const struct model *m, uint32_t lock, uint32_t task, uint64_t ns)
{
	return ns && lock >= LOCK_TYPES && lock < m->locks->n && task != TASK_OTHER &&
	       task < m->tasks->n;
}

/* One that is numbered by tables: the task's at `from` of a wait, at `to` of who has it. */
static void add_edge(struct knots_graph *g, bool waits, uint32_t task, uint32_t lock, uint64_t ns)
{
	const struct model *m = g->q->model;

	if (!is_known(m, lock, task, ns))
		return;
	lock = lock_of(m, lock);
	g->edges[g->n_edges++] = (struct scc_edge){
		.from = waits ? task : lock, .to = waits ? lock : task, .weight = ns << 1 | waits};
	g->task_node[task] = g->lock_node[lock] = 1;
}

static void add_waits(struct knots_graph *g, const struct cell_table *t)
{
	const struct model *m = g->q->model;
	bool has_window = query_has_window(g->q);

	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		add_edge(g, true, c->task, c->lock,
			 has_window ? c->rate_wait_ns : cell_sums(t, c).waited_ns);
	}
	/* Cells of a window have the waits that go on. */
	for (uint32_t i = 1; !has_window && m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful)
			add_edge(g, true, w->task, w->lock, query_wait_within_ns(m, w));
	}
}

static void add_holders(struct knots_graph *g)
{
	for (size_t i = 0; i < g->cells->n; i++) {
		const struct blame_cell *c = &g->cells->v[i];
		if (c->key.direct)
			add_edge(g, false, c->key.task, c->key.root_lock, c->ns);
	}
}

/* Names of tasks that there are too many of. */

struct names {
	struct map64 tasks, processes; /* hash of a name -> how many */
	struct map64 seen;	       /* name and process */
	struct map64 nodes;	       /* what makes a node -> it */
};

static uint32_t counted(const struct map64 *m, uint64_t key)
{
	const uint32_t *n = map64_get(m, key);

	return n ? *n : 0;
}

static int count(struct map64 *m, uint64_t key)
{
	uint32_t *n = map64_get(m, key);

	if (n)
		++*n;
	return n ? 0 : map64_put(m, key, 1);
}

static uint64_t in_process(const struct task *t, uint64_t name)
{
	return hash_u64(name ^ (uint64_t)(uint32_t)t->pid << 32);
}

static int count_names(struct knots_graph *g, struct names *n)
{
	const struct task_table *t = g->q->model->tasks;

	for (uint32_t i = 1; i < t->n; i++) {
		if (!g->task_node[i])
			continue;
		uint64_t name = text_hash(query_task_comm(g->q, i));
		uint64_t process = in_process(&t->tasks[i], name);
		bool is_new = !map64_get(&n->seen, process);
		if (count(&n->tasks, name) < 0 || (is_new && (count(&n->processes, name) < 0 ||
							      map64_put(&n->seen, process, 1) < 0)))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t node_key(struct knots_graph *g, const struct names *n, uint32_t task,
			 enum knots_name *ret)
{
	const struct task *t = &g->q->model->tasks->tasks[task];
	uint64_t name = text_hash(query_task_comm(g->q, task));

	*ret = KNOTS_NAME;
	if (counted(&n->processes, name) > QUERY_KNOTS_MERGE)
		return hash_u64(name + KNOTS_NAME);
	*ret = KNOTS_PROCESS;
	if (counted(&n->tasks, name) > QUERY_KNOTS_MERGE)
		return hash_u64(in_process(t, name) + KNOTS_PROCESS);
	*ret = KNOTS_TASK;
	return hash_u64(task);
}

static int place_task(struct knots_graph *g, struct names *n, uint32_t task)
{
	enum knots_name name;
	uint64_t key = node_key(g, n, task, &name);
	const uint32_t *known = name == KNOTS_TASK ? NULL : map64_get(&n->nodes, key);
	uint32_t node = known ? *known : (uint32_t)g->n_nodes;

	g->task_node[task] = node + 1;
	if (known) {
		g->nodes[node].tasks++;
		return 0;
	}
	g->nodes[g->n_nodes++] = (struct knots_node){.first = task, .tasks = 1, .name = name};
	return name == KNOTS_TASK ? 0 : map64_put(&n->nodes, key, node);
}

static int place_all(struct knots_graph *g, struct names *n)
{
	const struct model *m = g->q->model;
	int r = count_names(g, n);

	for (uint32_t i = 1; r == 0 && i < m->tasks->n; i++)
		if (g->task_node[i])
			r = place_task(g, n, i);
	for (uint32_t i = 0; r == 0 && i < g->n_nodes; i++)
		g->merged += g->nodes[i].tasks > 1 ? g->nodes[i].tasks : 0;
	for (uint32_t i = LOCK_TYPES; r == 0 && i < m->locks->n; i++) {
		if (!g->lock_node[i])
			continue;
		g->lock_node[i] = (uint32_t)g->n_nodes + 1;
		g->nodes[g->n_nodes++] = (struct knots_node){.first = i};
	}
	return r;
}

static int place(struct knots_graph *g)
{
	struct names n = {0};
	int r = place_all(g, &n);

	map64_deinit(&n.tasks);
	map64_deinit(&n.processes);
	map64_deinit(&n.seen);
	map64_deinit(&n.nodes);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct scc_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* From numbers of tables to those of nodes. */
static void number(struct knots_graph *g)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		struct scc_edge *e = &g->edges[i];
		bool waits = e->weight & 1;
		e->from = (waits ? g->task_node : g->lock_node)[e->from] - 1;
		e->to = (waits ? g->lock_node : g->task_node)[e->to] - 1;
		e->weight >>= 1;
	}
}

/* Equal ones are one; those that are too weak are counted. */
static void merge(struct knots_graph *g)
{
	size_t n = 0, end;

	qsort(g->edges, g->n_edges, sizeof(*g->edges), compare);
	for (size_t i = 0; i < g->n_edges; i = end) {
		struct scc_edge e = g->edges[i];
		for (end = i + 1; end < g->n_edges && !compare(&e, &g->edges[end]); end++)
			e.weight += g->edges[end].weight;
		g->all_edges++;
		if ((double)e.weight * 100 < (double)g->all_ns * QUERY_KNOTS_PCT) {
			g->weak_ns += g->nodes[e.from].tasks ? e.weight : 0;
			continue;
		}
		g->nodes[e.to].blocks |= g->nodes[e.to].tasks != 0;
		g->edges[n++] = e;
	}
	g->n_edges = n;
}

int knots_graph(struct knots_graph *g)
{
	const struct model *m = g->q->model;
	const struct cell_table *t = query_cells(g->q);
	struct arena *a = &g->q->arena;
	size_t most = t->n + m->waits->high + g->cells->n;

	g->task_node = arena_alloc(a, (m->tasks->n + 1) * sizeof(*g->task_node));
	g->lock_node = arena_alloc(a, (m->locks->n + 1) * sizeof(*g->lock_node));
	g->edges = arena_alloc(a, (most + 1) * sizeof(*g->edges));
	if (!g->task_node || !g->lock_node || !g->edges)
		return -ENOMEM;
	add_waits(g, t);
	add_holders(g);
	g->nodes = arena_alloc(a, (m->tasks->n + m->locks->n + 1) * sizeof(*g->nodes));
	if (!g->nodes || place(g) < 0)
		return -ENOMEM;
	number(g);
	merge(g);
	return 0;
}
