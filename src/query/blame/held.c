// SPDX-License-Identifier: GPL-2.0-only
/*
 * The column set "held" of the table "blame": how long a task that had waited for a lock and got it
 * kept the next one waiting. It is summed up as waits are, of a model whose cells are those times
 * and that has no waits in flight; the task of a cell is the holder, its call chain where that one
 * waited for the lock. Locks keep the names that their waits give them. In a window of time, cells
 * have the waiting meanwhile as a rate. Hand-overs are cells of the same keys in a table of their
 * own: grouped alike, a row finds its own there by its id.
 */
#include "columns.h"
#include "kontend/cell.h"
#include "kontend/hist.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/query-blame.h"
#include "kontend/task.h"
#include "rows.h"

#include <errno.h>

/* Between these two calls sums are of hold times, and the window does not apply. */
static void begin_sums_of(struct blame_holds *h, const struct model *m)
{
	h->window_ns = h->q->window_ns;
	h->q->window_ns = 0;
	h->q->model = m;
}

static void begin_sums(struct blame_holds *h)
{
	begin_sums_of(h, h->times);
}

static void end_sums(struct blame_holds *h)
{
	h->q->model = h->whole;
	h->q->window_ns = h->window_ns;
}

static void fill_key(struct blame_holds *h, const struct group *g, struct value *v)
{
	struct query *q = h->q;
	struct task_cells to = {&v[C_TASK], &v[C_PID], &v[C_TID], &v[C_COMM]};

	if (h->by == BY_STACK)
		value_s(&v[C_STACK], query_chain(q, g->first.stack));
	if (h->by != BY_TASK && h->by != BY_PROCESS)
		return;
	value_s(&v[C_ROW], g->first.task != TASK_OTHER ? "task" : "other");
	if (h->by == BY_TASK) {
		query_fill_task(q, g->first.task, to);
		return;
	}
	to.name = &v[C_PROCESS];
	query_fill_process(q, g->first.task, to);
}

static void fill_lock(struct blame_holds *h, struct group *g, struct value *v)
{
	begin_sums(h);
	uint32_t lock = query_group_worst_lock(h->q, &h->gs, g);
	uint32_t caller = query_group_caller(h->q, &h->gs, g);
	size_t locks = query_group_locks(h->q, &h->gs, g);
	end_sums(h);
	const struct lock *l = &h->q->model->locks->locks[lock];

	value_s(&v[C_HELD_KIND], locktype_name((enum lock_type)l->type));
	value_s(&v[C_HELD_NAME], query_lock_name(h->q, lock));
	v[C_HELD_KIND].approx = g->many_types;
	v[C_HELD_NAME].approx = g->many_locks;
	v[C_HELD_LOCK] =
		(struct value){.u = l->addr, .known = !g->many_locks && lock >= LOCK_TYPES};
	value_u(&v[C_HELD_LOCKS], locks);
	value_s(&v[C_HELD_CALLER], query_func_name(h->q, caller));
	v[C_HELD_CALLER].approx = g->many_callers;
}

static void fill_origin(struct blame_holds *h, struct group *g, struct value *v)
{
	bool many_calls, many_lines;

	begin_sums(h);
	const struct query_origin *call =
		query_group_origin(h->q, &h->gs, g, BY_SYSCALL, &many_calls);
	const struct query_origin *line = query_group_origin(h->q, &h->gs, g, BY_AT, &many_lines);
	query_fill_group_on(h->q, &h->gs, g, &v[C_ON], &v[C_ON_REASON]);
	end_sums(h);
	query_fill_syscall(call, &v[C_SYSCALL], &v[C_SYSCALL_REASON]);
	query_fill_at(line, &v[C_AT], &v[C_AT_REASON]);
	v[C_SYSCALL].approx = many_calls;
	v[C_AT].approx |= many_lines;
}

static void fill_percentiles(struct blame_holds *h, const struct group *g, struct value *v)
{
	static const struct {
		int column;
		double pct;
	} all[] = {{C_HELD_P50, 50}, {C_HELD_P90, 90}, {C_HELD_P99, 99}};

	begin_sums(h);
	query_group_hist(h->q, &h->gs, g, &h->hist);
	end_sums(h);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		value_u(&v[all[i].column],
			hist_percentile(&h->hist, all[i].pct, g->min_ns, g->max_ns));
}

