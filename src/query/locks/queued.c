// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "queues": how waits for a lock ended, in which order waiters got it, and how long there
 * was always a waiter. The model has the sums of finished waits (model/lockqueue.c); those in
 * flight are added here, in one walk over all of them.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/cell.h"
#include "kontend/columns.h"
#include "kontend/hist.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/query-queued.h"
#include "kontend/query-use.h"
#include "kontend/series.h"
#include "kontend/table.h"
#include "kontend/task.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

enum {
	C_KIND,
	C_LOCK,
	C_NAME,
	C_READERS,
	C_WRITERS,
	C_LONGEST,
	C_SPARK,
	C_HANDED,
	C_P50,
	C_P99,
	C_PASSED,
	C_PASSED_MOST,
	C_PASSED_WAITS,
	C_PASSED_LONGEST,
	C_STOLEN,
	C_PHASES,
	C_PHASE_AVG,
	C_PHASE_MOST,
	C_CONVOYS,
	C_CONVOY,
	C_CONVOY_LONGEST,
	C_CONVOY_NOW,
	C_STARVED,
	C_STARVED_MOST,
	C_STARVED_NS,
	C_WORST,
	C_WORST_PID,
	C_WORST_TID,
	C_WORST_COMM,
	C_JAIN,
	C_USERS,
	C_USE,
	C_COLUMNS
};

enum { SPARK_LEN = 16 };

static const struct column columns[C_COLUMNS] = {
	[C_KIND] = {COL_TYPE, 8, 0, SR},
	[C_LOCK] = {COL_LOCK, 18, 9, R},
	[C_NAME] = {COL_NAME, 18, 0, SR | W},
	[C_READERS] = {COL_READERS_WAITING, 3, 1, SR},
	[C_WRITERS] = {COL_WRITERS_WAITING, 3, 1, SR},
	[C_LONGEST] = {"longest", "MOST", "longest queue, in tasks", COLUMN_COUNT, 4, 0, SR},
	[C_SPARK] = {"spark", "HISTORY", "longest queue of each of the last buckets", COLUMN_SERIES,
		     SPARK_LEN, 6, S},
	[C_HANDED] = {"handed", "HANDED", "times that a task which had waited got the lock",
		      COLUMN_COUNT, 6, 0, SR},
	[C_P50] = {"hand_p50_ns", "HAND50",
		   "half of the hand-overs, from a release until the next task had the lock, were "
		   "shorter; known if releases are reported",
		   COLUMN_NS, 6, 4, SR},
	[C_P99] = {"hand_p99_ns", "HAND99",
		   "99 % of the hand-overs were shorter; known if releases are reported", COLUMN_NS,
		   6, 3, SR},
	[C_PASSED] = {"passed", "PASSED",
		      "times that a later task got the lock before a waiting one", COLUMN_COUNT, 6,
		      0, SR},
	[C_PASSED_MOST] = {"passed_most", "WORST", "number of times that one wait was passed over",
			   COLUMN_COUNT, 5, 1, SR},
	[C_PASSED_WAITS] = {"passed_waits", "WAITS", "waits that were passed over", COLUMN_COUNT, 5,
			    7, SR},
	[C_PASSED_LONGEST] = {"passed_longest_ns", "LONGEST", "longest wait that was passed over",
			      COLUMN_NS, 7, 4, SR},
	[C_STOLEN] = {"stolen", "STOLEN",
		      "times, at least, that a task took the lock without waiting while others "
		      "waited",
		      COLUMN_COUNT, 6, 1, SR},
	[C_PHASES] = {"phases", "PHASES",
		      "runs of readers, or of writers, that got the lock one after the other",
		      COLUMN_COUNT, 6, 5, SR},
	[C_PHASE_AVG] = {"readers_avg", "R/RUN", "readers that a run of readers had on average",
			 COLUMN_RATE, 5, 3, SR},
	[C_PHASE_MOST] = {"readers_most", "R MOST", "readers that a run had at most", COLUMN_COUNT,
			  6, 6, SR},
	[C_CONVOYS] = {"convoys", "CONVOYS",
		       "times that the queue was not empty for longer than 10 ms", COLUMN_COUNT, 7,
		       3, SR},
	[C_CONVOY] = {"convoy_ns", "CONVOY", "total duration of the convoys", COLUMN_NS, 6, 0, SR},
	[C_CONVOY_LONGEST] = {"convoy_longest_ns", "C MAX", "longest convoy", COLUMN_NS, 6, 4, SR},
	[C_CONVOY_NOW] = {"convoy_now_ns", "C NOW", "duration of the present convoy", COLUMN_NS, 6,
			  2, SR},
	[C_STARVED] = {"starved", "STARVED",
		       "waits that lasted longer than 16 hand-overs of the lock", COLUMN_COUNT, 7,
		       1, SR},
	[C_STARVED_MOST] = {"starved_most", "S MOST",
			    "hand-overs during the starved wait with most", COLUMN_COUNT, 6, 4, SR},
	[C_STARVED_NS] = {"starved_ns", "S TIME",
			  "waiting time of the starved wait with most hand-overs", COLUMN_NS, 6, 4,
			  SR},
	[C_WORST] = {"worst", "WORST TASK",
		     "task that was passed over most often in one wait, or that starved most",
		     COLUMN_TEXT, 14, 2, S},
	[C_WORST_PID] = {"worst_pid", "PID", "process id of WORST TASK", COLUMN_INT, 7, 9, R},
	[C_WORST_TID] = {"worst_tid", "TID", "thread id of WORST TASK", COLUMN_INT, 7, 9, R},
	[C_WORST_COMM] = {"worst_comm", "COMM", "name of WORST TASK, without its id", COLUMN_TEXT,
			  16, 9, R},
	[C_JAIN] = {"use_jain", "JAIN",
		    "Jain's index of the use of the lock by tasks, from 1/n, uneven, to 1",
		    COLUMN_RATE, 5, 9, R},
	[C_USERS] = {"use_tasks", "TASKS",
		     "number of tasks in the index, which had the lock or waited for it",
		     COLUMN_COUNT, 5, 9, R},
	[C_USE] = {"use", "USE",
		   "these tasks, the longest holders first: share of the time held while others "
		   "waited, and of CPU time",
		   COLUMN_TEXT, 24, 9, R | COLUMN_LIST},
};

