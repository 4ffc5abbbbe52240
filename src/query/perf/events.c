// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "events": perf events, all of them or those of a context, a process, or one and what
 * was inherited from it. Its own order: those that wait for their turn first, then by the time that
 * they have been enabled.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "snapshot.h"

#include <errno.h>

enum {
	C_NAME,
	C_KIND,
	C_HOLDER,
	C_OWNER,
	C_OWNER_PID,
	C_PID,
	C_HOLDER_PIDS,
	C_FD,
	C_TARGET,
	C_TARGET_TID,
	C_CPU,
	C_ONCPU,
	C_STATE,
	C_PINNED,
	C_ROTATING,
	C_RUNNING_PCT,
	C_ENABLED,
	C_RUNNING,
	C_COUNTED_PCT,
	C_LOST,
	C_COUNT,
	C_COUNT_AGE,
	C_RATE,
	C_PMU,
	C_TYPE,
	C_CONFIG,
	C_ID,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_NAME] = {"event", "EVENT", "name of the event", COLUMN_TEXT, 24, 0, SR | W},
	[C_KIND] = {COL_EVENT_KIND, 9, 3, SR},
	[C_HOLDER] = {COL_KEEPER, 16, 0, S},
	[C_OWNER] = {COL_OPENER, 16, 5, S},
	[C_OWNER_PID] = {COL_OPENER_PID, 7, 9, R},
	[C_PID] = {COL_KEEPER_PID, 7, 9, R},
	[C_HOLDER_PIDS] = {COL_KEEPERS, 11, 6, R | COLUMN_LIST | COLUMN_NUMBERS},
	[C_FD] = {COL_FD, 4, 4, SR},
	[C_TARGET] = {COL_TARGET, 16, 1, SR},
	[C_TARGET_TID] = {COL_TARGET_TID, 7, 9, R},
	[C_CPU] = {COL_BOUND_CPU, 4, 1, SR},
	[C_ONCPU] = {"oncpu", "ON", "CPU where the event counts now", COLUMN_INT, 4, 5, SR},
	[C_STATE] = {COL_EVENT_STATE, 8, 0, SR},
	[C_PINNED] = {"pinned", "PINNED", "the event is always on its PMU, or in error",
		      COLUMN_BOOL, 6, 4, SR},
	[C_ROTATING] = {COL_ROTATING, 7, 2, SR},
	[C_RUNNING_PCT] =
		{"running_pct", "RUN%",
		 "share of its enabled time that it could count; less than all is no proof "
		 "of rotation for events of a task",
		 COLUMN_PCT, 5, 1, SR},
	[C_ENABLED] = {"enabled_ns", "ENABLED", "time for which the event has been enabled",
		       COLUMN_NS, 7, 3, SR},
	[C_RUNNING] = {"running_ns", "RUNNING", "time for which the event has counted", COLUMN_NS,
		       7, 9, R},
	[C_COUNTED_PCT] =
		{"counted_pct", "CNTD%",
		 "share of the time that it could have counted in which it did: events of a "
		 "task that differ by their CPU alone are one; - not known, as some CPU has "
		 "none",
		 COLUMN_PCT, 5, 4, SR},
	[C_LOST] = {COL_LOST, 7, 4, SR},
	[C_COUNT] = {"count", "COUNT", "count of the event, as far as the kernel has summed it up",
		     COLUMN_COUNT, 7, 4, SR},
	[C_COUNT_AGE] = {"count_age_ns", "AS OF",
			 "enabled time since the kernel summed COUNT up; · COUNT is of now",
			 COLUMN_NS, 7, 6, SR},
	[C_RATE] = {"per_s", "PER S",
		    "counted per second since the snapshot before, where both counts are of their "
		    "time",
		    COLUMN_RATE, 6, 3, SR},
	[C_PMU] = {COL_PMU, 12, 6, SR},
	[C_TYPE] = {"type", "PERF TYPE", "attr.type", COLUMN_INT, 4, 9, R},
	[C_CONFIG] = {"config", "CONFIG", "attr.config", COLUMN_ADDR, 18, 9, R},
	[C_ID] = {COL_EVENT_ID, 8, 9, R},
};

struct events {
	struct query *q;
	struct query_perf p;
	struct query_perf_share *shares;
	uint32_t *event; /* of a row */
};

static void fill_who(const struct events *t, size_t i, struct value *v)
{
	const struct snap_event *e = &t->p.snap->events[i];
	struct query_keeper k = query_perf_keeper(&t->p, i);

	value_s(&v[C_KIND], k.kind);
	value_s(&v[C_HOLDER], query_perf_task(t->q, &t->p, k.comm, k.pid));
	value_task(&v[C_PID], k.pid);
	v[C_FD] = (struct value){.i = k.fd, .known = k.fd >= 0};
	value_s(&v[C_HOLDER_PIDS], query_perf_holder_pids(t->q, &t->p, i));
	value_s(&v[C_OWNER], query_perf_task(t->q, &t->p, e->owner_comm, e->owner_tid));
	value_task(&v[C_OWNER_PID], e->owner_pid);
	value_s(&v[C_TARGET], query_perf_task(t->q, &t->p, e->target_comm, e->target_tid));
	if (e->flags & SNAP_CGROUP)
		value_s(&v[C_TARGET], arena_printf(&t->q->arena, "cgroup %s",
						   perfsnap_text(t->p.snap, e->target_comm)));
	value_task(&v[C_TARGET_TID], e->target_tid);
}

