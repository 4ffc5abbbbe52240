// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "held": how long who had waited for a lock and got it kept the next one waiting. It is
 * summed up as waits are, of a model whose cells are those times and that has no waits in flight;
 * the task of a cell is the holder, its call chain where that one waited for the lock. Locks keep
 * the names that their waits give them. Of a window of time what was waited meanwhile is a sum that
 * cells have as a rate. Hand-overs are cells of the same keys in a table of their own: grouped by
 * the same, a row finds its own there by its id.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/query-held.h"

#include <errno.h>

enum {
	C_TASK,
	C_PROCESS,
	C_PID,
	C_TID,
	C_COMM,
	C_STACK,
	C_KIND,
	C_LOCK,
	C_NAME,
	C_LOCKS,
	C_TIMES,
	C_TOTAL,
	C_WAITED,
	C_PCT,
	C_AVG,
	C_P50,
	C_P90,
	C_P99,
	C_MAX,
	C_LAST,
	C_CALLER,
	C_EXACT,
	C_HANDED,
	C_HANDED_P50,
	C_HANDED_P99,
	C_HANDED_MAX,
	C_COLUMNS
};

enum { SR = COLUMN_SCREEN | COLUMN_REPORT, W = COLUMN_WIDE };

static const struct column columns[C_COLUMNS] = {
	[C_TASK] = {"task", "HOLDER", "task that held the lock: name and thread id", COLUMN_TEXT,
		    16, 0, COLUMN_SCREEN, 1 << BY_TASK},
	[C_PROCESS] = {"process", "HOLDER", "the process that held it: name and process id",
		       COLUMN_TEXT, 16, 0, COLUMN_SCREEN, 1 << BY_PROCESS},
	[C_PID] = {"pid", "PID", "process id of the holder", COLUMN_INT, 7, 9, COLUMN_REPORT,
		   1 << BY_TASK | 1 << BY_PROCESS},
	[C_TID] = {"tid", "TID", "thread id of the holder", COLUMN_INT, 7, 9, COLUMN_REPORT,
		   1 << BY_TASK},
	[C_COMM] = {"comm", "COMM", "its name", COLUMN_TEXT, 16, 9, COLUMN_REPORT,
		    1 << BY_TASK | 1 << BY_PROCESS},
	[C_STACK] = {"stack", "CALL CHAIN",
		     "call chain in which the holder had got the lock, from the call site outwards",
		     COLUMN_TEXT, 40, 0, SR | W, 1 << BY_STACK},
	[C_KIND] = {"kind", "TYPE", "type and mode in which it was held", COLUMN_TEXT, 10, 0, SR},
	[C_LOCK] = {"lock", "ADDRESS", "address of the lock; unknown where the row spans several",
		    COLUMN_ADDR, 18, 9, COLUMN_REPORT},
	[C_NAME] = {"name", "LOCK", "name of the lock; ~ the one held longest of several",
		    COLUMN_TEXT, 20, 0, SR | W},
	[C_LOCKS] = {"locks", "LOCKS", "number of locks that the row spans, each mode counted",
		     COLUMN_COUNT, 5, 6, SR, ~(1u << BY_LOCK)},
	[C_TIMES] = {"held", "HELD", "times that it was held while others waited", COLUMN_COUNT, 6,
		     1, SR},
	[C_TOTAL] = {"total_ns", "TOTAL",
		     "total time, an upper bound; exact for the times counted in EXACT", COLUMN_NS,
		     7, 0, SR},
	[C_WAITED] = {"waited_ns", "WAITED",
		      "time that others waited for the lock meanwhile, added up", COLUMN_NS, 6, 0,
		      SR},
	[C_PCT] = {"waited_pct", "WAIT%",
		   "its share of all time waited, or of all holds, if these cost more", COLUMN_PCT,
		   5, 3, SR},
	[C_AVG] = {"avg_ns", "AVG", "TOTAL / HELD", COLUMN_NS, 6, 2, SR},
	[C_P50] = {"p50_ns", "P50", "half of the times were shorter, within 13 %", COLUMN_NS, 6, 3,
		   SR},
	[C_P90] = {"p90_ns", "P90", "90 % of the times were shorter, within 13 %", COLUMN_NS, 6, 5,
		   SR},
	[C_P99] = {"p99_ns", "P99", "99 % of the times were shorter, within 13 %", COLUMN_NS, 6, 1,
		   SR},
	[C_MAX] = {"max_ns", "MAX", "the longest", COLUMN_NS, 6, 1, SR},
	[C_LAST] = {"last_ns", "LAST", "time since the latest one ended", COLUMN_NS, 6, 6, SR},
	[C_CALLER] = {"caller", "GOT IN",
		      "function in which the holder had got the lock; ~ the one held longest of "
		      "several",
		      COLUMN_TEXT, 20, 1, SR | W},
	[C_EXACT] = {"exact", "EXACT",
		     "number of times that are exact, as the release was reported", COLUMN_COUNT, 6,
		     4, SR},
	[C_HANDED] = {"handovers", "HANDED", "hand-overs with a known duration", COLUMN_COUNT, 6, 8,
		      SR},
	[C_HANDED_P50] = {"handover_p50_ns", "HO-P50",
			  "half of the hand-overs, from a release until the next one had the lock, "
			  "were shorter, within 13 %",
			  COLUMN_NS, 6, 7, SR},
	[C_HANDED_P99] = {"handover_p99_ns", "HO-P99",
			  "99 % of the hand-overs were shorter, within 13 %", COLUMN_NS, 6, 7, SR},
	[C_HANDED_MAX] = {"handover_max_ns", "HO-MAX", "the longest of them", COLUMN_NS, 6, 8, SR},
};