static void fill_exact(struct blame_holds *h, const struct group *g, struct value *v)
{
	const struct cell_table *t = h->times->cells;
	uint64_t n = 0;

	for (uint32_t i = g->cells; i; i = h->gs.cell_next[i - 1])
		if (t->cells[i - 1].owner == HOLD_EXACT)
			n += cell_n(t, &t->cells[i - 1]);
	value_u(&v[C_HELD_EXACT], n);
}

/* When readers let go of a lock is not reported: until when they have had it is inferred. */
static bool has_readers(const struct blame_holds *h, const struct group *g)
{
	const struct cell_table *t = h->times->cells;

	for (uint32_t i = g->cells; i; i = h->gs.cell_next[i - 1]) {
		const struct cell *c = &t->cells[i - 1];
		if (c->owner != HOLD_EXACT &&
		    locktype_is_reader((enum lock_type)h->whole->locks->locks[c->lock].type))
			return true;
	}
	return false;
}

static void fill_handed(struct blame_holds *h, const struct group *held, struct value *v)
{
	const struct group *g = query_group_find(&h->handed, held->id);

	if (!query_blame_has_releases(h->q))
		return;
	value_u(&v[C_HELD_HANDED], g ? g->n : 0);
	if (!g || !g->n)
		return;
	begin_sums_of(h, h->overs);
	query_group_hist(h->q, &h->handed, g, &h->hist);
	end_sums(h);
	value_u(&v[C_HELD_HANDED_P50], hist_percentile(&h->hist, 50, g->min_ns, g->max_ns));
	value_u(&v[C_HELD_HANDED_P99], hist_percentile(&h->hist, 99, g->min_ns, g->max_ns));
	value_u(&v[C_HELD_HANDED_MAX], g->max_ns);
}

void blame_fill_held(struct blame_holds *h, struct group *g, uint64_t want, struct value *v)
{
	const uint64_t percentiles =
		table_bit(C_HELD_P50) | table_bit(C_HELD_P90) | table_bit(C_HELD_P99);
	const uint64_t handed = table_bit(C_HELD_HANDED) | table_bit(C_HELD_HANDED_P50) |
				table_bit(C_HELD_HANDED_P99) | table_bit(C_HELD_HANDED_MAX);
	const uint64_t lock = table_bit(C_HELD_KIND) | table_bit(C_HELD_NAME) |
			      table_bit(C_HELD_LOCK) | table_bit(C_HELD_LOCKS) |
			      table_bit(C_HELD_CALLER);
	const uint64_t origin = table_bit(C_SYSCALL) | table_bit(C_SYSCALL_REASON) |
				table_bit(C_AT) | table_bit(C_AT_REASON) | table_bit(C_ON) |
				table_bit(C_ON_REASON);
	const struct group none = {0}, *sums = g ? g : &none;
	const struct model *m = h->q->model;
	uint64_t waited_ns = h->has_window ? sums->rate_wait_ns : sums->waited_ns;

	value_u(&v[C_HELD_TIMES], sums->n);
	value_u(&v[C_HELD_TOTAL], sums->total_ns);
	value_u(&v[C_HELD_WAITED], waited_ns);
	value_d(&v[C_HELD_PCT], h->all_ns ? 100 * (double)waited_ns / (double)h->all_ns : 0);
	if (!g)
		return;
	value_u(&v[C_HELD_AVG], g->n ? g->total_ns / g->n : 0);
	value_u(&v[C_HELD_MAX], g->max_ns);
	value_u(&v[C_HELD_LAST], m->now_ns > g->last_ns ? m->now_ns - g->last_ns : 0);
	if (want & percentiles && g->n)
		fill_percentiles(h, g, v);
	v[C_HELD_TOTAL].approx = want & table_bit(C_HELD_TOTAL) && has_readers(h, g);
	if (want & lock)
		fill_lock(h, g, v);
	if (want & origin)
		fill_origin(h, g, v);
	if (want & table_bit(C_HELD_EXACT))
		fill_exact(h, g, v);
	if (want & handed)
		fill_handed(h, g, v);
	fill_key(h, g, v);
}

