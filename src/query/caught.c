// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reason why a trigger fired, in words. It is asked once for each that fires: names are looked
 * up then. The task to blame is the holder in the latest lock snapshot, else the one by events,
 * else the holder when the wait began.
 */
#include "chains/graph.h"
#include "internal.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/query-caught.h"
#include "kontend/query-chains.h"
#include "kontend/query-load.h"
#include "kontend/query-lock.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/rotation.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/wait.h"
#include "rotation/list.h"

#include <errno.h>
#include <string.h>

/* For a name that is made of the function that waits most all cells are looked at. */
enum { CELLS_MOST = 20000 };

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void say_blamed(struct query *q, uint32_t task, uint8_t state, struct query_caught *ret)
{
	static const char *const does[BLAME_STATES] = {
		[BLAME_RUNNING] = ", running",	  [BLAME_RUNNABLE] = ", runnable",
		[BLAME_ASLEEP] = ", asleep",	  [BLAME_IO] = ", asleep: I/O",
		[BLAME_CIRCLE] = ", in a circle",
	};
	const char *is = state < BLAME_STATES ? does[state] : NULL;

	ret->holder_pid = taskid_number(q->model->tasks->tasks[task].pid);
	ret->holder_tid = taskid_number(q->model->tasks->tasks[task].tid);
	ret->because =
		arena_printf(&q->arena, "%s%s", or_empty(query_task_name(q, task)), is ? is : "");
}

/* The blame of the lock; NULL: none. */
static const struct blame_node *node_of(const struct query *q, const struct wait *w)
{
	const struct blame *b = q->model->blame;
	uint32_t node = b->max ? q->model->locks->locks[w->lock].blame : 0;

	return node ? &b->nodes[node] : NULL;
}

/* The task that blame charged last of a wait that has ended; TASK_OTHER: none. */
static uint32_t blamed_before(const struct blame_node *n, const struct wait *w)
{
	return n && n->before_ns >= w->begin_ns ? n->before_task : TASK_OTHER;
}

/* Finds the task that the waiting is charged to, if the holder is not known. */
static void blamed_of(struct query *q, const struct wait *w, struct query_caught *ret)
{
	const struct blame_node *n = node_of(q, w);
	const struct blame_hold *h = n ? &q->model->blame->holds[n->holds] : NULL;

	if (!w->used && blamed_before(n, w) != TASK_OTHER)
		say_blamed(q, n->before_task, n->before_state, ret);
	else if (n && w->used && n->holds && h->task != w->task && h->task != TASK_OTHER)
		say_blamed(q, h->task, h->state, ret);
}

/* The holder of the lock, and its activity; if it waits itself, the task that it waits for. */
static bool holder_of(struct query *q, const struct wait *w, struct query_caught *ret)
{
	struct query_holder h;

	if (!query_holder_of(q, w, !w->used, &h) || !h.tid || taskid_number(h.tid) == ret->tid)
		return false;
	const char *root = w->used ? query_chains_root(q, w->addr) : NULL;
	const char *is = w->used ? query_holder_is(q, &h) : NULL;
	ret->holder_pid = taskid_number(h.pid);
	ret->holder_tid = taskid_number(h.tid);
	ret->because = or_empty(h.name);
	if (root)
		ret->because = arena_printf(&q->arena, "%s, who waits behind %s", h.name, root);
	else if (is)
		ret->because = arena_printf(&q->arena, "%s, %s", h.name, is);
	else if (!w->used && h.task != TASK_OTHER && blamed_before(node_of(q, w), w) == h.task)
		blamed_of(q, w, ret);
	return true;
}

/* Names of programs that are not there yet are waited for so long, and not for their lines. */
static const uint64_t NAMES_NS = 5000000;

static int origin_of(struct query *q, const struct wait *w, struct query_caught *ret)
{
	const struct query_origin *o = query_origin(q, w->stack);

	if (o->frame) {
		query_load_names(q, NAMES_NS);
		if (query_sync(q) < 0)
			return -ENOMEM;
		o = query_origin(q, w->stack);
	}
	ret->syscall = or_empty(o->syscall);
	/* One that is not there yet is none. */
	ret->at = o->at && strcmp(o->at, query_loading) ? o->at : "";
	struct wait_on_most on = {.on = query_on_of(q, &w->on, w->stack)};
	struct value text = {0}, why = {0};
	query_fill_on(q, &on, w->lock, &text, &why);
	ret->on = text.known ? or_empty(text.s) : "";
	return 0;
}