struct held_rows {
	struct query *q;
	const struct model *whole, *times; /* times: the one that is summed up */
	const struct model *overs;	   /* the same of hand-overs */
	struct groups gs, handed;
	enum query_by by;
	bool has_window;
	uint64_t window_ns; /* of the query, while something is summed up */
	uint64_t all_ns;    /* waited for locks, by all */
	struct hist hist;   /* scratch */
};

/* Between these two calls sums are of hold times, and the window does not apply. */
static void begin_sums_of(struct held_rows *h, const struct model *m)
{
	h->window_ns = h->q->window_ns;
	h->q->window_ns = 0;
	h->q->model = m;
}

static void begin_sums(struct held_rows *h)
{
	begin_sums_of(h, h->times);
}

static void end_sums(struct held_rows *h)
{
	h->q->model = h->whole;
	h->q->window_ns = h->window_ns;
}

static void fill_key(struct held_rows *h, const struct group *g, struct value *v)
{
	struct query *q = h->q;
	const struct task *t = &q->model->tasks.tasks[g->first.task];
	bool known = g->first.task != TASK_OTHER;

	if (h->by == BY_STACK)
		value_s(&v[C_STACK], query_chain(q, g->first.stack));
	if (h->by != BY_TASK && h->by != BY_PROCESS)
		return;
	value_s(&v[C_TASK], query_task_name(q, g->first.task));
	value_s(&v[C_PROCESS], query_process_name(q, g->first.task));
	value_s(&v[C_COMM], h->by == BY_TASK ? query_task_comm(q, g->first.task)
					     : query_process_comm(q, g->first.task));
	v[C_TID] = (struct value){.i = taskid_number(t->tid), .known = known};
	v[C_PID] = (struct value){.i = taskid_number(t->pid), .known = known};
}