enum { USE_MOST = 8 };

struct queued {
	uint32_t lock; /* of the modes the one with the smaller index */
	const struct lockqueue *q;
	struct lockqueue_sums sums;
	uint64_t convoy_now_ns;
};

struct queued_rows {
	struct query *q;
	struct queued *rows;
	size_t n;
	struct query_uses *uses; /* NULL: not asked for yet */
	struct hist hist;	 /* scratch */
};

/* Adds the waits in flight. */
static void add_waits(const struct model *m, struct queued *by_queue)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->lines_up)
			lockqueue_count(m, w, m->now_ns,
					&by_queue[m->locks->locks[w->lock].queue].sums);
	}
}

static uint32_t length_of(const struct lockqueue *q)
{
	return q->n[LOCKQUEUE_W] + q->n[LOCKQUEUE_R];
}

static void add_convoy(const struct model *m, struct queued *r)
{
	uint64_t ns = m->now_ns > r->q->busy_ns ? m->now_ns - r->q->busy_ns : 0;
	struct lockqueue_sums *s = &r->sums;

	if (!length_of(r->q) || ns <= LOCKQUEUE_CONVOY_NS)
		return;
	r->convoy_now_ns = ns;
	s->convoys++;
	s->convoy_ns += ns;
	s->convoy_longest_ns = ns > s->convoy_longest_ns ? ns : s->convoy_longest_ns;
}

/* The window's figures of queues that still exist. */
static void add_parts(const struct query *q, struct queued *by_queue)
{
	const struct lockqueues *s = q->engine->model->queues;
	uint64_t begin_ns = query_window_begin(q);

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct lockqueue_part *p = &s->parts[i];
		if (p->end_ns > begin_ns && s->v[p->queue].serial == p->serial)
			lockqueue_add(&by_queue[p->queue].sums, &p->sums);
	}
}

/* By index of the queue, all that are kept; in the query's arena, NULL: no memory. */
static struct queued *sum_up(struct query *q)
{
	const struct model *m = q->engine->model;
	bool has_window = query_has_window(q);
	struct queued *all = arena_alloc(&q->arena, ((size_t)m->queues->n + 1) * sizeof(*all));

