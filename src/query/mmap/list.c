// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "mmap": how long it takes to get mmap_locks, a row a process (or memory cgroup) and
 * mode. Waits come from the cells of the contention events, so they cost nothing extra; they are of
 * contended acquisitions alone. Where the locks' own events are measured percentiles are of all
 * acquisitions, and OF says which of both it is. Waits from before there were events count as
 * waiting now. By call path a row says how long locks were held that were got there.
 */
#include "list.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/hist.h"
#include "kontend/lock.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/task.h"
#include "locks/queues.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	C_PROCESS,
	C_PID,
	C_COMM,
	C_MEMCG,
	C_LOCKS,
	C_MODE,
	C_WAITING,
	C_ACQUIRED,
	C_ERROR,
	C_CONTENDED,
	C_CONT_RATE,
	C_WAIT_RATE,
	C_P50,
	C_P90,
	C_P99,
	C_MAX,
	C_HOLD_P99,
	C_HELD,
	C_HOLD_TOTAL,
	C_HOLD_P50,
	C_HOLD_MAX,
	C_CALLER,
	C_STACK,
	C_OF,
	C_FAILED,
	C_TOTAL,
	C_HISTOGRAM,
	C_HIST_FROM,
	C_HIST_TO,
	C_HIST_N,
	C_HOLD_FROM,
	C_HOLD_TO,
	C_HOLD_N,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_PROCESS] = {"process", "MMAP_LOCK OF", "process that owns the mmap_lock", COLUMN_TEXT,
		       16, 0, S},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_MEMCG] = {"memcg", "MEMCG", "path of the memory cgroup of the process", COLUMN_TEXT, 16,
		     4, SR | W},
	[C_LOCKS] = {COL_LOCKS, 5, 6, SR},
	[C_MODE] = {COL_MODE, 4, 0, SR},
	[C_WAITING] = {COL_WAITING, 4, 0, SR},
	[C_ACQUIRED] = {"acquired", "ACQUIRED",
			"times that the lock was acquired, also without waiting", COLUMN_COUNT, 8,
			2, SR},
	[C_ERROR] = {"acquired_error", "ERROR",
		     "95 % confidence interval of ACQUIRED, plus or minus, if it is from samples",
		     COLUMN_COUNT, 6, 3, SR},
	[C_CONTENDED] = {COL_CONTENDED, 9, 3, SR},
	[C_CONT_RATE] = {COL_CONT_RATE, 6, 1, SR},
	[C_WAIT_RATE] = {COL_WAIT_RATE, 6, 0, SR},
	[C_P50] = {COL_P50("acquisitions"), 6, 1, SR},
	[C_P90] = {COL_P90("acquisitions"), 6, 5, SR},
	[C_P99] = {COL_P99("acquisitions"), 6, 0, SR},
	[C_MAX] = {"max_ns", "MAX", "longest acquisition, waits in flight included", COLUMN_NS, 7,
		   2, SR},
	[C_HOLD_P99] = {"hold_p99_ns", "HOLD99", "99 % of the holds were shorter", COLUMN_NS, 6, 2,
			SR},
	[C_HELD] = {"held", "HELD", "holds with a known duration", COLUMN_COUNT, 6, 6, SR},
	[C_HOLD_TOTAL] = {"hold_total_ns", "HOLD", "total duration of the holds", COLUMN_NS, 6, 6,
			  SR},
	[C_HOLD_P50] = {"hold_p50_ns", "HOLD50", "half of the holds were shorter", COLUMN_NS, 6, 6,
			SR},
	[C_HOLD_MAX] = {"hold_max_ns", "HOLDMAX", "longest hold", COLUMN_NS, 7, 6, SR},
	[C_CALLER] = {COL_GOT_IN, 20, 6, SR},
	[C_STACK] = {COL_GOT_IN_STACK("CALL CHAIN"), 40, 6, SR | W},
	[C_OF] = {"of", "OF", "basis of P50 to MAX: all acquisitions, or waits only", COLUMN_TEXT,
		  8, 8, SR},
	[C_FAILED] = {"failed", "FAILED", "attempts that ended without the lock", COLUMN_COUNT, 6,
		      8, SR},
	[C_TOTAL] = {COL_TOTAL, 7, 7, SR},
	[C_HISTOGRAM] = {"histogram", "HISTOGRAM",
			 "number of durations from 2^N to 2^(N+1) ns, N counting from 0",
			 COLUMN_TEXT, 9, 9, R | COLUMN_LIST | COLUMN_NUMBERS},
	[C_HIST_FROM] = {COL_HIST_FROM("hist_from_ns"), 0, 9, 0},
	[C_HIST_TO] = {COL_HIST_TO("hist_to_ns"), 0, 9, 0},
	[C_HIST_N] = {COL_HIST_N("hist_n"), 0, 9, 0},
	[C_HOLD_FROM] = {COL_HIST_FROM("hold_hist_from_ns"), 0, 9, 0},
	[C_HOLD_TO] = {COL_HIST_TO("hold_hist_to_ns"), 0, 9, 0},
	[C_HOLD_N] = {COL_HIST_N("hold_hist_n"), 0, 9, 0},
};

