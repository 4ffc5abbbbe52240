// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "contexts": the kernel's perf_event_context of each CPU and task that has events, or,
 * by process, the events of each process that opened them, or, by cgroup, those that count its
 * tasks. Its own order is by what they cost: those that rotate first, then by the number of events.
 */
#include "../internal.h"
#include "../rows.h"
#include "../snapshots.h"
#include "kontend/columns-probes.h"
#include "kontend/map64.h"
#include "kontend/sort.h"
#include "snapshot.h"

#include <errno.h>
#include <string.h>

enum {
	C_CONTEXT,
	C_CPU,
	C_TID,
	C_PID,
	C_COMM,
	C_EVENTS,
	C_PINNED,
	C_FLEXIBLE,
	C_ACTIVE,
	C_ELSEWHERE,
	C_ROTATING,
	C_RUNNING_PCT,
	C_LOST,
	C_CONTEXTS,
	C_ENDED,
	C_LAST_SEEN,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_CONTEXT] = {"context", "CONTEXT", "CPU or task that the context belongs to", COLUMN_TEXT,
		       18, 0, SR | W},
	[C_CPU] = {COL_CPU, 4, 9, R},
	[C_TID] = {COL_TID, 7, 9, R},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_EVENTS] = {"events", "EVENTS", "perf events in the context", COLUMN_COUNT, 6, 0, SR},
	[C_PINNED] = {"pinned", "PINNED", "events that are always on their PMU, or in error",
		      COLUMN_COUNT, 6, 1, SR},
	[C_FLEXIBLE] = {"flexible", "FLEXIBLE", "events that are on their PMU when there is room",
			COLUMN_COUNT, 8, 2, SR},
	[C_ACTIVE] = {"active", "ACTIVE", "events that count at this moment", COLUMN_COUNT, 6, 0,
		      SR},
	[C_ELSEWHERE] = {"elsewhere", "ELSEWHERE",
			 "events of a task that cannot count where it runs, as they are bound to "
			 "other CPUs; where it does not run: at least, wherever it does",
			 COLUMN_COUNT, 9, 4, SR},
	[C_ROTATING] = {COL_ROTATING, 7, 1, SR},
	[C_RUNNING_PCT] =
		{"running_pct", "RUN%",
		 "share of their enabled time that its events could count, those of a "
		 "task that differ by their CPU alone taken together; - not known, as some "
		 "CPU has none",
		 COLUMN_PCT, 5, 0, SR},
	[C_LOST] = {COL_LOST, 6, 3, SR},
	[C_CONTEXTS] = {"contexts", "CONTEXTS", "contexts that the events are in", COLUMN_COUNT, 8,
			3, SR},
	[C_ENDED] = {COL_ENDED, 5, 9, R},
	[C_LAST_SEEN] = {COL_LAST_SEEN, 9, 0, R},
};

/* Sums over the events of a row. */
struct row {
	uint64_t id;
	const struct snap_context *context; /* NULL: of a process or a cgroup */
	const char *cgroup;		    /* of one; NULL */
	int32_t pid;
	uint32_t comm;
	uint32_t events, pinned, active, contexts;
	uint64_t enabled_ns, running_ns;
	uint32_t last_context;
	/* For a task: events for any CPU, for the CPU with most of them, and for the task's own
	 * CPU. */
	uint32_t any, most, here;
	int32_t on; /* the CPU where one counts, -1: none does */
	bool rotating, no_share;
};

struct contexts {
	struct query *q;
	struct query_perf p;
	struct query_perf_share *shares;
	struct row *rows;
	size_t n;
	struct query_ended ended; /* the rows after those */
};

static void add_event(struct row *r, const struct snap_event *e, const struct query_perf_share *h)
{
	r->events++;
	r->pinned += (e->flags & SNAP_PINNED) != 0;
	r->active += e->state == SNAP_ACTIVE;
	r->rotating |= (e->flags & SNAP_ROTATES) != 0;
	/* Events of a context follow each other. */
	r->contexts += e->context != r->last_context;
	r->last_context = e->context;
	if (e->state < SNAP_INACTIVE || !(e->flags & SNAP_TIMES))
		return;
	r->no_share |= !h->known;
	if (h->first) {
		r->enabled_ns += h->enabled_ns;
		r->running_ns += h->running_ns;
	}
}

/* An event that is bound to a CPU counts once more for that context there. */
static int count_bound(struct row *r, struct map64 *by_cpu, const struct snap_event *e)
{
	uint64_t key = (uint64_t)e->context << 32 | (uint32_t)e->cpu;
	uint32_t *at = map64_get(by_cpu, key), n = at ? ++*at : 1;

	if (!at && map64_put(by_cpu, key, 1) < 0)
		return -ENOMEM;
	r->most = n > r->most ? n : r->most;
	return 0;
}

