// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "cpus": one row for every CPU that the session has seen, whether anything waited on it
 * or not. Rates come from the model's per-CPU counters; waiters and the hottest call site from the
 * groups by CPU. Its own order is the CPU number.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/columns-probes.h"
#include "kontend/lock.h"
#include "kontend/model-cpu.h"
#include "kontend/query-perf.h"
#include "kontend/wait.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

enum {
	C_CPU,
	C_CONT_RATE,
	C_SPARK,
	C_WAIT_RATE,
	C_WAIT_PCT,
	C_SPIN_PCT,
	C_WAITING,
	C_CONTENDED,
	C_TOTAL,
	C_LOST,
	C_FILL,
	C_SLOTS,
	C_SLOTS_ALL,
	C_SLOTS_USED,
	C_STATE,
	C_CALLER,
	C_COLUMNS
};

enum { SPARK_LEN = 16 };

static const struct column columns[C_COLUMNS] = {
	[C_CPU] = {COL_CPU, 4, 0, SR},
	[C_CONT_RATE] = {COL_CONT_RATE, 6, 0, SR},
	[C_SPARK] = {"spark", "HISTORY", "contentions in the last buckets", COLUMN_SERIES,
		     SPARK_LEN, 4, S},
	[C_WAIT_RATE] = {COL_WAIT_RATE, 6, 0, SR},
	[C_WAIT_PCT] = {COL_WAIT_PCT, 5, 2, SR},
	[C_SPIN_PCT] = {"spin_pct", "SPIN%", "share of the time in which the CPU spun for locks",
			COLUMN_PCT, 5, 1, SR},
	[C_WAITING] = {COL_WAITING, 4, 0, SR},
	[C_CONTENDED] = {COL_CONTENDED, 9, 5, SR},
	[C_TOTAL] = {COL_TOTAL, 7, 5, SR},
	[C_LOST] = {"lost", "LOST", "records lost because the CPU's ring was full", COLUMN_COUNT, 6,
		    1, SR},
	[C_FILL] = {"fill_pct", "FILL%", "highest fill level of the CPU's ring", COLUMN_PCT, 5, 3,
		    SR},
	[C_SLOTS] = {"bp_slots", "SLOTS", "breakpoint slots: taken, of all", COLUMN_TEXT, 5, 1, S},
	[C_SLOTS_ALL] = {COL_SLOTS, 5, 9, R},
	[C_SLOTS_USED] = {"slots_used", "",
			  "breakpoint slots that are taken: by the CPU and by the task with most",
			  COLUMN_INT, 5, 9, R},
	[C_STATE] = {"state", "STATE", "online, or offline when it went away", COLUMN_TEXT, 7, 6,
		     SR},
	[C_CALLER] = {COL_CALLER, 20, 1, SR | W},
};

/* All pools of a CPU together. */
struct cpu_slots {
	int32_t all, used;
	bool approx; /* it is not known what tasks take */
};

struct cpus {
	struct query *q;
	struct groups gs;
	struct group **group;	 /* by CPU, NULL = nothing waited there */
	uint32_t *cpu;		 /* of a row */
	struct cpu_slots *slots; /* by CPU */
	bool average, windowed, ended;
	uint64_t elapsed_ns;
	uint64_t *spun_ns; /* by CPU, of a window */
	double wait_per_s;
};

static double wait_rate(const struct cpus *cs, uint32_t cpu)
{
	const struct model_cpu *c = &cs->q->model->cpus[cpu];

	const struct group *g = cs->group[cpu];

	if (cs->average)
		return query_per_s(g ? g->waited_ns : 0, cs->elapsed_ns);
	if (cs->windowed)
		return query_per_s(g ? g->rate_wait_ns : 0, query_rate_ns(cs->q));
	return query_per_s(c->rate_wait_ns, cs->q->model->rate_ns);
}