struct row {
	uint64_t id;
	struct query_mmap_owner owner; /* of a lock that it spans */
	struct group *g;	       /* NULL: no task has waited; by call path: hold times */
	struct query_mmap_events e;
	bool reader;
};

struct rows {
	struct query *q;
	enum query_by by; /* BY_MMAP, BY_MMAP_MEMCG or BY_STACK */
	struct groups gs;
	struct groups gs_readers; /* by call path: gs is of writers then */
	struct row *rows;
	size_t n;
	struct map64 at;     /* id -> index */
	uint32_t *mode_next; /* see query_mmap_add() */
	bool average, buckets, ended;
	uint64_t elapsed_ns;
	double scale;		/* of events that are seen for a part of the time */
	double all;		/* events of getting one that there were; 0: not counted */
	struct hist hist, hold; /* scratch */
};

/* The row of a lock, made if it is not there; NULL: no memory. */
static struct row *row_at(struct rows *t, const struct query_mmap_owner *o, uint64_t addr,
			  bool reader)
{
	uint64_t id = query_mmap_row_id(t->by, o, addr, reader);
	const uint32_t *at = map64_get(&t->at, id);

	if (at)
		return &t->rows[*at];
	if (map64_put(&t->at, id, (uint32_t)t->n) < 0)
		return NULL;
	t->rows[t->n] = (struct row){.id = id, .owner = *o, .reader = reader};
	return &t->rows[t->n++];
}

/* Rows of what the contention events know. */
static int add_groups(struct rows *t)
{
	for (size_t i = 0; i < t->gs.n; i++) {
		struct group *g = &t->gs.g[i];
		const struct lock *l = &t->q->model->locks->locks[g->first.lock];
		struct query_mmap_owner o;
		if (!g->id || !query_mmap_owner(t->q, l->addr, l, &o))
			continue;
		bool reader = locktype_mode((enum lock_type)l->type)[0] == 'R';
		struct row *row = row_at(t, &o, l->addr, reader);
		if (!row)
			return -ENOMEM;
		row->g = g;
	}
	return 0;
}

static int add_events(struct rows *t)
{
	const struct mmlocks *l = t->q->model->mmlocks;

	for (uint32_t i = 0; i < 2 * l->n; i++) {
		const struct mmlock_mode *m = &l->mms[i / 2].mode[i % 2];
		struct query_mmap_owner o;
		if (!m->acquired && !m->failed && !m->hold.n)
			continue;
		uint64_t addr = query_mmap_owner_of(t->q, i / 2, &o);
		struct row *row = row_at(t, &o, addr, i % 2 == 0);
		if (!row)
			return -ENOMEM;
		/* If a process has several address spaces, the last one has its name. */
		if (!row->g && *o.comm)
			row->owner = o;
		query_mmap_add(&row->e, l, i, t->mode_next);
	}
	return 0;
}