static void fill_times(const struct perfsnap *s, const struct snap_event *e, struct value *v)
{
	bool times = (e->flags & SNAP_TIMES) != 0, count = (e->flags & SNAP_COUNT) != 0;

	v[C_ENABLED] = (struct value){.u = e->enabled_ns, .known = times};
	v[C_RUNNING] = (struct value){.u = e->running_ns, .known = times};
	if (times && e->enabled_ns)
		value_d(&v[C_RUNNING_PCT], 100.0 * (double)e->running_ns / (double)e->enabled_ns);
	v[C_COUNT] = (struct value){.u = e->count, .known = count};
	v[C_COUNT_AGE] = (struct value){.u = e->count_age_ns,
					.known = count && (times || !(e->flags & SNAP_STALE))};
	if (count && e->hits != UINT64_MAX && s->head.interval_ns)
		value_d(&v[C_RATE], query_per_s(e->hits, s->head.interval_ns));
	v[C_RATE].approx = (e->flags & SNAP_SHARED) != 0;
}

static void fill_share(const struct query_perf_share *h, struct value *v)
{
	if (!h->known)
		return;
	if (h->enabled_ns)
		value_d(&v[C_COUNTED_PCT], 100.0 * (double)h->running_ns / (double)h->enabled_ns);
	value_u(&v[C_LOST], h->enabled_ns - h->running_ns);
}

static void events_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct events *t = ctx;
	const struct perfsnap *s = t->p.snap;
	const struct snap_event *e = &s->events[t->event[row]];

	(void)want;
	value_s(&v[C_NAME], perfsnap_text(s, e->name));
	fill_who(t, t->event[row], v);
	v[C_CPU] = (struct value){.i = e->cpu, .known = e->cpu >= 0};
	v[C_ONCPU] = (struct value){.i = e->oncpu, .known = e->oncpu >= 0};
	value_s(&v[C_STATE], query_perf_state(e->state));
	value_u(&v[C_PINNED], (e->flags & SNAP_PINNED) != 0);
	value_u(&v[C_ROTATING], (e->flags & SNAP_ROTATES) != 0);
	fill_times(s, e, v);
	fill_share(&t->shares[t->event[row]], v);
	value_s(&v[C_PMU], perfsnap_text(s, e->pmu));
	value_i(&v[C_TYPE], e->type);
	value_u(&v[C_CONFIG], e->config);
	value_i(&v[C_ID], (int64_t)e->id);
}

static void events_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct events *t = ctx;
	const struct snap_event *e = &t->p.snap->events[t->event[row]];
	bool starved = e->state == SNAP_INACTIVE && (e->flags & SNAP_ROTATES);

	*ret = (struct row_rank){.id = e->id,
				 .order = (starved ? 1ull << 63 : 0) | (e->enabled_ns >> 1)};
}

const struct table_kind query_perf_events_kind = {"events", columns, C_COLUMNS, events_fill,
						  events_rank};

static bool is_of_process(const struct query_perf *p, size_t i, int32_t pid)
{
	if (pid == QUERY_NOBODY)
		return !p->snap->events[i].owner_pid && !query_perf_keeper(p, i).pid;
	if (p->snap->events[i].owner_pid == pid || query_perf_keeper(p, i).pid == pid)
		return true;
	for (uint32_t h = p->first_holder[i]; h; h = p->next_holder[h - 1])
		if (p->snap->holders[h - 1].pid == pid)
			return true;
	return false;
}

static bool is_in(const struct query_perf *p, size_t i, const struct query_events_scope *scope)
{
	const struct snap_event *e = &p->snap->events[i];

	if (scope->context &&
	    (!e->context || p->snap->contexts[e->context - 1].addr != scope->context))
		return false;
	if (scope->event && e->id != scope->event && e->parent != scope->event)
		return false;
	return !scope->process || is_of_process(p, i, scope->process);
}

static int collect(struct events *t, const struct query_events_scope *scope, size_t *ret_n)
{
	const struct perfsnap *s = t->p.snap;

	t->event = arena_alloc(&t->q->arena, (s->n_events + 1) * sizeof(*t->event));
	if (!t->event)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_events; i++)
		if (!scope || is_in(&t->p, i, scope))
			t->event[(*ret_n)++] = (uint32_t)i;
	return query_perf_shares(t->q, &t->p, &t->shares);
}

int query_perf_events(struct query *q, const struct query_events_scope *scope,
		      const struct query_spec *s, struct table *ret, struct error *err)
{
	struct events t = {.q = q};
	struct row_source src = {.kind = &query_perf_events_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_EVENTS, &t.p);

	if (code == 0)
		code = collect(&t, scope, &src.n);
	if (code == -ENOMEM)
		return query_enomem(err, "perf events");
	return rows_answer(q, s, &src, ret, err);
}
