// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why tasks waited for one lock, in a few words. Of all that was waited for it, in whatever mode,
 * the process to which most is charged is named, with its share and what its tasks mostly did.
 * Where processes of one name have more than twice as much together, they are named instead. A
 * share that explains little is no cause.
 */
#include "kontend/lock.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "locks/sched.h"
#include "names/names.h"
#include "rows.h"

#include <errno.h>

enum { LEAST_PCT = 10, NEARLY_ALL_PCT = 90 };

struct cause {
	struct blame_rows b;
	uint32_t *cells; /* of that lock, charged to tasks that are known */
	size_t n;
	uint64_t all_ns; /* waited for that lock */
	struct blame_group g;
	uint32_t tasks;
	bool has_leader; /* the process's first thread is among these */
};

static bool is_for(const struct model *m, uint32_t lock, uint64_t id)
{
	const struct lock *l = &m->locks->locks[lock];

	return lock >= LOCK_TYPES &&
	       (l->id == id || (l->twin && m->locks->locks[l->twin].id == id));
}

static int collect(struct cause *c, uint64_t id)
{
	struct query *q = c->b.q;
	int r = query_blame_cells(q, &c->b.cells);
	size_t n = c->b.cells.n + 1;

	c->cells = arena_alloc(&q->arena, n * sizeof(*c->cells));
	c->b.next = arena_alloc(&q->arena, n * sizeof(*c->b.next));
	c->b.room = arena_alloc(&q->arena, n * sizeof(*c->b.room));
	if (r < 0 || !c->cells || !c->b.next || !c->b.room)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->b.cells.n; i++) {
		const struct blame_cell *cell = &c->b.cells.v[i];
		if (!cell->ns || cell->key.state == BLAME_PASSED ||
		    !is_for(q->model, cell->key.lock, id))
			continue;
		c->all_ns += cell->ns;
		if (query_blame_who(q, cell) == BLAME_TASK)
			c->cells[c->n++] = i;
	}
	return 0;
}

static uint64_t process_of(struct query *q, uint32_t task)
{
	const struct query_where w = {.task = task};

	return query_id(q, BY_PROCESS, &w);
}

static uint64_t name_of(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	return text_hash(comm ? comm : "");
}

static uint64_t task_of(struct query *q, uint32_t task)
{
	(void)q;
	return task;
}

static const struct blame_cell *cell_of(const struct cause *c, size_t i)
{
	return &c->b.cells.v[c->cells[i]];
}

/* The key to which most is charged: how much. */
static uint64_t heaviest(struct cause *c, uint64_t (*key_of)(struct query *q, uint32_t task),
			 uint64_t *ret_key)
{
	struct blame_weight *w = c->b.room;
	uint64_t most = 0, ns = 0;

	for (size_t i = 0; i < c->n; i++)
		w[i] = (struct blame_weight){key_of(c->b.q, cell_of(c, i)->key.task),
					     cell_of(c, i)->ns, c->cells[i]};
	blame_weights_sort(w, c->n);
	for (size_t i = 0; i < c->n; i++) {
		ns = i && w[i].key == w[i - 1].key ? ns + w[i].ns : w[i].ns;
		if (ns <= most)
			continue;
		most = ns;
		*ret_key = w[i].key;
	}
	return most;
}

/* Sums up the blame of the tasks with that key, as one row. */
static void sum_up(struct cause *c, uint64_t (*key_of)(struct query *q, uint32_t task),
		   uint64_t key)
{
	const struct task *tasks = c->b.q->model->tasks->tasks;
	struct blame_weight *w = c->b.room;
	size_t n = 0;

	c->g = (struct blame_group){.first = UINT32_MAX};
	for (size_t i = 0; i < c->n; i++) {
		const struct blame_cell *cell = cell_of(c, i);
		if (key_of(c->b.q, cell->key.task) != key)
			continue;
		c->g.ns += cell->ns;
		c->g.state_ns[cell->key.state] += cell->ns;
		c->g.first = c->g.first == UINT32_MAX ? c->cells[i] : c->g.first;
		c->b.next[c->cells[i]] = c->g.cells;
		c->g.cells = c->cells[i] + 1;
		const struct task *t = &tasks[cell->key.task];
		c->has_leader |= t->tid == t->pid;
		w[n++] = (struct blame_weight){.key = task_of(c->b.q, cell->key.task)};
	}
	blame_weights_sort(w, n);
	for (size_t i = 0; i < n; i++)
		c->tasks += !i || w[i].key != w[i - 1].key;
}

static const char *process_words(struct cause *c)
{
	struct query *q = c->b.q;
	uint32_t task = blame_first(&c->b, &c->g)->key.task;
	const char *name = query_in_words(q, query_process_name(q, task));

	if (c->tasks == 1)
		return query_in_words(q, query_task_name(q, task));
	if (!c->has_leader)
		return arena_printf(&q->arena, "%u threads of %s", c->tasks, name);
	return arena_printf(&q->arena, "%s and %u of its threads", name, c->tasks - 1);
}

static const char *who(struct cause *c)
{
	uint64_t process = 0, name = 0, ns = heaviest(c, process_of, &process);
	struct query *q = c->b.q;

	if (heaviest(c, name_of, &name) > 2 * ns) {
		sum_up(c, name_of, name);
		const char *comm = query_task_comm(q, blame_first(&c->b, &c->g)->key.task);
		return arena_printf(&q->arena, "%u tasks named %s", c->tasks,
				    comm && *comm ? comm : "[unknown]");
	}
	sum_up(c, process_of, process);
	return process_words(c);
}

/* "running", "mostly runnable, kept off by stress/99"; NULL: it was not followed. */
static const char *did(struct cause *c)
{
	struct blame_mostly m;

	blame_mostly(&c->b, &c->g, &m);
	if (m.state == BLAME_NOT_FOLLOWED || m.state == BLAME_UNKNOWN)
		return NULL;
	const char *why = blame_why_text(c->b.q, &m);
	if (m.state == BLAME_RUNNABLE && c->tasks == 1) {
		const struct task *tasks = c->b.q->model->tasks->tasks;
		const char *limit =
			query_run_throttled(c->b.q, tasks[blame_first(&c->b, &c->g)->key.task].tid);
		why = limit ? limit : why;
	}
	return arena_printf(&c->b.q->arena, "%s%s%s%s", m.pct < NEARLY_ALL_PCT ? "mostly " : "",
			    blame_state_words(m.state),
			    !why     ? ""
			    : m.what ? ": "
				     : ", ",
			    why ? why : "");
}

int query_blame_cause(struct query *q, uint64_t id, struct query_blame_cause *ret)
{
	struct cause c = {.b = {.q = q, .by = BLAME_BY_TASK}};

	*ret = (struct query_blame_cause){0};
	if (query_blame_why_not(q))
		return 0;
	if (query_sync(q) < 0 || collect(&c, id) < 0)
		return -ENOMEM;
	if (!c.n)
		return 0;
	const char *words = who(&c);
	double pct = blame_share(c.g.ns, c.all_ns);
	if (pct < LEAST_PCT)
		return q->cache->failed ? -ENOMEM : 0;
	*ret = (struct query_blame_cause){
		.who = words, .pct = pct, .did = did(&c), .at = blame_got_at(&c.b, &c.g)};
	return !words || q->cache->failed ? -ENOMEM : 0;
}
