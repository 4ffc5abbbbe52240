// SPDX-License-Identifier: GPL-2.0-only
/*
 * The column sets "waits" and "did" of the table "blame", of the same charged cells. WAITED of all
 * rows is all that was waited: unknown roots have a row as well. TIME is time as a clock shows it,
 * whatever the number of tasks that waited: of each holder, so that readers who have a lock
 * together count each. query_blame_lock() has the activity of the holders of one lock, for its
 * page.
 */
#include "../chains/graph.h"
#include "columns.h"
#include "kontend/lock.h"
#include "kontend/task.h"
#include "rows.h"

#include <errno.h>

static const struct blame_columns waits_at = {
	.task = C_TASK,
	.process = C_PROCESS,
	.pid = C_PID,
	.tid = C_TID,
	.comm = C_COMM,
	.stack = C_STACK,
	.row = C_ROW,
	.kind = C_KIND,
	.lock = C_LOCK,
	.name = C_NAME,
	.locks = C_LOCKS,
	.lock_id = C_LOCK_ID,
	.caller = C_CALLER,
	.mostly = C_MOSTLY,
	.mostly_state = C_MOSTLY_STATE,
	.mostly_pct = C_MOSTLY_PCT,
	.mostly_who = C_MOSTLY_WHO,
	.mostly_in = C_MOSTLY_IN,
	.mostly_what = C_MOSTLY_WHAT,
};

static const struct blame_columns did_at = {
	.task = C_TASK,
	.process = C_PROCESS,
	.pid = C_PID,
	.tid = C_TID,
	.comm = C_COMM,
	.stack = C_STACK,
	.row = C_ROW,
	.kind = C_DID_KIND,
	.lock = C_DID_LOCK,
	.name = C_DID_NAME,
	.locks = C_DID_LOCKS,
	.lock_id = C_LOCK_ID,
	.caller = C_DID_CALLER,
	.mostly = C_DID_MOSTLY,
	.mostly_state = C_DID_MOSTLY_STATE,
	.mostly_pct = C_DID_MOSTLY_PCT,
	.mostly_who = C_DID_MOSTLY_WHO,
	.mostly_in = C_DID_MOSTLY_IN,
	.mostly_what = C_DID_MOSTLY_WHAT,
};

static void fill_waits_states(const struct blame_group *g, struct value *v)
{
	static const struct {
		uint8_t state, ns, pct;
	} all[] = {
		{BLAME_RUNNING, C_RUNNING_NS, C_RUNNING},
		{BLAME_RUNNABLE, C_RUNNABLE_NS, C_RUNNABLE},
		{BLAME_ASLEEP, C_ASLEEP_NS, C_ASLEEP},
		{BLAME_IO, C_IO_NS, C_IO},
		{BLAME_NOT_FOLLOWED, C_NOT_FOLLOWED_NS, 0},
		{BLAME_CIRCLE, C_CIRCLE_NS, 0},
		{BLAME_UNKNOWN, C_UNKNOWN_NS, 0},
	};
	uint64_t other = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint64_t ns = g->state_ns[all[i].state];
		value_u(&v[all[i].ns], ns);
		if (all[i].pct)
			value_d(&v[all[i].pct], blame_share(ns, g->ns));
		else
			other += ns;
	}
	value_d(&v[C_OTHER], blame_share(other, g->ns));
}

static void fill_cost(const struct blame_group *g, struct value *v)
{
	const struct query_waits_cost c = {.waited_ns = g->ns,
					   .lost_ns = g->cost.lost_ns,
					   .par_ns = g->cost.par_ns,
					   .par_of_ns = g->cost.par_of_ns,
					   .is_lost = g->cost.is_lost,
					   .unlost = g->cost.unlost,
					   .at_least = g->cost.unlost};

	query_fill_cost(&c, &v[C_LOST], &v[C_LOST_PCT], &v[C_PAR]);
}

/* The lock that is waited for, and the function that does. */
static uint64_t waited_in(struct blame_rows *b, const struct blame_cell *c)
{
	return (uint64_t)c->key.lock << 32 | query_caller(b->q, c->key.stack);
}

static void fill_losers(struct blame_rows *b, const struct blame_group *g, struct value *v)
{
	struct query *q = b->q;
	struct blame_heaviest h;

	if (!blame_heaviest(b, g, waited_in, &h))
		return;
	const char *name = query_lock_name(q, (uint32_t)(h.key >> 32));
	const char *in = query_func_name(q, (uint32_t)h.key);
	value_s(&v[C_WAITS_NAME], name);
	value_s(&v[C_WAITS_CALLER], in);
	value_s(&v[C_WAITS],
		in ? arena_printf(&q->arena, "%s in %s", name ? name : "-", in) : name);
	v[C_WAITS].approx = v[C_WAITS_NAME].approx = v[C_WAITS_CALLER].approx = h.many;
}

/* The root may sleep for something else than a lock: the chain of the waits continues there. */
static void fill_end(struct blame_rows *b, const struct blame_group *g, struct value *v)
{
	const struct blame_cell *c = blame_first(b, g);

	if (!b->now || query_blame_who(b->q, c) != BLAME_TASK)
		return;
	value_s(&v[C_ENDS], chain_way_of_sleep(b->now, b->q->model->tasks->tasks[c->key.task].tid));
}