static void fill_lock(struct held_rows *h, struct group *g, struct value *v)
{
	begin_sums(h);
	uint32_t lock = query_group_worst_lock(h->q, &h->gs, g);
	uint32_t caller = query_group_caller(h->q, &h->gs, g);
	size_t locks = query_group_locks(h->q, &h->gs, g);
	end_sums(h);
	const struct lock *l = &h->q->model->locks.locks[lock];

	value_s(&v[C_KIND], locktype_name((enum lock_type)l->type));
	value_s(&v[C_NAME], query_lock_name(h->q, lock));
	v[C_KIND].approx = g->many_types;
	v[C_NAME].approx = g->many_locks;
	v[C_LOCK] = (struct value){.u = l->addr, .known = !g->many_locks && lock >= LOCK_TYPES};
	value_u(&v[C_LOCKS], locks);
	value_s(&v[C_CALLER], query_func_name(h->q, caller));
	v[C_CALLER].approx = g->many_callers;
}

static void fill_percentiles(struct held_rows *h, const struct group *g, struct value *v)
{
	static const struct {
		int column;
		double pct;
	} all[] = {{C_P50, 50}, {C_P90, 90}, {C_P99, 99}};

	begin_sums(h);
	query_group_hist(h->q, &h->gs, g, &h->hist);
	end_sums(h);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		value_u(&v[all[i].column],
			hist_percentile(&h->hist, all[i].pct, g->min_ns, g->max_ns));
}

static void fill_exact(struct held_rows *h, const struct group *g, struct value *v)
{
	const struct cell_table *t = &h->times->cells;
	uint64_t n = 0;

	for (uint32_t i = g->cells; i; i = h->gs.cell_next[i - 1])
		if (t->cells[i - 1].owner == HOLD_EXACT)
			n += cell_n(t, &t->cells[i - 1]);
	value_u(&v[C_EXACT], n);
}

/* When readers let go of a lock is not reported: until when they have had it is inferred. */
static bool has_readers(const struct held_rows *h, const struct group *g)
{
	const struct cell_table *t = &h->times->cells;

	for (uint32_t i = g->cells; i; i = h->gs.cell_next[i - 1]) {
		const struct cell *c = &t->cells[i - 1];
		if (c->owner != HOLD_EXACT &&
		    locktype_is_reader((enum lock_type)h->whole->locks.locks[c->lock].type))
			return true;
	}
	return false;
}

static void fill_handed(struct held_rows *h, const struct group *held, struct value *v)
{
	const struct group *g = query_group_find(&h->handed, held->id);

	if (!query_held_has_releases(h->q))
		return;
	value_u(&v[C_HANDED], g ? g->n : 0);
	if (!g || !g->n)
		return;
	begin_sums_of(h, h->overs);
	query_group_hist(h->q, &h->handed, g, &h->hist);
	end_sums(h);
	value_u(&v[C_HANDED_P50], hist_percentile(&h->hist, 50, g->min_ns, g->max_ns));
	value_u(&v[C_HANDED_P99], hist_percentile(&h->hist, 99, g->min_ns, g->max_ns));
	value_u(&v[C_HANDED_MAX], g->max_ns);
}

static void held_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const uint64_t percentiles = 1ull << C_P50 | 1ull << C_P90 | 1ull << C_P99;
	const uint64_t handed = 1ull << C_HANDED | 1ull << C_HANDED_P50 | 1ull << C_HANDED_P99 |
				1ull << C_HANDED_MAX;
	const uint64_t lock = 1ull << C_KIND | 1ull << C_NAME | 1ull << C_LOCK | 1ull << C_LOCKS |
			      1ull << C_CALLER;
	struct held_rows *h = ctx;
	struct group *g = &h->gs.g[row];
	const struct model *m = h->q->model;
	uint64_t waited_ns = h->has_window ? g->rate_wait_ns : g->waited_ns;

	value_u(&v[C_TIMES], g->n);
	value_u(&v[C_TOTAL], g->total_ns);
	value_u(&v[C_WAITED], waited_ns);
	value_d(&v[C_PCT], h->all_ns ? 100 * (double)waited_ns / (double)h->all_ns : 0);
	value_u(&v[C_AVG], g->n ? g->total_ns / g->n : 0);
	value_u(&v[C_MAX], g->max_ns);
	value_u(&v[C_LAST], m->now_ns > g->last_ns ? m->now_ns - g->last_ns : 0);
	if (want & percentiles && g->n)
		fill_percentiles(h, g, v);
	v[C_TOTAL].approx = want & 1ull << C_TOTAL && has_readers(h, g);
	if (want & lock)
		fill_lock(h, g, v);
	if (want & 1ull << C_EXACT)
		fill_exact(h, g, v);
	if (want & handed)
		fill_handed(h, g, v);
	fill_key(h, g, v);
}