static uint64_t waited_ns(const struct cell *c, const struct cell_sums *s, bool has_window)
{
	return has_window ? c->rate_wait_ns : s->waited_ns;
}

/* For a window or a filter the model has no sums, but cells. */
static struct query_held_sum sum_cells(struct query *q)
{
	const struct cell_table *waits = query_cells(q), *times = query_held_cells(q);
	bool has_window = query_has_window(q);
	struct query_held_sum ret = {0};

	for (size_t i = 0; i < waits->n; i++) {
		const struct cell_sums s = cell_sums(waits, &waits->cells[i]);
		ret.got += s.n;
		ret.waited_ns += waited_ns(&waits->cells[i], &s, has_window);
	}
	for (size_t i = 0; i < times->n; i++) {
		const struct cell_sums s = cell_sums(times, &times->cells[i]);
		ret.known += s.n;
		ret.exact += times->cells[i].owner == HOLD_EXACT ? s.n : 0;
		ret.charged_ns += waited_ns(&times->cells[i], &s, has_window);
	}
	return ret;
}

/* The time that the log of holds covers, if it had no room for all of the window; else 0. */
static uint64_t short_of_window(const struct query *q)
{
	const struct recent *r = &q->engine->model->held->recent;
	struct recent_window w = recent_find(r, q->window_ns);

	if (!query_has_window(q) || !w.is_short)
		return 0;
	return w.end_ns > w.begin_ns ? w.end_ns - w.begin_ns : 1;
}

int query_blame_held_sum(struct query *q, struct query_held_sum *ret)
{
	const struct holds *h = q->model->holds;
	int code = query_sync(q);

	if (query_has_window(q) || q->only) {
		*ret = sum_cells(q);
		ret->only_ns = short_of_window(q);
	} else
		*ret = (struct query_held_sum){h->got,
					       h->known,
					       h->exact,
					       h->waited_ns,
					       h->charged_ns,
					       .doubtful_ns = h->doubtful_ns,
					       .doubtful_known = true};
	return code < 0 || q->cache->failed ? -ENOMEM : 0;
}

bool query_blame_has_releases(const struct query *q)
{
	return q->model->holds->releases != 0;
}

int query_blame_handed(struct query *q, struct query_handed *ret)
{
	const struct cell_table *t = query_handed_cells(q);
	uint64_t min_ns = UINT64_MAX;
	struct hist hist = {0};

	*ret = (struct query_handed){0};
	for (size_t i = 0; i < t->n; i++) {
		const struct cell_sums s = cell_sums(t, &t->cells[i]);
		ret->n += s.n;
		min_ns = s.min_ns < min_ns ? s.min_ns : min_ns;
		ret->max_ns = s.max_ns > ret->max_ns ? s.max_ns : ret->max_ns;
		cell_hist(t, &t->cells[i], &hist);
	}
	if (ret->n) {
		ret->p50_ns = hist_percentile(&hist, 50, min_ns, ret->max_ns);
		ret->p99_ns = hist_percentile(&hist, 99, min_ns, ret->max_ns);
	}
	return q->cache->failed ? -ENOMEM : 0;
}

int blame_holds_sum(struct blame_holds *h, const struct query_scope *scope)
{
	struct query_held_sum sum;

	if (query_blame_held_sum(h->q, &sum) < 0)
		return -ENOMEM;
	h->has_window = query_has_window(h->q);
	/* Holds that end in a window cost the waiting before it, too. */
	h->all_ns = sum.waited_ns > sum.charged_ns ? sum.waited_ns : sum.charged_ns;
	h->times = query_model_of_cells(h->q, h->whole, query_held_cells(h->q));
	h->overs = query_model_of_cells(h->q, h->whole, query_handed_cells(h->q));
	if (!h->times || !h->overs)
		return -ENOMEM;
	begin_sums(h);
	int r = query_group(h->q, h->by, scope, &h->gs);
	end_sums(h);
	if (r < 0 || !query_blame_has_releases(h->q))
		return r;
	begin_sums_of(h, h->overs);
	r = query_group(h->q, h->by, scope, &h->handed);
	end_sums(h);
	return r;
}
