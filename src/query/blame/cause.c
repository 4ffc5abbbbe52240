// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why tasks waited for one lock, in a few words. Of all that was waited for it, in whatever mode,
 * the task or process to which most is charged (leader.c) is named, with its share and what its
 * tasks mostly did. A share that explains little is no cause.
 */
#include "kontend/lock.h"
#include "kontend/task.h"
#include "locks/sched.h"
#include "names/names.h"
#include "rows.h"

#include <errno.h>

enum { NEARLY_ALL_PCT = 90 };

struct cause {
	struct blame_rows b;
	uint32_t *cells; /* of that lock, charged to tasks that are known */
	size_t n;
	uint64_t all_ns; /* waited for that lock */
	struct blame_leader leader;
	struct blame_group g;
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

/* Sums up the blame of the cells of the leader, as one row. */
static void sum_up(struct cause *c)
{
	c->g = (struct blame_group){.first = c->leader.cell};
	for (size_t i = 0; i < c->n; i++) {
		const struct blame_cell *cell = &c->b.cells.v[c->cells[i]];
		if (!blame_leader_has(&c->b, &c->leader, cell))
			continue;
		c->g.ns += cell->ns;
		c->g.state_ns[cell->key.state] += cell->ns;
		c->b.next[c->cells[i]] = c->g.cells;
		c->g.cells = c->cells[i] + 1;
	}
}

static const char *who(struct cause *c)
{
	const struct blame_leader *l = &c->leader;
	struct query *q = c->b.q;
	uint32_t task = blame_first(&c->b, &c->g)->key.task;
	const char *name = query_in_words(q, query_process_name(q, task));

	switch (l->is) {
	case BLAME_LEADER_TASK:
		return query_in_words(q, query_task_name(q, task));
	case BLAME_LEADER_NAMED:
		return arena_printf(&q->arena, "%u tasks named %s", l->tasks,
				    blame_leader_comm(q, task));
	case BLAME_LEADER_PROCESS:
		break;
	}
	if (!l->has_first)
		return arena_printf(&q->arena, "%u threads of %s", l->tasks, name);
	return arena_printf(&q->arena, "%s and %u of its threads", name, l->tasks - 1);
}

/* "running", "mostly runnable, kept off by stress/99"; NULL: it was not followed. */
static const char *did(struct cause *c)
{
	struct blame_mostly m;

	blame_mostly(&c->b, &c->g, &m);
	if (m.state == BLAME_NOT_FOLLOWED || m.state == BLAME_UNKNOWN)
		return NULL;
	const char *why = blame_why_text(c->b.q, &m);
	if (m.state == BLAME_RUNNABLE && c->leader.tasks == 1) {
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
	if (!blame_leader(&c.b, c.cells, c.n, &c.leader))
		return 0;
	sum_up(&c);
	const char *words = who(&c);
	double pct = blame_share(c.g.ns, c.all_ns);
	if (pct < BLAME_LEADER_LEAST_PCT)
		return q->cache->failed ? -ENOMEM : 0;
	*ret = (struct query_blame_cause){
		.who = words, .pct = pct, .did = did(&c), .at = blame_got_at(&c.b, &c.g)};
	return !words || q->cache->failed ? -ENOMEM : 0;
}
