// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "rotation": a row for each timer of the kernel that has rotated contexts, which is one
 * a CPU and PMU. Its cost comes from the stream of events, and is exact; the owners of the events
 * come from the latest snapshot. Which PMU a timer is of the kernel does not say: it is the one
 * whose events were seen taking turns there, or the only one that rotates at all.
 */
#include "list.h"
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "kontend/hist-fine.h"
#include "kontend/rotation.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <string.h>

enum {
	C_CPU,
	C_PMU,
	C_INTERVAL,
	C_RATE,
	C_SPARK,
	C_P50,
	C_P99,
	C_MAX,
	C_AVG,
	C_CPU_PCT,
	C_EVENTS,
	C_ELSEWHERE,
	C_SWITCH_RATE,
	C_SWITCH_NS,
	C_ROTATIONS,
	C_UNPAIRED,
	C_TOTAL,
	C_CULPRIT,
	C_OWNERS,
	C_OWNER_EVENTS,
	C_OWNER_KINDS,
	C_COLUMNS
};

enum { SPARK_LEN = 16 };

static const struct column columns[C_COLUMNS] = {
	[C_CPU] = {COL_CPU, 4, 0, SR},
	[C_PMU] = {COL_PMU, 12, 2, SR},
	[C_INTERVAL] = {"interval_ms", "INT-MS", "interval between rotations in ms, as it is set",
			COLUMN_INT, 6, 3, SR},
	[C_RATE] = {"rotations_per_s", "ROT/s", "rotations per second", COLUMN_RATE, 5, 0, SR},
	[C_SPARK] = {"history", "HISTORY", "time in rotation per refresh, newest at the right",
		     COLUMN_SERIES, SPARK_LEN, 5, S},
	[C_P50] = {"p50_ns", "P50", "half of the rotations took at most so long", COLUMN_NS, 6, 0,
		   SR},
	[C_P99] = {"p99_ns", "P99", "99 % of the rotations took at most so long", COLUMN_NS, 6, 2,
		   SR},
	[C_MAX] = {"max_ns", "MAX", "longest rotation", COLUMN_NS, 6, 4, SR},
	[C_AVG] = {"avg_ns", "AVG", "average rotation", COLUMN_NS, 6, 6, SR},
	[C_CPU_PCT] = {"cpu_pct", "CPU%", "share of the CPU that rotations took", COLUMN_PCT, 5, 0,
		       SR},
	[C_EVENTS] = {"events", "EVENTS", "events that take turns there", COLUMN_COUNT, 6, 0, SR},
	[C_ELSEWHERE] = {"elsewhere", "ELSEWHERE",
			 "events of the same tasks that are bound to other CPUs and cannot count "
			 "there: kernels before 4.17 visit each of them at every turn",
			 COLUMN_COUNT, 9, 5, SR},
	[C_SWITCH_RATE] = {"switches_per_s", "SWITCH/s", "context switches per second, sampled",
			   COLUMN_RATE, 8, 5, SR},
	[C_SWITCH_NS] = {"switch_perf_ns", "+PERF",
			 "cost that events of tasks add to a context switch there", COLUMN_NS, 6, 4,
			 SR},
	[C_ROTATIONS] = {"rotations", "ROTATED", "rotations in all", COLUMN_COUNT, 7, 7, SR},
	[C_UNPAIRED] = {"unpaired", "UNPAIRED", "rotations with an end that was not seen",
			COLUMN_COUNT, 8, 9, R},
	[C_TOTAL] = {"total_ns", "TOTAL", "time that all rotations took", COLUMN_NS, 6, 7, SR},
	[C_CULPRIT] = {"culprit", "CULPRIT", "process that has opened most of the events",
		       COLUMN_TEXT, 20, 0, S | W},
	[C_OWNERS] = {"owners", "OWNERS", "processes that have opened the events, most first",
		      COLUMN_TEXT, 20, 9, R | COLUMN_LIST},
	[C_OWNER_EVENTS] = {"owner_events", "OWNER-EVENTS",
			    "number of events of each process in OWNERS", COLUMN_TEXT, 12, 9,
			    R | COLUMN_LIST | COLUMN_NUMBERS},
	[C_OWNER_KINDS] = {"owner_kinds", "OWNER-KINDS",
			   "scope of the events of each process in OWNERS: cpu-wide or per task",
			   COLUMN_TEXT, 12, 9, R | COLUMN_LIST},
};

struct rows {
	struct query *q;
	struct query_perf p; /* snap NULL: there is none */
	struct pmus *pmus;
	const struct rotation_timer **timers;
	size_t n;
	bool average;
	uint64_t elapsed_ns;
};

bool query_rotation_is_mux(const struct query *q, const struct rotation_timer *t)
{
	const char *name = sym_name(q->sym, t->function, NULL);

	if (!name)
		return t->function && q->sym->state != SYM_OK;
	return !strcmp(name, "perf_mux_hrtimer_handler") ||
	       !strcmp(name, "perf_cpu_hrtimer_handler");
}

bool query_rotation_pmus(const struct query *q, struct pmus *ret)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_PMUS);

	return s && pmus_decode(s->bytes, s->len, ret);
}