	if (!all)
		return NULL;
	memset(all, 0, ((size_t)m->queues->n + 1) * sizeof(*all));
	for (uint32_t i = 1; i < m->queues->n; i++) {
		all[i].q = &m->queues->v[i];
		if (!has_window)
			all[i].sums = lockqueue_all(&m->queues->v[i]);
	}
	if (has_window)
		add_parts(q, all);
	add_waits(m, all);
	for (uint32_t i = 1; i < m->queues->n; i++)
		add_convoy(m, &all[i]);
	for (uint32_t i = LOCK_TYPES; i < m->locks->n; i++) {
		uint32_t index = m->locks->locks[i].queue;
		if (index && !all[index].lock)
			all[index].lock = i;
	}
	return all;
}

/* The locks that pass a filter or a scope; NULL: all, or no memory. */
static uint8_t *locks_left(struct query *q, const struct query_scope *scope)
{
	const struct model *m = q->model;
	uint8_t *left = arena_alloc(&q->arena, m->locks->n + 1);

	if (!left)
		return NULL;
	memset(left, 0, m->locks->n + 1);
	for (size_t i = 0; i < m->cells->n; i++) {
		const struct query_where w = query_cell_where(&m->cells->cells[i]);
		if (!scope->mask || query_in_scope(q, scope, &w))
			left[w.lock] = 1;
	}
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct query_where w = query_wait_where(&m->waits->waits[i]);
		if (m->waits->waits[i].used && (!scope->mask || query_in_scope(q, scope, &w)))
			left[w.lock] = 1;
	}
	return left;
}

static int find_rows(struct queued_rows *r, const struct query_scope *scope)
{
	const struct model *m = r->q->model;
	struct queued *all = sum_up(r->q);
	bool is_part = r->q->only || scope->mask;
	uint8_t *left = is_part ? locks_left(r->q, scope) : NULL;

	if (!all || (is_part && !left))
		return -ENOMEM;
	r->rows = all;
	for (uint32_t i = 1; i < r->q->engine->model->queues->n; i++) {
		uint32_t lock = all[i].lock;
		if (!all[i].sums.longest && !length_of(all[i].q))
			continue;
		if (lock && (!is_part || left[lock] || left[m->locks->locks[lock].twin]))
			all[r->n++] = all[i];
	}
	return 0;
}

/* Does the lock have one mode for readers and one for writers? */
static bool has_modes(const struct model *m, uint32_t lock)
{
	return *locktype_mode((enum lock_type)m->locks->locks[lock].type);
}

static void fill_names(struct queued_rows *rs, const struct queued *r, struct value *v)
{
	const struct lock *l = &rs->q->model->locks->locks[r->lock];

	value_s(&v[C_KIND], locktype_base((enum lock_type)l->type));
	value_s(&v[C_NAME], query_lock_name(rs->q, r->lock));
	v[C_LOCK] = (struct value){.u = l->addr, .known = true};
}

static void fill_times(struct queued_rows *rs, const struct lockqueue *s, struct value *v)
{
	static const struct {
		int column;
		double pct;
	} all[] = {{C_P50, 50}, {C_P99, 99}};

	if (!s->times_n)
		return;
	memset(&rs->hist, 0, sizeof(rs->hist));
	hist_pool_sum(&rs->q->engine->model->queues->hists, s->times, &rs->hist);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		value_u(&v[all[i].column],
			hist_percentile(&rs->hist, all[i].pct, s->times_min_ns, s->times_max_ns));
}

static void fill_modes(const struct model *m, const struct queued *r, struct value *v)
{
	const struct lockqueue_sums *s = &r->sums;

	if (!has_modes(m, r->lock))
		return;
	value_u(&v[C_READERS], r->q->n[LOCKQUEUE_R]);
	value_u(&v[C_PHASES], s->phases[LOCKQUEUE_R] + s->phases[LOCKQUEUE_W]);
	if (s->phases[LOCKQUEUE_R]) {
		value_d(&v[C_PHASE_AVG],
			(double)s->handed[LOCKQUEUE_R] / (double)s->phases[LOCKQUEUE_R]);
		value_u(&v[C_PHASE_MOST], s->phase_most);
	}
}

/* True for a lock whose word names its holder. */
static bool sees_stealing(const struct model *m, uint32_t lock)
{
	return lockqueue_names_holder((enum lock_type)m->locks->locks[lock].type) &&
	       lockqueue_sees_stealing(m);
}