/* The CPUs where events may count: those of CPUs all count on that one. */
static int count_cpus(struct contexts *t)
{
	const struct perfsnap *s = t->p.snap;
	struct map64 by_cpu = {0};
	int code = 0;

	for (size_t i = 0; !code && i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		struct row *r = e->context ? &t->rows[e->context - 1] : NULL;
		if (!r || r->context->cpu >= 0)
			continue;
		r->any += e->cpu < 0;
		if (e->state == SNAP_ACTIVE && e->oncpu >= 0)
			r->on = e->oncpu;
		code = e->cpu < 0 ? 0 : count_bound(r, &by_cpu, e);
	}
	for (size_t i = 0; !code && i < t->n; i++) {
		struct row *r = &t->rows[i];
		uint64_t key = (uint64_t)(i + 1) << 32 | (uint32_t)r->on;
		const uint32_t *n = r->on >= 0 ? map64_get(&by_cpu, key) : NULL;
		r->here = r->on >= 0 ? n ? *n : 0 : r->most;
	}
	map64_deinit(&by_cpu);
	return code;
}

static int collect_contexts(struct contexts *t)
{
	const struct perfsnap *s = t->p.snap;

	t->rows = arena_alloc(&t->q->arena, (s->n_contexts + 1) * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	t->n = s->n_contexts;
	for (size_t i = 0; i < t->n; i++)
		t->rows[i] = (struct row){
			.id = s->contexts[i].addr, .context = &s->contexts[i], .on = -1};
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].context)
			add_event(&t->rows[s->events[i].context - 1], &s->events[i], &t->shares[i]);
	return count_cpus(t);
}

/* The process of an event: the one that opened it, else the one that keeps it. */
static struct row *row_of(struct contexts *t, struct map64 *by_pid, size_t event)
{
	const struct snap_event *e = &t->p.snap->events[event];
	struct query_keeper k = query_perf_keeper(&t->p, event);
	int32_t pid = e->owner_pid ? e->owner_pid : k.pid;
	const uint32_t *at = map64_get(by_pid, (uint32_t)pid);

	if (at)
		return &t->rows[*at];
	if (map64_put(by_pid, (uint32_t)pid, (uint32_t)t->n) < 0)
		return NULL;
	t->rows[t->n] = (struct row){
		.id = (uint32_t)pid, .pid = pid, .comm = e->owner_pid ? e->owner_comm : k.comm};
	return &t->rows[t->n++];
}

static int collect_processes(struct contexts *t)
{
	const struct perfsnap *s = t->p.snap;
	struct map64 by_pid = {0};
	int code = 0;

	t->rows = arena_alloc(&t->q->arena, (s->n_events + 1) * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; !code && i < s->n_events; i++) {
		struct row *r = row_of(t, &by_pid, i);
		if (r)
			add_event(r, &s->events[i], &t->shares[i]);
		code = r ? 0 : -ENOMEM;
	}
	map64_deinit(&by_pid);
	return code;
}

struct of_cgroup {
	const char *path;
	size_t event;
};

static int is_before(const void *a, const void *b)
{
	const struct of_cgroup *x = a, *y = b;

	return strcmp(x->path, y->path) < 0;
}

/* Events of no cgroup are in no row. */
static int collect_cgroups(struct contexts *t)
{
	const struct perfsnap *s = t->p.snap;
	struct of_cgroup *all = arena_alloc(&t->q->arena, 2 * (s->n_events + 1) * sizeof(*all));
	size_t n = 0;

	t->rows = arena_alloc(&t->q->arena, (s->n_events + 1) * sizeof(*t->rows));
	if (!all || !t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].flags & SNAP_CGROUP)
			all[n++] =
				(struct of_cgroup){perfsnap_text(s, s->events[i].target_comm), i};
	sort_merge(all, all + n, n, sizeof(*all), is_before);
	for (size_t i = 0; i < n; i++) {
		const struct snap_event *e = &s->events[all[i].event];
		if (i == 0 || is_before(&all[i - 1], &all[i])) {
			struct row r = {.id = t->n + 1, .cgroup = all[i].path};
			t->rows[t->n++] = r;
		}
		add_event(&t->rows[t->n - 1], e, &t->shares[all[i].event]);
	}
	return 0;
}