static void held_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct group *g = &((const struct held_rows *)ctx)->gs.g[row];

	*ret = (struct row_rank){.id = g->id, .tie = g->n};
}

const struct table_kind query_held_kind = {"held", columns, C_COLUMNS, held_fill, held_rank};

static struct column *columns_by(struct query *q, enum query_by by)
{
	struct column *c = rows_columns_by(q, &query_held_kind, by);

	for (size_t i = C_EXACT; c && !query_held_has_releases(q) && i < C_COLUMNS; i++)
		c[i].flags = COLUMN_REPORT;
	return c;
}

/* The whole model, but with these cells, and without waits in flight. */
static const struct model *model_of(struct held_rows *h, const struct cell_table *cells)
{
	struct model *m = arena_alloc(&h->q->arena, sizeof(*m));

	if (!m)
		return NULL;
	*m = *h->whole;
	m->cells = *cells;
	m->waits.in_flight = 0;
	m->waits.high = 1;
	m->damage.doubtful = m->damage.unmatched_begin = 0;
	return m;
}

static int sum_up(struct held_rows *h, const struct query_spec *s)
{
	h->times = model_of(h, query_held_cells(h->q));
	h->overs = model_of(h, query_handed_cells(h->q));
	if (!h->times || !h->overs)
		return -ENOMEM;
	begin_sums(h);
	int r = query_group(h->q, s->by, &s->scope, &h->gs);
	end_sums(h);
	if (r < 0 || !query_held_has_releases(h->q))
		return r;
	begin_sums_of(h, h->overs);
	r = query_group(h->q, s->by, &s->scope, &h->handed);
	end_sums(h);
	return r;
}

static uint64_t waited_ns(const struct cell *c, const struct cell_sums *s, bool has_window)
{
	return has_window ? c->rate_wait_ns : s->waited_ns;
}

/* Of a window, or of what a filter leaves: there the model has no sums, but its cells. */
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

/* How far back the log of holds reaches, if it had no room for all of the window; else 0. */
static uint64_t short_of_window(const struct query *q)
{
	const struct recent *r = &q->engine->model.held.recent;
	struct recent_window w = recent_find(r, q->window_ns);

	if (!query_has_window(q) || !w.is_short)
		return 0;
	return w.end_ns > w.begin_ns ? w.end_ns - w.begin_ns : 1;
}

int query_held_sum(struct query *q, struct query_held_sum *ret)
{
	const struct holds *h = &q->model->holds;
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

bool query_held_has_releases(const struct query *q)
{
	return q->model->holds.releases != 0;
}

int query_held_handed(struct query *q, struct query_handed *ret)
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

int query_held(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct held_rows h = {.q = q, .by = s->by, .whole = q->model};
	struct query_held_sum sum;
	struct row_source src = {.kind = &query_held_kind,
				 .columns = columns_by(q, s->by),
				 .sort = "waited_ns",
				 .ctx = &h};

	if (!src.columns || query_held_sum(q, &sum) < 0 || sum_up(&h, s) < 0)
		return query_enomem(err, "held locks");
	h.has_window = query_has_window(q);
	/* Holds that end in a window cost the waiting before it, too. */
	h.all_ns = sum.waited_ns > sum.charged_ns ? sum.waited_ns : sum.charged_ns;
	src.n = h.gs.n;
	return rows_answer(q, s, &src, ret, err);
}

bool query_held_has(enum query_by by)
{
	return by == BY_TASK || by == BY_PROCESS || by == BY_LOCK || by == BY_CALLER ||
	       by == BY_STACK || by == BY_TYPE;
}