static int collect_paths(struct rows *t, const struct query_scope *scope)
{
	struct groups *modes[] = {&t->gs, &t->gs_readers};
	int code = query_mmap_paths(t->q, scope, true, &t->gs);

	if (code == 0)
		code = query_mmap_paths(t->q, scope, false, &t->gs_readers);
	if (code < 0)
		return code;
	t->rows = arena_alloc(&t->q->arena, (t->gs.n + t->gs_readers.n + 1) * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (size_t r = 0; r < 2; r++)
		for (size_t i = 0; i < modes[r]->n; i++) {
			struct group *g = &modes[r]->g[i];
			t->rows[t->n++] = (struct row){.id = g->id ^ r, .g = g, .reader = r != 0};
		}
	return 0;
}

static int collect(struct rows *t, const struct query_scope *scope)
{
	size_t modes = 2 * t->q->model->mmlocks->n;
	struct arena *a = &t->q->arena;
	int code = query_group(t->q, t->by, scope, &t->gs);

	if (code < 0)
		return code;
	t->rows = arena_alloc(a, (t->gs.n + modes + 1) * sizeof(*t->rows));
	t->mode_next = arena_alloc(a, (modes + 1) * sizeof(*t->mode_next));
	if (!t->rows || !t->mode_next)
		return -ENOMEM;
	code = add_groups(t);
	if (scope->mask)
		return code;
	return code < 0 ? code : add_events(t);
}

/* The process that waited: a lock without a known owner is most probably its own. */
static void guess_process(const struct rows *t, const struct group *g, struct value *v)
{
	if (!g || g->first.task == TASK_OTHER || t->by != BY_MMAP)
		return;
	query_fill_process(t->q, g->first.task,
			   (struct task_cells){&v[C_PROCESS], &v[C_PID], NULL, &v[C_COMM]});
	v[C_PID].approx = v[C_COMM].approx = v[C_PROCESS].approx = true;
}

static void fill_key(const struct rows *t, const struct row *row, struct value *v)
{
	const struct query_mmap_owner *o = &row->owner;

	value_s(&v[C_MODE], row->reader ? "R" : "W");
	value_s(&v[C_MEMCG], o->memcg);
	v[C_MEMCG].approx = o->memcg_guessed;
	if (t->by == BY_MMAP_MEMCG)
		return;
	if (o->pid <= 0) {
		value_s(&v[C_PROCESS], o->comm);
		guess_process(t, row->g, v);
		return;
	}
	value_i(&v[C_PID], taskid_number(o->pid));
	value_s(&v[C_COMM], o->comm);
	value_s(&v[C_PROCESS], query_slash(&t->q->arena, o->comm, o->pid, "-"));
}

/* Counts, a line an octave; the first one that is stored begins at 0 and ends at 2^2 ns. */
static const char *histogram_text(struct rows *t)
{
	const char *text = "0";
	uint64_t seen = 0;

	for (unsigned o = 0; text && seen < t->hist.n && o < HIST_BUCKETS / HIST_SUB; o++) {
		uint64_t n = hist_octave(&t->hist, o);
		text = arena_printf(&t->q->arena, "%s\n%" PRIu64, text, n);
		seen += n;
	}
	return text;
}

/* Fills a cell from @hist; @min and @max are its extremes. */
static void fill_histogram(struct rows *t, uint64_t min, uint64_t max, uint64_t want,
			   struct value *v)
{
	static const struct {
		int column;
		double pct;
	} all[] = {{C_P50, 50}, {C_P90, 90}, {C_P99, 99}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		value_u(&v[all[i].column], hist_percentile(&t->hist, all[i].pct, min, max));
	if (want & 1ull << C_HISTOGRAM)
		value_s(&v[C_HISTOGRAM], histogram_text(t));
	if (t->buckets)
		query_hist_buckets(t->q, &t->hist, &v[C_HIST_FROM]);
}

static bool wants_histogram(uint64_t want)
{
	return want & (1ull << C_P50 | 1ull << C_P90 | 1ull << C_P99 | 1ull << C_HOLD_P99 |
		       1ull << C_HISTOGRAM | 1ull << C_HOLD_P50);
}

/* The same for @t->hold, with its sums. */
static void fill_hold(const struct rows *t, uint64_t n, uint64_t total, uint64_t min, uint64_t max,
		      uint64_t want, struct value *v)
{
	value_u(&v[C_HELD], n);
	value_u(&v[C_HOLD_TOTAL], total);
	value_u(&v[C_HOLD_MAX], max);
	if (!wants_histogram(want))
		return;
	value_u(&v[C_HOLD_P50], hist_percentile(&t->hold, 50, min, max));
	value_u(&v[C_HOLD_P99], hist_percentile(&t->hold, 99, min, max));
	if (t->buckets)
		query_hist_buckets(t->q, &t->hold, &v[C_HOLD_FROM]);
}

static void fill_path(struct rows *t, const struct row *row, uint64_t want, struct value *v)
{
	const struct group *g = row->g;

	value_s(&v[C_MODE], row->reader ? "R" : "W");
	value_s(&v[C_CALLER], query_func_name(t->q, g->func));
	if (want & 1ull << C_STACK)
		value_s(&v[C_STACK], query_chain(t->q, g->first.stack));
	if (wants_histogram(want))
		query_mmap_path_hist(t->q, row->reader ? &t->gs_readers : &t->gs, g, &t->hold);
	fill_hold(t, g->n, g->total_ns, g->min_ns, g->max_ns, want, v);
}

static void fill_waits(struct rows *t, const struct row *row, uint64_t want, struct value *v)
{
	struct group *g = row->g;
	uint64_t ns = t->average ? t->elapsed_ns : query_rate_ns(t->q);
	const struct group_times times = query_group_times(g, t->ended);

	value_u(&v[C_CONTENDED], g->n);
	value_u_least(&v[C_TOTAL], times.total_ns, times.at_least);
	if (want & 1ull << C_LOCKS && t->by == BY_MMAP_MEMCG)
		value_u(&v[C_LOCKS], query_group_locks(t->q, &t->gs, g));
	if (ns) {
		value_d(&v[C_CONT_RATE], query_per_s(t->average ? g->n : g->rate_n, ns));
		value_d(&v[C_WAIT_RATE],
			query_per_s(t->average ? g->waited_ns : g->rate_wait_ns, ns));
	}
	if (!times.n || row->e.wait.n_waits)
		return;
	value_s(&v[C_OF], "waited");
	value_u_least(&v[C_MAX], times.max_ns, times.max_at_least);
	if (!wants_histogram(want))
		return;
	query_group_hist(t->q, &t->gs, g, &t->hist);
	if (times.at_least)
		query_group_inflight(t->q, &t->gs, g, &t->hist);
	fill_histogram(t, times.at_least ? 0 : g->min_ns, times.max_ns, want, v);
	v[C_P50].at_least = v[C_P90].at_least = v[C_P99].at_least = times.at_least;
}

/* A count of a part of the time stands for so many of the whole. */
static void scaled(const struct rows *t, struct value *v, uint64_t n)
{
	value_u(v, (uint64_t)((double)n * t->scale + 0.5));
	v->approx = t->scale > 1;
}

static void fill_events(struct rows *t, const struct row *row, uint64_t want, struct value *v)
{
	const struct query_mmap_events *e = &row->e;
	const struct group_times waited =
		row->g ? query_group_times(row->g, t->ended) : (struct group_times){0};
	const struct mmlocks *l = t->q->model->mmlocks;

	/* The scale is of when the last burst ended. */
	scaled(t, &v[C_ACQUIRED], t->scale > 1 && l->bursts ? e->before : e->acquired);
	double error = t->scale > 1 ? query_mmap_error(e, l, t->scale, t->all) : -1;
	if (error >= 0)
		value_u(&v[C_ERROR], (uint64_t)(error + 0.5));
	scaled(t, &v[C_FAILED], e->failed);
	if (wants_histogram(want))
		query_mmap_hists(e, t->q->model->mmlocks, t->mode_next, &t->hist, &t->hold);
	if (e->hold.n_waits)
		fill_hold(t, e->hold.n_waits, e->hold.total_ns, e->hold.min_ns, e->hold.max_ns,
			  want, v);
	if (!e->wait.n_waits)
		return;
	value_s(&v[C_OF], "acquired");
	bool longer = waited.max_ns > e->wait.max_ns;
	value_u_least(&v[C_MAX], longer ? waited.max_ns : e->wait.max_ns,
		      longer && waited.max_at_least);
	if (wants_histogram(want))
		fill_histogram(t, e->wait.min_ns, e->wait.max_ns, want, v);
}

static void mmap_fill(void *ctx, size_t i, uint64_t want, struct value *v)
{
	struct rows *t = ctx;
	const struct row *row = &t->rows[i];

	if (t->by == BY_STACK) {
		fill_path(t, row, want, v);
		return;
	}
	fill_key(t, row, v);
	value_u(&v[C_WAITING], row->g ? row->g->waiting : 0);
	if (row->g)
		fill_waits(t, row, want, v);
	if (row->e.first)
		fill_events(t, row, want, v);
}

static void mmap_rank(void *ctx, size_t i, struct row_rank *ret)
{
	const struct row *row = &((const struct rows *)ctx)->rows[i];

	*ret = (struct row_rank){.id = row->id, .tie = row->g ? row->g->total_ns : row->e.acquired};
}

const struct table_kind query_mmap_kind = {"mmap", columns, C_COLUMNS, mmap_fill, mmap_rank};

bool query_mmap_has(size_t column)
{
	return column != C_LOCKS && column != C_CALLER && column != C_STACK;
}

const char *query_mmap_by_name(enum query_by by)
{
	return by == BY_STACK				? "stack"
	       : by == BY_CGROUP || by == BY_MMAP_MEMCG ? "memcg"
							: "process";
}

/* Call paths only have the hold times of locks that were got there. */
static void choose_path_columns(struct column *c)
{
	static const struct {
		int column;
		uint8_t priority;
	} all[] = {{C_MODE, 0},	    {C_HELD, 1},     {C_HOLD_TOTAL, 0}, {C_HOLD_P50, 3},
		   {C_HOLD_P99, 1}, {C_HOLD_MAX, 2}, {C_CALLER, 9},	{C_STACK, 0}};

	for (size_t i = 0; i < C_COLUMNS; i++)
		c[i].flags = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		c[all[i].column].flags = SR;
		c[all[i].column].priority = all[i].priority;
	}
	c[C_CALLER].flags = R;
	c[C_STACK].flags |= W;
}

/*
 * A row a memory cgroup has no process; a process has one lock. Columns of events that are not
 * measured take no room of the screen.
 */
static const struct column *columns_by(struct query *q, enum query_by by)
{
	struct column *c = rows_columns(q, &query_mmap_kind);

	if (!c)
		return NULL;
	if (by == BY_STACK) {
		choose_path_columns(c);
		return c;
	}
	for (size_t i = C_HELD; i <= C_STACK; i++)
		c[i].flags = R;
	if (!q->model->mmlocks->n)
		c[C_ACQUIRED].flags = c[C_HOLD_P99].flags = c[C_OF].flags = c[C_FAILED].flags = R;
	if (q->model->mmlocks->how->level != MMLEVEL_SAMPLED)
		c[C_ERROR].flags = R;
	if (by == BY_MMAP_MEMCG) {
		c[C_PROCESS].flags = c[C_PID].flags = c[C_COMM].flags = 0;
		c[C_MEMCG].priority = 0;
	} else {
		c[C_LOCKS].flags = 0;
	}
	return c;
}

static int answer(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct rows t = {.q = q,
			 .by = s->by == BY_STACK    ? BY_STACK
			       : s->by == BY_CGROUP ? BY_MMAP_MEMCG
						    : BY_MMAP,
			 .average = s->average,
			 .ended = s->ended,
			 .buckets = s->buckets,
			 .elapsed_ns = query_elapsed(q->model)};
	struct row_source src = {.kind = &query_mmap_kind,
				 .columns = columns_by(q, t.by),
				 .sort = t.by == BY_STACK ? "hold_total_ns"
					 : s->average	  ? "total_ns"
							  : "wait_ns_per_s",
				 .ctx = &t};
	struct query_mmap_sum sum;
	int code = src.columns ? query_sync(q) : -ENOMEM;

	code = code < 0 ? code : query_mmap_sum(q, s->average, &sum);
	t.scale = code < 0 ? 1 : sum.scale;
	t.all = code < 0 || !sum.counted ? 0 : t.scale * (double)q->model->mmlocks->got_before;
	if (code == 0)
		code = t.by == BY_STACK ? collect_paths(&t, &s->scope) : collect(&t, &s->scope);
	map64_deinit(&t.at);
	if (code < 0)
		return query_enomem(err, "mmap_locks");
	src.n = t.n;
	return rows_answer(q, s, &src, ret, err);
}

/* Waits are of the window; sums of the locks' own events are not kept by time. */
bool query_mmap_is_of_window(const struct query *q)
{
	return !q->model->mmlocks->n;
}

int query_mmap(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	const uint64_t window_ns = q->window_ns;

	if (!query_mmap_is_of_window(q))
		q->window_ns = 0;
	int r = answer(q, s, ret, err);
	q->window_ns = window_ns;
	return r;
}

static double rate_of(const struct table *t, size_t row)
{
	const struct value *v = table_cell(t, row, "wait_ns_per_s");

	return v->known ? v->d : 0;
}

int query_mmap_worst(struct query *q, bool average, struct table *ret, struct error *err)
{
	struct query_spec s = {.by = BY_PROCESS,
			       .average = average,
			       .limit = QUERY_MMAP_WORST,
			       .sort = "wait_ns_per_s"};
	int r = query_mmap(q, &s, ret, err);

	/* A row without waiting now is not among the worst, and its process may be gone. */
	while (r == 0 && ret->n_rows && !rate_of(ret, ret->n_rows - 1))
		ret->n_rows--;
	return r;
}
