// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "locks", by any dimension, and "types", which is the same by type. All dimensions have
 * one set of columns at fixed places; those that say nothing in a dimension have their flags
 * cleared and are then neither shown, reported, sorted nor filtered by. Sums cost nothing once the
 * groups are there; percentiles and names are worked out only for rows that need them.
 */
#include "../blame/held-by.h"
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/hist.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/model-cpu.h"
#include "kontend/query-lock.h"
#include "kontend/shorts.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "queues.h"

#include <errno.h>
#include <string.h>

enum {
	C_TASK,
	C_PROCESS,
	C_PID,
	C_TID,
	C_COMM,
	C_CPU,
	C_CGROUP,
	C_STACK,
	C_LOCK,
	C_KIND,
	C_TYPE,
	C_MODE,
	C_NAME,
	C_OBJECT,
	C_PATH,
	C_LOCKS,
	C_WAITING,
	C_READERS,
	C_WRITERS,
	C_RCU,
	C_READERS_PART,
	C_HOLDER,
	C_OWNER_PID,
	C_OWNER_TID,
	C_OWNER_COMM,
	C_CERTAINTY,
	C_MOSTLY,
	C_MOSTLY_PCT,
	C_OWNER_FUNCTION,
	C_CONT_RATE,
	C_WAIT_RATE,
	C_WAIT_PCT,
	C_SPARK,
	C_AVG,
	C_P50,
	C_P99,
	C_MAX,
	C_CONTENDED,
	C_TOTAL,
	C_SPIN,
	C_BLOCK,
	C_SPIN_RATE,
	C_LOST,
	C_LOST_RATE,
	C_LOST_PCT,
	C_PAR,
	C_MIN,
	C_P90,
	C_LAST,
	C_FAILED,
	C_CALLER,
	C_SYSCALL,
	C_SYSCALL_REASON,
	C_ON,
	C_ON_REASON,
	C_AT,
	C_AT_REASON,
	C_EVIDENT,
	C_HIST_FROM,
	C_HIST_TO,
	C_HIST_N,
	C_COLUMNS
};

/* Points of a sparkline in a row. */
enum { SPARK_LEN = 16 };