static void fill_worst(struct query *q, const struct lockqueue_sums *s, struct value *v)
{
	const struct lockqueue_worst *w = s->passed_most.n ? &s->passed_most : &s->starved_most;

	if (w->n && w->task != TASK_OTHER)
		query_fill_task(q, w->task,
				(struct task_cells){&v[C_WORST], &v[C_WORST_PID], &v[C_WORST_TID],
						    &v[C_WORST_COMM]});
}

static void fill_spark(struct queued_rows *rs, const struct queued *r, struct value *v)
{
	uint64_t *points;
	struct value packed = {0};

	value_series(rs->q, &packed, &r->q->series, SPARK_LEN);
	points = packed.known ? arena_alloc(&rs->q->arena, (packed.n + 1) * sizeof(*points)) : NULL;
	if (!points)
		return;
	for (uint32_t i = 0; i < packed.n; i++) {
		struct lockqueue_bucket b = lockqueue_bucket(packed.series[i]);
		points[i] = (uint64_t)b.n[LOCKQUEUE_R] + b.n[LOCKQUEUE_W];
	}
	v[C_SPARK] = packed;
	v[C_SPARK].series = points;
}

static void fill_use(struct queued_rows *rs, const struct queued *r, struct value *v)
{
	struct query *q = rs->q;
	struct query_use use;
	const char *text = NULL;

	if (!rs->uses) {
		rs->uses = arena_alloc(&q->arena, sizeof(*rs->uses));
		if (!rs->uses || query_use_all(q, UINT32_MAX, rs->uses) < 0)
			q->cache->failed = true;
	}
	if (q->cache->failed || query_use_of(q, rs->uses, r->lock, &use) < 0 || !use.held_ns)
		return;
	value_d(&v[C_JAIN], use.jain);
	value_u(&v[C_USERS], use.n);
	for (uint32_t i = 0; i < use.n && i < USE_MOST; i++)
		text = arena_printf(&q->arena, "%s%s%s", text ? text : "", text ? "\n" : "",
				    query_use_text(q, &use, i));
	value_s(&v[C_USE], text);
}

static void queued_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct queued_rows *rs = ctx;
	const struct queued *r = &rs->rows[row];
	const struct lockqueue_sums *s = &r->sums;

	value_u(&v[C_WRITERS], r->q->n[LOCKQUEUE_W]);
	value_u(&v[C_LONGEST], s->longest);
	value_u(&v[C_HANDED], s->handed[LOCKQUEUE_R] + s->handed[LOCKQUEUE_W]);
	value_u(&v[C_PASSED], s->passed);
	value_u(&v[C_PASSED_MOST], s->passed_most.n);
	value_u(&v[C_PASSED_WAITS], s->passed_waits);
	value_u(&v[C_PASSED_LONGEST], s->passed_longest_ns);
	if (sees_stealing(rs->q->model, r->lock))
		value_u_least(&v[C_STOLEN], s->stolen, true);
	value_u(&v[C_CONVOYS], s->convoys);
	value_u(&v[C_CONVOY], s->convoy_ns);
	value_u(&v[C_CONVOY_LONGEST], s->convoy_longest_ns);
	value_u(&v[C_CONVOY_NOW], r->convoy_now_ns);
	value_u(&v[C_STARVED], s->starved);
	value_u(&v[C_STARVED_MOST], s->starved_most.n);
	value_u(&v[C_STARVED_NS], s->starved_most.ns);
	fill_modes(rs->q->model, r, v);
	if (want & (1ull << C_P50 | 1ull << C_P99))
		fill_times(rs, r->q, v);
	if (want & (1ull << C_KIND | 1ull << C_NAME | 1ull << C_LOCK))
		fill_names(rs, r, v);
	if (want & 1ull << C_SPARK)
		fill_spark(rs, r, v);
	if (want & (1ull << C_JAIN | 1ull << C_USERS | 1ull << C_USE))
		fill_use(rs, r, v);
	if (want & ~((1ull << C_WORST) - 1))
		fill_worst(rs->q, s, v);
}

static void queued_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct queued_rows *rs = ctx;
	const struct queued *r = &rs->rows[row];

	*ret = (struct row_rank){.id = rs->q->model->locks->locks[r->lock].id,
				 .tie = r->sums.handed[LOCKQUEUE_R] + r->sums.handed[LOCKQUEUE_W]};
}