static int collect(struct rows *t)
{
	const struct rotation *r = t->q->model->rotation;
	int e = query_perf(t->q, QUERY_PERF_EVENTS, &t->p);

	if (e == -ENOMEM)
		return e;
	t->pmus = arena_alloc(&t->q->arena, sizeof(*t->pmus));
	t->timers = arena_alloc(&t->q->arena, (r->n_timers + 1) * sizeof(*t->timers));
	if (!t->pmus || !t->timers)
		return -ENOMEM;
	query_rotation_pmus(t->q, t->pmus);
	for (size_t i = 0; i < r->n_timers; i++)
		if (r->timers[i].expiries && query_rotation_is_mux(t->q, &r->timers[i]))
			t->timers[t->n++] = &r->timers[i];
	return 0;
}

/* "agent/411 (92 cpu-wide)", and the lists of all. */
static void fill_owners(const struct rows *t, const struct query_culprits *c, struct value *v)
{
	struct arena *a = &t->q->arena;
	const char *names = NULL, *counts = NULL, *kinds = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct query_owner *o = &c->owners[i];
		const char *name = o->pid ? query_perf_task(t->q, &t->p, o->comm, o->pid) : "?";
		if (!name)
			return;
		if (i == 0)
			value_s(&v[C_CULPRIT], arena_printf(a, "%s (%u %s)", name, o->events,
							    query_owner_kind(o)));
		names = names ? arena_printf(a, "%s\n%s", names, name) : name;
		counts = counts ? arena_printf(a, "%s\n%u", counts, o->events)
				: arena_printf(a, "%u", o->events);
		kinds = kinds ? arena_printf(a, "%s\n%s", kinds, query_owner_kind(o))
			      : query_owner_kind(o);
		if (!names || !counts || !kinds)
			return;
	}
	value_s(&v[C_OWNERS], names);
	value_s(&v[C_OWNER_EVENTS], counts);
	value_s(&v[C_OWNER_KINDS], kinds);
	v[C_CULPRIT].approx = v[C_OWNERS].approx = v[C_EVENTS].approx = v[C_ELSEWHERE].approx =
		c->guessed;
}

static void fill_culprits(const struct rows *t, uint32_t cpu, struct value *v)
{
	struct query_culprits c = {0};

	if (t->p.snap && query_rotation_culprits(t->q, &t->p, cpu, &c) == 0 && c.n) {
		value_u(&v[C_EVENTS], c.events);
		value_u(&v[C_ELSEWHERE], c.elsewhere);
		fill_owners(t, &c, v);
	}
	const struct pmus_item *pmu = query_rotation_pmu(t->pmus, &c);
	if (pmu) {
		value_s(&v[C_PMU], pmu->name);
		value_i(&v[C_INTERVAL], pmu->interval_ms);
	}
}

static void fill_rates(const struct rows *t, const struct rotation_timer *r, struct value *v)
{
	const struct model *m = t->q->model;
	uint64_t ns = t->average ? t->elapsed_ns : m->rate_ns;

	if (!ns)
		return;
	value_d(&v[C_RATE], query_per_s(t->average ? r->expiries : r->rate_n, ns));
	value_d(&v[C_CPU_PCT],
		100.0 * (double)(t->average ? r->time.total_ns : r->rate_ns) / (double)ns);
}

static void fill_switches(const struct rows *t, uint32_t cpu, struct value *v)
{
	const struct rotation *r = t->q->model->rotation;

	uint64_t ns = t->average ? r->switch_ns : r->rate_switch_ns;

	if (cpu >= r->n_cpus)
		return;
	if (ns)
		value_d(&v[C_SWITCH_RATE],
			query_per_s(t->average ? r->cpus[cpu].n : r->cpus[cpu].rate_n, ns));
	if (!r->cpus[cpu].loaded.n || !r->cpus[cpu].plain.n)
		return;
	uint64_t loaded = hist_fine_percentile(&r->cpus[cpu].loaded, 50);
	uint64_t plain = hist_fine_percentile(&r->cpus[cpu].plain, 50);
	value_u(&v[C_SWITCH_NS], loaded > plain ? loaded - plain : 0);
}

static void rotation_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct rows *t = ctx;
	const struct rotation_timer *r = t->timers[row];

	value_i(&v[C_CPU], r->cpu);
	fill_rates(t, r, v);
	if (want & 1ull << C_SPARK)
		value_series(t->q, &v[C_SPARK], &r->ns_series, SPARK_LEN);
	value_u(&v[C_ROTATIONS], r->expiries);
	value_u(&v[C_UNPAIRED], r->unpaired);
	value_u(&v[C_TOTAL], r->time.total_ns);
	if (r->time.n) {
		value_u(&v[C_AVG], r->time.total_ns / r->time.n);
		value_u(&v[C_P50], hist_fine_percentile(&r->time, 50));
		value_u(&v[C_P99], hist_fine_percentile(&r->time, 99));
		value_u(&v[C_MAX], r->time.max_ns);
	}
	fill_switches(t, r->cpu, v);
	fill_culprits(t, r->cpu, v);
}

static void rotation_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct rotation_timer *r = ((const struct rows *)ctx)->timers[row];

	*ret = (struct row_rank){.id = r->timer, .order = r->time.total_ns, .tie = r->expiries};
}

const struct table_kind query_rotation_kind = {"rotation", columns, C_COLUMNS, rotation_fill,
					       rotation_rank};

int query_rotation(struct query *q, const struct query_spec *s, struct table *ret,
		   struct error *err)
{
	struct rows t = {.q = q, .average = s->average, .elapsed_ns = query_elapsed(q->model)};
	struct row_source src = {.kind = &query_rotation_kind, .ctx = &t};

	if (query_sync(q) < 0 || collect(&t) < 0)
		return query_enomem(err, "rotation");
	src.n = t.n;
	return rows_answer(q, s, &src, ret, err);
}