static const struct column columns[C_COLUMNS] = {
	[C_TASK] = {COL_TASK, 16, 0, S, 1 << BY_TASK},
	[C_PROCESS] = {COL_PROCESS, 16, 0, S, 1 << BY_PROCESS},
	[C_PID] = {COL_PID, 7, 9, R, 1 << BY_TASK | 1 << BY_PROCESS},
	[C_TID] = {COL_TID, 7, 9, R, 1 << BY_TASK},
	[C_COMM] = {COL_COMM, 16, 9, R, 1 << BY_TASK | 1 << BY_PROCESS},
	[C_CPU] = {COL_WAIT_CPU, 4, 0, SR, 1 << BY_CPU},
	[C_CGROUP] = {COL_CGROUP, 24, 0, SR | W, 1 << BY_CGROUP},
	[C_STACK] = {COL_STACK, 40, 0, SR | W, 1 << BY_STACK},
	[C_LOCK] = {COL_LOCK, 18, 9, R},
	[C_KIND] = {COL_KIND, 10, 0, SR},
	[C_TYPE] = {COL_TYPE, 9, 9, R},
	[C_MODE] = {COL_MODE, 4, 9, R},
	[C_NAME] = {COL_NAME, 20, 0, SR | W},
	[C_OBJECT] = {COL_OBJECT, 12, 9, R, 1 << BY_LOCK},
	[C_PATH] = {COL_PATH, 20, 9, R, 1 << BY_LOCK},
	[C_LOCKS] = {COL_LOCKS, 5, 6, SR, ~(1u << BY_LOCK)},
	[C_WAITING] = {COL_WAITING, 4, 0, SR},
	[C_READERS] = {COL_READERS_WAITING, 3, 6, SR, 1 << BY_LOCK},
	[C_WRITERS] = {COL_WRITERS_WAITING, 3, 6, SR, 1 << BY_LOCK},
	[C_RCU] = {COL_RCU, 6, 9, R, 1 << BY_LOCK},
	[C_READERS_PART] = {COL_READERS_PART, 7, 9, R, 1 << BY_LOCK},
	[C_HOLDER] = {"holder", "HELD BY",
		      "task that holds the lock now: name and thread id; W a writer, R? a reader: "
		      "by its calls, or one that had it; free, to NAME: no task, and that one is "
		      "next; ~ none is known now: the holder that made tasks wait longest",
		      COLUMN_TEXT, 16, 5, S, 1 << BY_LOCK | 1 << BY_OWNER},
	[C_OWNER_PID] = {COL_OWNER_PID, 7, 9, R, 1 << BY_LOCK | 1 << BY_OWNER},
	[C_OWNER_TID] = {COL_OWNER_TID, 7, 9, R, 1 << BY_LOCK | 1 << BY_OWNER},
	[C_OWNER_COMM] = {COL_OWNER_COMM, 16, 9, R, 1 << BY_LOCK | 1 << BY_OWNER},
	[C_CERTAINTY] = {COL_CERTAINTY("owner_certainty"), 9, 9, R, 1 << BY_LOCK | 1 << BY_OWNER},
	[C_MOSTLY] = {"mostly_held_by", "MOSTLY HELD BY",
		      "task that had the lock while others waited longest for it; of several "
		      "threads their process, of several processes how many, and their name",
		      COLUMN_TEXT, 16, 9, R, 1 << BY_LOCK},
	[C_MOSTLY_PCT] = {"mostly_held_pct", "MOSTLY HELD%",
			  "share of that holder in the time waited for the lock", COLUMN_PCT, 6, 9,
			  R, 1 << BY_LOCK},
	[C_OWNER_FUNCTION] = {COL_OWNER_FUNCTION, 20, 3, SR, 1 << BY_OWNER},
	[C_EVIDENT] = {COL_READERS_EVIDENT, 20, 9, R | COLUMN_LIST, 1 << BY_LOCK},
	[C_CONT_RATE] = {COL_CONT_RATE, 6, 1, SR},
	[C_WAIT_RATE] = {COL_WAIT_RATE, 6, 0, SR},
	[C_WAIT_PCT] = {COL_WAIT_PCT, 5, 3, SR},
	[C_SPARK] = {"spark", "HISTORY", "time waited in the last buckets", COLUMN_SERIES,
		     SPARK_LEN, 5, S, 1 << BY_LOCK | 1 << BY_TYPE | 1 << BY_CPU},
	[C_AVG] = {"avg_ns", "AVG", "average wait, waits in flight included", COLUMN_NS, 7, 1, SR},
	[C_P50] = {COL_P50("waits"), 7, 4, SR},
	[C_P99] = {COL_P99("waits"), 7, 2, SR},
	[C_MAX] = {COL_MAX, 7, 1, SR},
	[C_CONTENDED] = {COL_CONTENDED, 9, 4, SR},
	[C_TOTAL] = {COL_TOTAL, 7, 4, SR},
	[C_SPIN] = {COL_SPIN, 6, 6, SR},
	[C_BLOCK] = {COL_BLOCK, 6, 7, SR},
	[C_SPIN_RATE] = {COL_SPIN_RATE, 6, 9, R},
	[C_LOST] = {COL_WAIT_LOST, 6, 9, R},
	[C_LOST_RATE] = {COL_WAIT_LOST_RATE, 6, 4, SR},
	[C_LOST_PCT] = {COL_WAIT_LOST_PCT, 5, 6, SR},
	[C_PAR] = {COL_WAIT_PAR, 5, 5, SR},
	[C_MIN] = {COL_MIN, 6, 7, SR},
	[C_P90] = {COL_P90("waits"), 7, 5, SR},
	[C_LAST] = {COL_LAST("wait"), 6, 6, SR},
	[C_FAILED] = {"failed", "FAILED", "waits that ended without the lock", COLUMN_COUNT, 6, 8,
		      SR},
	[C_CALLER] = {COL_CALLER, 20, 1, SR | W},
	[C_SYSCALL] = {COL_SYSCALL, 10, 4, SR},
	[C_SYSCALL_REASON] = {COL_SYSCALL_REASON, 20, 9, R},
	[C_ON] = {COL_ON, 16, 6, SR | W},
	[C_ON_REASON] = {COL_ON_REASON, 20, 9, R},
	[C_AT] = {COL_AT, 20, 2, SR | W},
	[C_AT_REASON] = {COL_AT_REASON, 20, 9, R},
	[C_HIST_FROM] = {COL_HIST_FROM("hist_from_ns"), 0, 9, 0},
	[C_HIST_TO] = {COL_HIST_TO("hist_to_ns"), 0, 9, 0},
	[C_HIST_N] = {COL_HIST_N("hist_n"), 0, 9, 0},
};