/* Since the sums began. */
static uint64_t spun_ns(const struct model *m, const struct model_cpu *c)
{
	const struct wait *w = c->depth ? &m->waits->waits[c->waits[0]] : NULL;

	return c->spin_ns + (w && !w->doubtful ? query_wait_within_ns(m, w) : 0);
}

/* Waits that have finished, and their time. */
static uint64_t contended(const struct cpus *cs, uint32_t cpu)
{
	const struct group *g = cs->group[cpu];

	return cs->windowed ? (g ? g->n : 0) : cs->q->model->cpus[cpu].contended;
}

static uint64_t total_ns(const struct cpus *cs, uint32_t cpu)
{
	const struct group *g = cs->group[cpu];

	return cs->windowed ? (g ? g->total_ns : 0) : cs->q->model->cpus[cpu].total_ns;
}

static void fill_rates(const struct cpus *cs, uint32_t cpu, struct value *v)
{
	const struct model *m = cs->q->model;
	const struct model_cpu *c = &m->cpus[cpu];
	double rate = wait_rate(cs, cpu);
	uint64_t of = cs->average ? cs->elapsed_ns : query_rate_ns(cs->q);

	if (of)
		value_d(&v[C_CONT_RATE], query_per_s(cs->average    ? c->contended
						     : cs->windowed ? contended(cs, cpu)
								    : c->rate_n,
						     of));
	if (v[C_CONT_RATE].known) {
		value_d(&v[C_WAIT_RATE], rate);
		value_d(&v[C_WAIT_PCT], cs->wait_per_s > 0 ? 100 * rate / cs->wait_per_s : 0);
	}
	uint64_t spun = cs->average    ? spun_ns(m, c)
			: cs->windowed ? cs->spun_ns[cpu]
				       : c->rate_spin_ns;
	if (of)
		value_d(&v[C_SPIN_PCT], 100.0 * (double)spun / (double)of);
}

static void fill_slots(const struct cpus *cs, uint32_t cpu, struct value *v)
{
	const struct cpu_slots *o = &cs->slots[cpu];

	if (!o->all)
		return;
	value_i(&v[C_SLOTS_ALL], o->all);
	value_i(&v[C_SLOTS_USED], o->used);
	value_s(&v[C_SLOTS], arena_printf(&cs->q->arena, "%d/%d", o->used, o->all));
	v[C_SLOTS].approx = v[C_SLOTS_USED].approx = o->approx;
}

static void cpus_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct cpus *cs = ctx;
	uint32_t cpu = cs->cpu[row];
	const struct model_cpu *c = &cs->q->model->cpus[cpu];
	struct group *g = cs->group[cpu];

	value_i(&v[C_CPU], cpu);
	fill_rates(cs, cpu, v);
	if (want & 1ull << C_SPARK)
		value_series(cs->q, &v[C_SPARK], &c->n_series, SPARK_LEN);
	value_u(&v[C_WAITING], g ? g->waiting : 0);
	value_u(&v[C_CONTENDED], contended(cs, cpu));
	bool goes_on = g && g->n_inflight && !cs->ended;
	value_u_least(&v[C_TOTAL], total_ns(cs, cpu) + (goes_on ? g->inflight_ns : 0), goes_on);
	value_u(&v[C_LOST], c->lost - c->lost_before);
	bool at_least = c->lost > c->lost_before || (g && g->at_least);
	v[C_CONTENDED].at_least = at_least;
	v[C_CONT_RATE].at_least = v[C_WAIT_RATE].at_least =
		cs->average ? at_least : g && g->at_least_now;
	if (c->fill_size)
		value_d(&v[C_FILL],
			100.0 * (cs->average ? c->fill_most : c->fill_used) / c->fill_size);
	fill_slots(cs, cpu, v);
	value_s(&v[C_STATE], c->offline ? "offline" : "online");
	if (g && want & 1ull << C_CALLER) {
		value_s(&v[C_CALLER],
			query_func_name(cs->q, query_group_caller(cs->q, &cs->gs, g)));
		v[C_CALLER].approx = g->many_callers;
	}
}