void blame_fill_waits(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		      struct value *v)
{
	const uint64_t losers =
		table_bit(C_WAITS) | table_bit(C_WAITS_NAME) | table_bit(C_WAITS_CALLER);
	const struct blame_group none = {0}, *sums = g ? g : &none;
	uint64_t now_ns = b->q->model->now_ns;

	value_u(&v[C_WAITED], sums->ns);
	value_d(&v[C_PCT], blame_share(sums->ns, b->all_ns + b->cells.lost_ns));
	value_u(&v[C_CHAINED_NS], sums->chained_ns);
	value_d(&v[C_CHAINED], blame_share(sums->chained_ns, sums->ns));
	fill_waits_states(sums, v);
	if (!g)
		return;
	value_u(&v[C_LAST], now_ns > g->last_ns ? now_ns - g->last_ns : 0);
	fill_cost(g, v);
	if (b->by == BLAME_BY_STATE)
		value_s(&v[C_STATE], blame_state_words(blame_first(b, g)->key.state));
	blame_fill_root(b, g, want, &waits_at, v);
	blame_fill_origin(b, g, want, v);
	blame_fill_mostly(b, g, want, &waits_at, v);
	if (want & losers)
		fill_losers(b, g, v);
	if (want & table_bit(C_ENDS))
		fill_end(b, g, v);
}

static void fill_did_states(const struct blame_group *g, struct value *v)
{
	const struct {
		uint64_t time_ns;
		uint8_t ns, pct;
	} all[] = {
		{g->state_ns[BLAME_RUNNING], C_DID_RUNNING_NS, C_DID_RUNNING},
		{g->state_ns[BLAME_RUNNABLE], C_DID_RUNNABLE_NS, C_DID_RUNNABLE},
		{g->state_ns[BLAME_ASLEEP], C_DID_ASLEEP_NS, C_DID_ASLEEP},
		{g->state_ns[BLAME_IO], C_DID_IO_NS, C_DID_IO},
		{g->state_ns[BLAME_PASSED] + g->state_ns[BLAME_CIRCLE], C_DID_PASSED_NS,
		 C_DID_PASSED},
		{g->state_ns[BLAME_NOT_FOLLOWED], C_DID_NOT_FOLLOWED_NS, C_DID_NOT_FOLLOWED},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		value_u(&v[all[i].ns], all[i].time_ns);
		value_d(&v[all[i].pct], blame_share(all[i].time_ns, g->ns));
	}
}

static uint64_t waited_ns(const struct blame_rows *b, const struct blame_group *g)
{
	uint64_t ns = 0;

	for (uint32_t i = g->cells; i; i = b->next[i - 1])
		ns += b->cells.v[i - 1].ns;
	return ns;
}

void blame_fill_did(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		    struct value *v)
{
	const struct blame_group none = {0}, *sums = g ? g : &none;
	uint64_t now_ns = b->q->model->now_ns;

	value_u(&v[C_DID_TIME], sums->ns);
	fill_did_states(sums, v);
	value_u(&v[C_DID_WAITED], 0);
	if (!g)
		return;
	value_u(&v[C_DID_LAST], now_ns > g->last_ns ? now_ns - g->last_ns : 0);
	if (want & table_bit(C_DID_WAITED))
		value_u(&v[C_DID_WAITED], waited_ns(b, g));
	blame_fill_root(b, g, want, &did_at, v);
	blame_fill_origin(b, g, want, v);
	blame_fill_mostly(b, g, want, &did_at, v);
}

/* Returns true if @lock is the lock with that id, in either of its modes. */
static bool is_lock(const struct model *m, uint32_t lock, uint64_t id)
{
	const struct lock *l = &m->locks->locks[lock];

	return lock >= LOCK_TYPES &&
	       (l->id == id || (l->twin && m->locks->locks[l->twin].id == id));
}

static void add_lock_cell(struct blame_rows *b, struct blame_group *g, uint32_t cell)
{
	const struct blame_cell *c = &b->cells.v[cell];

	g->ns += c->time_ns;
	g->state_ns[c->key.state] += c->time_ns;
	b->next[cell] = g->cells;
	g->cells = cell + 1;
}

int query_blame_lock(struct query *q, uint64_t id, struct query_blame_lock *ret)
{
	struct blame_rows b = {.q = q, .by = BLAME_BY_LOCK, .did = true};
	struct blame_group g = {0};
	struct blame_mostly why;

	*ret = (struct query_blame_lock){0};
	int r = blame_rows_sum(&b);
	for (size_t i = 0; r == 0 && i < b.n; i++) {
		if (!is_lock(q->model, blame_first(&b, &b.g[i])->key.root_lock, id))
			continue;
		for (uint32_t c = b.g[i].cells, next; c; c = next) {
			next = b.next[c - 1];
			add_lock_cell(&b, &g, c - 1);
		}
	}
	ret->time_ns = g.ns;
	for (uint32_t i = 0; r == 0 && i < BLAME_STATES; i++) {
		ret->state_ns[i] = g.state_ns[i];
		if (!g.state_ns[i])
			continue;
		blame_why(&b, &g, i, &why);
		ret->why[i] = blame_why_text(q, &why);
	}
	return r < 0 || q->cache->failed ? -ENOMEM : 0;
}