/* Columns that are known too seldom to need room on the screen, or that repeat another one. */
static const uint32_t off_screen[C_COLUMNS] = {
	[C_KIND] = 1 << BY_CPU | 1 << BY_CGROUP,
	[C_NAME] = 1 << BY_TYPE | 1 << BY_CPU | 1 << BY_CGROUP,
	[C_CALLER] = 1 << BY_STACK,
};

struct locks {
	struct query *q;
	struct groups gs;
	enum query_by by;
	bool average, buckets, ended;
	uint64_t elapsed_ns, rate_ns; /* rate_ns: where it is no average */
	double wait_per_s;	      /* of all groups */
	struct held_by held_by;
	struct hist hist; /* scratch */
};

static double wait_rate(const struct locks *ls, const struct group *g)
{
	if (ls->average)
		return query_per_s(g->waited_ns, ls->elapsed_ns);
	return query_per_s(g->rate_wait_ns, ls->rate_ns);
}

/* Of the same time as WAIT/s, which has both. */
static void fill_spins(struct locks *ls, const struct group *g, struct value *v)
{
	bool windowed = query_has_window(ls->q);
	uint64_t all = windowed ? g->rate_wait_ns : g->waited_ns;
	uint64_t ns = windowed ? ls->rate_ns : ls->elapsed_ns;

	value_u(&v[C_BLOCK], all > g->spun_ns ? all - g->spun_ns : 0);
	v[C_BLOCK].at_least = g->at_least;
	v[C_BLOCK].approx = g->unsplit;
	if (!g->is_split)
		return;
	value_u_least(&v[C_SPIN], g->spun_ns, g->unsplit || g->at_least);
	if (ns)
		value_d(&v[C_SPIN_RATE], query_per_s(g->spun_ns, ns));
	v[C_SPIN_RATE].at_least = v[C_SPIN].at_least;
}

static void fill_lost(struct locks *ls, const struct group *g, struct value *v)
{
	bool windowed = query_has_window(ls->q);
	uint64_t ns = windowed ? ls->rate_ns : ls->elapsed_ns;
	const struct query_waits_cost c = {.waited_ns = windowed ? g->rate_wait_ns : g->waited_ns,
					   .lost_ns = g->lost_ns,
					   .par_ns = g->par_ns,
					   .par_of_ns = g->par_of_ns,
					   .is_lost = g->is_lost,
					   .unlost = g->unlost,
					   .at_least = g->unlost || g->at_least};

	query_fill_cost(&c, &v[C_LOST], &v[C_LOST_PCT], &v[C_PAR]);
	if (v[C_LOST].known && ns)
		value_d(&v[C_LOST_RATE], query_per_s(v[C_LOST].u, ns));
	v[C_LOST_RATE].at_least = v[C_LOST].at_least;
}

static void fill_sums(struct locks *ls, const struct group *g, struct value *v)
{
	const struct model *m = ls->q->model;
	const struct group_times t = query_group_times(g, ls->ended);
	uint64_t n = ls->average ? g->n : g->rate_n;
	uint64_t ns = ls->average ? ls->elapsed_ns : ls->rate_ns;
	double rate = wait_rate(ls, g);

	value_u(&v[C_WAITING], g->waiting);
	if (ns) {
		value_d(&v[C_CONT_RATE], query_per_s(n, ns));
		value_d(&v[C_WAIT_RATE], rate);
		value_d(&v[C_WAIT_PCT], ls->wait_per_s > 0 ? 100 * rate / ls->wait_per_s : 0);
	}
	value_u(&v[C_CONTENDED], g->n);
	value_u_least(&v[C_TOTAL], t.total_ns, t.at_least);
	value_u(&v[C_FAILED], g->failed);
	v[C_CONT_RATE].at_least = v[C_WAIT_RATE].at_least =
		ls->average ? g->at_least : g->at_least_now;
	v[C_CONTENDED].at_least = g->at_least;
	if (t.n) {
		value_u_least(&v[C_AVG], t.total_ns / t.n, t.at_least);
		value_u_least(&v[C_MAX], t.max_ns, t.max_at_least);
	}
	if (g->n == 0)
		return;
	/* The shortest are those without a record of their own. */
	if (!g->has_shorts)
		value_u(&v[C_MIN], g->min_ns);
	value_u(&v[C_LAST], m->now_ns > g->last_ns ? m->now_ns - g->last_ns : 0);
}