static void fill_name(const struct contexts *t, const struct row *r, struct value *v)
{
	const struct snap_context *c = r->context;
	int32_t pid = c ? c->pid : r->pid, tid = c ? c->tid : 0;
	uint32_t comm = c ? c->comm : r->comm;

	if (c && c->cpu >= 0)
		value_s(&v[C_CONTEXT], arena_printf(&t->q->arena, "cpu %d", c->cpu));
	else if (r->cgroup)
		value_s(&v[C_CONTEXT], arena_printf(&t->q->arena, "cgroup %s", r->cgroup));
	else if (pid)
		value_s(&v[C_CONTEXT], query_perf_task(t->q, &t->p, comm, tid ? tid : pid));
	else
		value_s(&v[C_CONTEXT], "the kernel");
	v[C_CPU] = (struct value){.i = c ? c->cpu : -1, .known = c && c->cpu >= 0};
	value_task(&v[C_TID], tid);
	value_task(&v[C_PID], pid);
	value_s(&v[C_COMM], pid ? perfsnap_text(t->p.snap, comm) : "");
}

/* As seen by the last snapshot. */
static void fill_ended(const struct contexts *t, size_t i, struct value *v)
{
	const struct perfsnap *s = &t->q->model->ended->perf;
	const struct snap_context *c = &s->contexts[t->ended.at[i]];
	const struct contexts then = {.q = t->q, .p = {.snap = s}};

	fill_name(&then, &(struct row){.context = c}, v);
	value_u(&v[C_EVENTS], c->events);
	value_u(&v[C_PINNED], c->pinned);
	value_u(&v[C_FLEXIBLE], c->flexible);
	value_u(&v[C_ROTATING], c->rotating != 0);
	query_ended_fill(t->q, &t->ended, i, &v[C_ENDED]);
}

static void contexts_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct contexts *t = ctx;

	(void)want;
	if (row >= t->n) {
		fill_ended(t, row - t->n, v);
		return;
	}
	const struct row *r = &t->rows[row];
	value_u(&v[C_ENDED], 0);
	fill_name(t, r, v);
	value_u(&v[C_EVENTS], r->events);
	value_u(&v[C_PINNED], r->pinned);
	value_u(&v[C_FLEXIBLE], r->events - r->pinned);
	value_u(&v[C_ACTIVE], r->active);
	value_u(&v[C_ROTATING], r->rotating);
	if (r->context && r->context->cpu < 0) {
		value_u(&v[C_ELSEWHERE], r->events - r->any - r->here);
		v[C_ELSEWHERE].approx = r->on < 0;
	}
	if (r->enabled_ns && !r->no_share) {
		value_d(&v[C_RUNNING_PCT], 100.0 * (double)r->running_ns / (double)r->enabled_ns);
		value_u(&v[C_LOST], r->enabled_ns - r->running_ns);
	}
	v[C_CONTEXTS] = (struct value){.u = r->contexts, .known = !r->context};
}

static void contexts_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct contexts *t = ctx;

	if (row >= t->n) {
		const struct perfsnap *s = &t->q->model->ended->perf;
		const struct snap_context *c = &s->contexts[t->ended.at[row - t->n]];
		*ret = (struct row_rank){.id = c->addr ^ (uint64_t)(uint32_t)c->tid << 32};
		return;
	}
	const struct row *r = &t->rows[row];

	*ret = (struct row_rank){
		.id = r->id, .order = (r->rotating ? 1ull << 63 : 0) | r->events, .tie = r->active};
}

const struct table_kind query_perf_contexts_kind = {"contexts", columns, C_COLUMNS, contexts_fill,
						    contexts_rank};

int query_perf_contexts(struct query *q, const struct query_spec *s, struct table *ret,
			struct error *err)
{
	struct contexts t = {.q = q};
	struct row_source src = {.kind = &query_perf_contexts_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_EVENTS, &t.p);

	if (code == 0)
		code = query_perf_shares(q, &t.p, &t.shares);
	if (code == 0)
		code = s->by == BY_PROCESS  ? collect_processes(&t)
		       : s->by == BY_CGROUP ? collect_cgroups(&t)
					    : collect_contexts(&t);
	if (code != -ENOMEM && s->by != BY_PROCESS && s->by != BY_CGROUP)
		code = query_ended(q, ENDED_CONTEXT, &t.ended);
	src.columns = query_ended_columns(q, &t.ended, &query_perf_contexts_kind, C_ENDED);
	if (code == -ENOMEM || !src.columns)
		return query_enomem(err, "contexts");
	src.n = t.n + t.ended.n;
	return rows_answer(q, s, &src, ret, err);
}