static void cpus_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct cpus *cs = ctx;

	*ret = (struct row_rank){.id = cs->cpu[row], .order = UINT64_MAX - cs->cpu[row]};
}

const struct table_kind query_cpus_kind = {"cpus", columns, C_COLUMNS, cpus_fill, cpus_rank};

static int sum_slots(struct cpus *cs)
{
	const char *why;
	const struct perfsnap *snap = query_perf_snap(cs->q, QUERY_PERF_SLOTS, &why);
	uint32_t n = cs->q->model->n_cpus;

	cs->slots = arena_alloc(&cs->q->arena, ((size_t)n + 1) * sizeof(*cs->slots));
	if (!cs->slots)
		return -ENOMEM;
	for (size_t i = 0; snap && i < snap->n_slots; i++) {
		const struct snap_slots *s = &snap->slots[i];
		if (s->cpu >= n || s->slots < 0 || s->cpu_pinned < 0)
			continue;
		struct cpu_slots *o = &cs->slots[s->cpu];
		o->all += s->slots;
		o->used += s->cpu_pinned + (s->task_pinned_max > 0 ? s->task_pinned_max : 0);
		o->approx |= s->task_pinned_max < 0;
	}
	return 0;
}

/* Time that CPUs spun within a window; spinning while another lock is spun for counts twice. */
static int sum_spun(struct cpus *cs)
{
	const struct model *m = cs->q->model;
	const struct cell_table *t = query_cells(cs->q);

	cs->spun_ns = arena_alloc(&cs->q->arena, ((size_t)m->n_cpus + 1) * sizeof(*cs->spun_ns));
	if (!cs->spun_ns)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		if (c->cpu < m->n_cpus &&
		    locktype_is_spin((enum lock_type)m->locks->locks[c->lock].type))
			cs->spun_ns[c->cpu] += c->rate_wait_ns;
	}
	return 0;
}

static int cpus_collect(struct cpus *cs, const struct query_spec *s, size_t *ret_n)
{
	struct query *q = cs->q;
	const struct model *m = q->model;
	size_t n = 0;

	cs->group = arena_alloc(&q->arena, ((size_t)m->n_cpus + 1) * sizeof(*cs->group));
	cs->cpu = arena_alloc(&q->arena, ((size_t)m->n_cpus + 1) * sizeof(*cs->cpu));
	if (!cs->group || !cs->cpu || query_group(q, BY_CPU, &s->scope, &cs->gs) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < cs->gs.n; i++)
		if (cs->gs.g[i].first.cpu < m->n_cpus)
			cs->group[cs->gs.g[i].first.cpu] = &cs->gs.g[i];
	cs->average = s->average;
	cs->ended = s->ended;
	cs->windowed = query_has_window(q);
	if (cs->windowed && sum_spun(cs) < 0)
		return -ENOMEM;
	cs->elapsed_ns = query_elapsed(m);
	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
		if (!m->cpus[cpu].seen)
			continue;
		cs->cpu[n++] = cpu;
		cs->wait_per_s += wait_rate(cs, cpu);
	}
	*ret_n = n;
	return 0;
}

size_t query_count_cpus(const struct query *q)
{
	size_t n = 0;

	for (uint32_t cpu = 0; cpu < q->model->n_cpus; cpu++)
		n += q->model->cpus[cpu].seen;
	return n;
}

int query_cpus(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct cpus cs = {.q = q};
	struct row_source src = {.kind = &query_cpus_kind, .ctx = &cs};

	if (query_sync(q) < 0 || sum_slots(&cs) < 0 || cpus_collect(&cs, s, &src.n) < 0)
		return query_enomem(err, "CPUs");
	return rows_answer(q, s, &src, ret, err);
}