static void fill_percentiles(struct locks *ls, struct group *g, struct value *v)
{
	static const struct {
		int column;
		double pct;
	} all[] = {{C_P50, 50}, {C_P90, 90}, {C_P99, 99}};
	const struct group_times t = query_group_times(g, ls->ended);
	uint64_t min = t.at_least ? 0 : g->min_ns;
	bool exact = min == t.max_ns || t.n == 1;

	if (t.n == 0)
		return;
	if (!exact && !g->has_pct) {
		query_group_hist(ls->q, &ls->gs, g, &ls->hist);
		if (t.at_least)
			query_group_inflight(ls->q, &ls->gs, g, &ls->hist);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!g->has_pct)
			g->pct_ns[i] =
				exact ? t.max_ns
				      : hist_percentile(&ls->hist, all[i].pct, min, t.max_ns);
		value_u_least(&v[all[i].column], g->pct_ns[i], t.at_least);
		v[all[i].column].approx = g->has_shorts;
	}
	g->has_pct = true;
}

static struct task_cells owner_cells(struct value *v)
{
	return (struct task_cells){NULL, &v[C_OWNER_PID], &v[C_OWNER_TID], &v[C_OWNER_COMM]};
}

/* Holders of the locks when the waits of the row began. */
static void fill_owner(struct query *q, uint32_t owner, struct value *v)
{
	const struct task *t = &q->model->tasks->tasks[cell_owner_task(owner)];

	if (!owner)
		return;
	value_s(&v[C_HOLDER], query_owner_name(q, owner));
	value_s(&v[C_CERTAINTY], owner == OWNER_FREE  ? "free"
				 : owner & OWNER_HINT ? "hint"
						      : "sure");
	if (owner == OWNER_FREE)
		return;
	query_fill_task(q, cell_owner_task(owner), owner_cells(v));
	value_s(&v[C_OWNER_FUNCTION], query_queue_last_function(q, t->tid));
}

static void fill_key(struct locks *ls, const struct group *g, struct value *v)
{
	struct query *q = ls->q;

	switch (ls->by) {
	case BY_TASK:
		query_fill_task(q, g->first.task,
				(struct task_cells){&v[C_TASK], &v[C_PID], &v[C_TID], &v[C_COMM]});
		break;
	case BY_PROCESS:
		query_fill_process(q, g->first.task,
				   (struct task_cells){&v[C_PROCESS], &v[C_PID], NULL, &v[C_COMM]});
		break;
	case BY_CPU:
		if (g->first.cpu != CELL_NO_CPU)
			value_i(&v[C_CPU], g->first.cpu);
		break;
	case BY_CGROUP:
		value_s(&v[C_CGROUP], query_cgroup_name(q, g->id));
		break;
	case BY_STACK:
		value_s(&v[C_STACK], query_chain(q, g->first.stack));
		break;
	case BY_OWNER:
		fill_owner(q, g->first.owner, v);
		break;
	default:
		break;
	}
}

/* For several locks, the name of the worst. */
static void fill_name(struct locks *ls, struct group *g, uint64_t want, struct value *v)
{
	uint32_t lock = g->first.lock;

	if (!(want & (1ull << C_NAME | 1ull << C_KIND)))
		return;
	if (g->many_locks)
		lock = query_group_worst_lock(ls->q, &ls->gs, g);
	value_s(&v[C_KIND], locktype_name((enum lock_type)ls->q->model->locks->locks[lock].type));
	v[C_KIND].approx = g->many_types;
	if (want & 1ull << C_NAME)
		value_s(&v[C_NAME], query_lock_name(ls->q, lock));
	v[C_NAME].approx = g->many_locks;
}

static void fill_origin(struct locks *ls, const struct group *g, uint64_t want, struct value *v)
{
	const uint64_t syscall = 1ull << C_SYSCALL | 1ull << C_SYSCALL_REASON;
	const uint64_t at = 1ull << C_AT | 1ull << C_AT_REASON;
	const struct query_origin *o;
	bool many;

	if (want & syscall) {
		o = query_group_origin(ls->q, &ls->gs, g, BY_SYSCALL, &many);
		query_fill_syscall(o, &v[C_SYSCALL], &v[C_SYSCALL_REASON]);
		v[C_SYSCALL].approx = many;
	}
	if (want & (1ull << C_ON | 1ull << C_ON_REASON))
		query_fill_group_on(ls->q, &ls->gs, g, &v[C_ON], &v[C_ON_REASON]);
	if (want & at) {
		o = query_group_origin(ls->q, &ls->gs, g, BY_AT, &many);
		query_fill_at(o, &v[C_AT], &v[C_AT_REASON]);
		v[C_AT].approx |= many;
	}
}