const struct table_kind query_queued_kind = {"queues", columns, C_COLUMNS, queued_fill,
					     queued_rank};

/* Times that no row has take no room on the screen. */
static struct column *columns_for(struct query *q)
{
	struct column *c = rows_columns(q, &query_queued_kind);

	if (c && !q->engine->model->queues->hists.groups)
		c[C_P50].flags = c[C_P99].flags = COLUMN_REPORT;
	return c;
}

int query_queued(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct queued_rows *r = arena_alloc(&q->arena, sizeof(*r));

	if (!r)
		return query_enomem(err, "queues");
	memset(r, 0, sizeof(*r));
	r->q = q;
	if (query_sync(q) < 0 || find_rows(r, &s->scope) < 0)
		return query_enomem(err, "queues");
	struct row_source src = {.kind = &query_queued_kind,
				 .columns = columns_for(q),
				 .n = r->n,
				 .sort = "convoy_ns",
				 .ctx = r};
	if (!src.columns)
		return query_enomem(err, "queues");
	return rows_answer(q, s, &src, ret, err);
}

int query_queued_sum(struct query *q, struct query_queued_sum *ret)
{
	const struct model *m = q->engine->model;

	*ret = (struct query_queued_sum){.queues = m->queues->in_use,
					 .no_room = m->queues->no_room,
					 .times = m->queues->hists.groups != NULL,
					 .is_short = m->queues->dropped_ns > query_window_begin(q)};
	for (uint32_t i = 1; i < m->queues->n; i++) {
		struct queued r = {.q = &m->queues->v[i]};
		ret->waiting += length_of(r.q);
		add_convoy(m, &r);
		ret->convoys += r.convoy_now_ns != 0;
	}
	return query_sync(q) < 0 ? -ENOMEM : 0;
}

/* Its history, for all buckets so far. */
static int fill_course(struct query *q, const struct lockqueue *queue,
		       struct query_queued_lock *ret)
{
	const struct model *m = q->engine->model;
	uint32_t n = m->n_ticks < SERIES_LEN ? (uint32_t)m->n_ticks : SERIES_LEN;
	uint64_t *v = arena_alloc(&q->arena, (3 * (size_t)n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	ret->readers = v;
	ret->writers = v + n;
	ret->handed = v + 2 * (size_t)n;
	ret->n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct lockqueue_bucket b =
			lockqueue_bucket(series_at(&queue->series, m->n_ticks, n - 1 - i));
		v[i] = b.n[LOCKQUEUE_R];
		v[n + i] = b.n[LOCKQUEUE_W];
		v[2 * (size_t)n + i] = b.handed;
	}
	return 0;
}

static void fill_sums(const struct model *m, const struct queued *r, struct query_queued_lock *ret)
{
	const struct lockqueue_sums *s = &r->sums;
	struct hist hist = {0};

	ret->has_modes = has_modes(m, r->lock);
	ret->handed_n = s->handed[LOCKQUEUE_R] + s->handed[LOCKQUEUE_W];
	ret->passed = s->passed;
	ret->passed_most = s->passed_most.n;
	ret->stolen = sees_stealing(m, r->lock) ? s->stolen : 0;
	ret->convoys = s->convoys;
	ret->convoy_longest_ns = s->convoy_longest_ns;
	ret->convoy_now_ns = r->convoy_now_ns;
	ret->starved = s->starved;
	ret->longest = s->longest;
	ret->times_n = r->q->times_n;
	if (!ret->times_n)
		return;
	hist_pool_sum(&m->queues->hists, r->q->times, &hist);
	ret->p50_ns = hist_percentile(&hist, 50, r->q->times_min_ns, r->q->times_max_ns);
	ret->p99_ns = hist_percentile(&hist, 99, r->q->times_min_ns, r->q->times_max_ns);
}

int query_queued_lock(struct query *q, uint64_t id, struct query_queued_lock *ret)
{
	const struct model *m = q->engine->model;
	uint32_t lock = lock_by_id(m->locks, id);
	uint32_t index = lock == UINT32_MAX ? 0 : m->locks->locks[lock].queue;
	struct queued *all = index ? sum_up(q) : NULL;

	*ret = (struct query_queued_lock){0};
	if (!index)
		return 0;
	if (!all)
		return -ENOMEM;
	fill_sums(m, &all[index], ret);
	return fill_course(q, all[index].q, ret);
}