int query_caught(struct query *q, const struct wait *w, struct query_caught *ret)
{
	const struct model *m = q->model;

	*ret = (struct query_caught){"", "", "", "", "", "", "", 0, 0, 0, 0};
	if (query_sync(q) < 0)
		return -ENOMEM;
	if (w->lock >= m->locks->n || w->task >= m->tasks->n)
		return 0;
	ret->lock = or_empty(m->cells->n < CELLS_MOST ? query_lock_name(q, w->lock)
						      : query_lock_plain_name(q, w->lock));
	ret->task = or_empty(query_task_comm_or_idle(q, w->task));
	if (w->task != TASK_OTHER) {
		ret->pid = taskid_number(m->tasks->tasks[w->task].pid);
		ret->tid = taskid_number(m->tasks->tasks[w->task].tid);
	}
	if (origin_of(q, w, ret) < 0)
		return -ENOMEM;
	if (!holder_of(q, w, ret))
		blamed_of(q, w, ret);
	if (w->used && w->task != TASK_OTHER)
		ret->chain = or_empty(query_chains_of(q, m->tasks->tasks[w->task].tid));
	return ret->because && !q->cache->failed ? 0 : -ENOMEM;
}

/* For the circle that the root is. */
static void in_circle(const struct chain_graph *g, const struct chain_root *r,
		      bool (*is)(void *ctx, const struct wait *w), void *ctx,
		      struct query_caught_circle *ret)
{
	struct query_caught_circle c = {0};
	uint32_t at = r->lock;

	do {
		const struct wait *w = g->waits[g->locks[at].up].wait;
		c.tasks++;
		if (is(ctx, w) && (!c.longest || w->begin_ns < c.longest->begin_ns))
			c.longest = w;
		at = g->waits[g->locks[at].up].lock;
	} while (at != r->lock && c.tasks <= g->n_locks);
	if (c.longest)
		*ret = c;
}

int query_caught_circle(struct query *q, bool (*is)(void *ctx, const struct wait *w), void *ctx,
			struct query_caught_circle *ret)
{
	struct chain_graph g = {0};
	int r = query_sync(q);

	*ret = (struct query_caught_circle){0};
	r = r < 0 ? r : chain_graph_make_locks(q, &g);
	for (uint32_t i = 0; r == 0 && i < g.n_roots && !ret->longest; i++)
		if (g.roots[i].circle && g.roots[i].proved)
			in_circle(&g, &g.roots[i], is, ctx, ret);
	chain_graph_deinit(&g);
	return r;
}

bool query_caught_rotates(const struct query *q, uint64_t function)
{
	const struct rotation_timer t = {.function = function};

	return query_rotation_is_mux(q, &t);
}

const char *query_caught_slots(struct query *q, uint64_t *ret_used)
{
	struct query_spec spec = {0};
	struct table t;

	if (query_perf_slots(q, &spec, &t, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < t.n_rows; i++) {
		const struct value *used = table_cell(&t, i, "used"),
				   *slots = table_cell(&t, i, "slots"),
				   *cpu = table_cell(&t, i, "cpu");
		if (!used->known || !slots->known || slots->i <= 0 || used->i < slots->i)
			continue;
		*ret_used = (uint64_t)used->i;
		return arena_printf(&q->arena, "%lld of %lld breakpoint slots of CPU %lld",
				    (long long)used->i, (long long)slots->i, (long long)cpu->i);
	}
	return NULL;
}

const char *query_caught_xol(struct query *q, uint64_t *ret_used)
{
	struct query_uprobe_sum s;

	if (query_uprobe_sum(q, false, &s) < 0 || !s.known || s.worst_slots <= 0 ||
	    s.worst_used < s.worst_slots)
		return NULL;
	*ret_used = (uint64_t)s.worst_used;
	return arena_printf(&q->arena, "%d of %d XOL slots of %s", s.worst_used, s.worst_slots,
			    s.worst ? s.worst : "a process");
}