static void fill_lock(struct locks *ls, struct group *g, uint64_t want, struct value *v)
{
	const struct lock *l = &ls->q->model->locks->locks[g->first.lock];
	enum lock_type type = (enum lock_type)g->type;

	if (!g->many_types)
		value_s(&v[C_MODE], locktype_mode(type));
	if (!g->many_bases)
		value_s(&v[C_TYPE], locktype_base(type));
	if (!g->many_locks)
		v[C_LOCK] = (struct value){.u = l->addr,
					   .known = g->first.lock >= LOCK_TYPES &&
						    l->addr != SHORTS_LOCK};
	fill_name(ls, g, want, v);
	if (want & 1ull << C_LOCKS && ls->by != BY_LOCK)
		value_u(&v[C_LOCKS], query_group_locks(ls->q, &ls->gs, g));
	if (want & 1ull << C_CALLER) {
		value_s(&v[C_CALLER],
			query_func_name(ls->q, query_group_caller(ls->q, &ls->gs, g)));
		v[C_CALLER].approx = g->many_callers;
	}
}

static void fill_object(struct locks *ls, const struct lock *l, struct value *v)
{
	const struct lockname *o = query_lock_place(ls->q, l->addr, l->begin_ns);

	if (!o)
		return;
	value_s(&v[C_OBJECT], query_object_kind(o));
	if (query_object_has_path(o))
		value_s(&v[C_PATH], o->text);
}

/* The holder that made tasks wait longest for it, in the mode of the row. */
static void fill_mostly(struct locks *ls, const struct lock *l, struct value *v)
{
	struct held_by_most most;

	if (!held_by_most(&ls->held_by, ls->q, l->id, &most))
		return;
	value_s(&v[C_MOSTLY], most.name);
	value_d(&v[C_MOSTLY_PCT], most.pct);
	if (v[C_HOLDER].known)
		return;
	value_s(&v[C_HOLDER], most.name);
	v[C_HOLDER].approx = true;
}

/* Its holder and waiters, for any mode of the row. */
static void fill_now(struct locks *ls, const struct lock *l, struct value *v)
{
	struct query_lock_now now;

	if (l->over)
		return;
	query_lock_now(ls->q, l->addr, (enum lock_type)l->type, &now);
	value_u(&v[C_READERS], now.readers_waiting);
	value_u(&v[C_WRITERS], now.writers_waiting);
	v[C_RCU] = (struct value){.u = now.parts.rcu_ns, .known = now.parts_text != NULL};
	v[C_READERS_PART] = (struct value){.u = now.parts.readers_ns, .known = v[C_RCU].known};
	value_s(&v[C_CERTAINTY], now.certainty);
	if (!now.certainty)
		return;
	value_s(&v[C_HOLDER], now.holder);
	if (!now.owner_tid)
		return;
	value_who(owner_cells(v), now.owner_pid, now.owner_tid, now.owner_comm);
	value_s(&v[C_EVIDENT], now.readers);
}

static void fill_one(struct locks *ls, const struct group *g, struct value *v)
{
	const struct lock *l = &ls->q->model->locks->locks[g->first.lock];

	if (ls->by != BY_LOCK || g->first.lock < LOCK_TYPES || l->addr == SHORTS_LOCK)
		return;
	fill_object(ls, l, v);
	fill_now(ls, l, v);
	fill_mostly(ls, l, v);
}

static void fill_spark(struct locks *ls, const struct group *g, struct value *v)
{
	const struct model *m = ls->q->model;
	const struct series *s = NULL;

	if (ls->by == BY_LOCK)
		s = &m->locks->locks[g->first.lock].wait_series;
	else if (ls->by == BY_TYPE)
		s = &m->types[g->type].wait_series;
	else if (ls->by == BY_CPU && g->first.cpu < m->n_cpus)
		s = &m->cpus[g->first.cpu].wait_series;
	if (s)
		value_series(ls->q, &v[C_SPARK], s, SPARK_LEN);
}

static void locks_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const uint64_t percentiles = 1ull << C_P50 | 1ull << C_P90 | 1ull << C_P99;
	const uint64_t lock = 1ull << C_LOCK | 1ull << C_KIND | 1ull << C_TYPE | 1ull << C_MODE |
			      1ull << C_NAME | 1ull << C_LOCKS | 1ull << C_CALLER;
	const uint64_t one = 1ull << C_OBJECT | 1ull << C_PATH | 1ull << C_READERS |
			     1ull << C_WRITERS | 1ull << C_HOLDER | 1ull << C_OWNER_PID |
			     1ull << C_OWNER_TID | 1ull << C_OWNER_COMM | 1ull << C_CERTAINTY |
			     1ull << C_EVIDENT | 1ull << C_RCU | 1ull << C_READERS_PART |
			     1ull << C_MOSTLY | 1ull << C_MOSTLY_PCT;
	const uint64_t key = ((1ull << C_LOCK) - 1) | one | 1ull << C_OWNER_FUNCTION;
	struct locks *ls = ctx;
	struct group *g = &ls->gs.g[row];

	fill_sums(ls, g, v);
	fill_spins(ls, g, v);
	fill_lost(ls, g, v);
	if (want & percentiles)
		fill_percentiles(ls, g, v);
	if (want & lock)
		fill_lock(ls, g, want, v);
	if (want & one)
		fill_one(ls, g, v);
	if (want & key)
		fill_key(ls, g, v);
	fill_origin(ls, g, want, v);
	if (want & 1ull << C_SPARK)
		fill_spark(ls, g, v);
	if (want & 1ull << C_HIST_N && ls->buckets && g->n) {
		query_group_hist(ls->q, &ls->gs, g, &ls->hist);
		query_hist_buckets(ls->q, &ls->hist, &v[C_HIST_FROM]);
	}
}

static void locks_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct locks *ls = ctx;
	const struct group *g = &ls->gs.g[row];

	*ret = (struct row_rank){.id = g->id, .tie = g->n};
}

const struct table_kind query_locks_kind = {"locks", columns, C_COLUMNS, locks_fill, locks_rank};
const struct table_kind query_types_kind = {"types", columns, C_COLUMNS, locks_fill, locks_rank};

bool query_locks_has(enum query_by by, size_t column)
{
	return column < C_COLUMNS && column_is_by(&columns[column], by);
}

static struct column *columns_by(struct query *q, enum query_by by)
{
	struct column *c = rows_columns_by(q, &query_locks_kind, by);

	if (!c)
		return NULL;
	/* Without snapshots and records of holders it takes no room of the screen. */
	if (by == BY_LOCK && !query_queues(q) && !q->model->holders_reported)
		c[C_HOLDER].flags = 0;
	if (by != BY_AT && !query_has_program(q))
		c[C_AT].flags = COLUMN_REPORT;
	for (size_t i = 0; i < C_COLUMNS; i++)
		if (off_screen[i] & 1u << by)
			c[i].flags &= (uint8_t)~COLUMN_SCREEN;
	/* Nor where nothing has shown while CPUs were idle. */
	for (size_t i = C_LOST_RATE; !q->model->waits->lost.shown && i <= C_PAR; i++)
		c[i].flags &= (uint8_t)~COLUMN_SCREEN;
	return c;
}

static int locks_prepare(struct locks *ls, struct query *q, const struct query_spec *s)
{
	int r = query_sync(q);

	if (r == 0)
		r = query_origins_load(q);
	if (r == 0)
		r = reuse_group(q, s->by, &s->scope, &ls->gs);
	if (r < 0)
		return r;
	ls->q = q;
	ls->by = s->by;
	ls->average = s->average;
	ls->buckets = s->buckets;
	ls->ended = s->ended;
	ls->elapsed_ns = query_elapsed(q->model);
	ls->rate_ns = query_rate_ns(q);
	for (size_t i = 0; i < ls->gs.n; i++)
		ls->wait_per_s += wait_rate(ls, &ls->gs.g[i]);
	return 0;
}

static int locks_answer(struct query *q, const struct table_kind *kind, const struct query_spec *s,
			struct table *ret, struct error *err)
{
	struct locks ls = {0};
	struct row_source src = {.kind = kind,
				 .columns = columns_by(q, s->by),
				 .keeps = q->keeps,
				 .sort = s->average ? "total_ns" : "wait_ns_per_s",
				 .ctx = &ls};

	if (!src.columns || locks_prepare(&ls, q, s) < 0)
		return query_enomem(err, kind->name);
	src.n = ls.gs.n;
	return rows_answer(q, s, &src, ret, err);
}

int query_locks(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	return locks_answer(q, &query_locks_kind, s, ret, err);
}

int query_types(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct query_spec by_type = *s;

	by_type.by = BY_TYPE;
	return locks_answer(q, &query_types_kind, &by_type, ret, err);
}
