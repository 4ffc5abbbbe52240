// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of the header line and of the overview block. Rates are those of the last closed
 * bucket; the sums beside them are since the start or since the aggregates were zeroed. A wait
 * whose end may be lost counts as waiting but never as the longest one. Waits of kontend's own
 * tasks, of all its instances, are in all sums, as they hold up others; but they are also counted
 * separately, and never are the longest wait, as only measuring causes them.
 */
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/lock.h"
#include "kontend/model-cpu.h"
#include "kontend/query-damage.h"
#include "kontend/query-overview.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

bool query_is_kontend(struct query *q, uint32_t task)
{
	const char *comm = query_task_comm(q, task);

	if (!comm || strcmp(comm, "kontend"))
		return false;
	/* Its process may be unknown: then there is only the task's name. */
	comm = query_process_comm(q, task);
	return !comm || !strcmp(comm, "kontend");
}

/* Usually kontend has no tasks in the model; then its cells need no search. */
static bool find_own_tasks(struct query *q, bool *own)
{
	bool any = false;

	for (uint32_t i = 0; i < q->model->tasks->n; i++)
		any |= own[i] = query_is_kontend(q, i);
	return any;
}

static int sum_own_cells(struct query *q, struct reuse_own *ret)
{
	const struct model *m = q->model;
	bool *own = arena_alloc(&q->arena, m->tasks->n + 1);

	if (!own)
		return -ENOMEM;
	bool any = find_own_tasks(q, own);
	for (size_t i = 0; any && i < m->cells->n; i++) {
		const struct cell *c = &m->cells->cells[i];
		if (c->task >= m->tasks->n || !own[c->task])
			continue;
		ret->waits += cell_n(m->cells, c);
		ret->ns += c->total_ns;
	}
	return 0;
}

static int sum_own_waits(struct query *q, struct query_overview *o)
{
	struct reuse_own own = {0};

	if (!reuse_own_find(q, &own)) {
		int r = sum_own_cells(q, &own);
		if (r < 0)
			return r;
		reuse_own_put(q, &own);
	}
	o->own_waits = own.waits;
	o->own_wait_ns = own.ns;
	return 0;
}

static void sum_types(const struct model *m, struct query_overview *o)
{
	uint64_t n = 0, ns = 0, user_ns = 0;

	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		bool user = locktype_is_user(i);
		n += m->types[i].rate_n;
		ns += m->types[i].rate_wait_ns;
		user_ns += user ? m->types[i].rate_wait_ns : 0;
		o->contended += m->types[i].contended;
		o->total_ns += m->types[i].total_ns;
		o->waited_ns += m->types[i].waited_ns;
		o->user_waited_ns += user ? m->types[i].waited_ns : 0;
	}
	o->contended_per_s = query_per_s(n, m->rate_ns);
	o->wait_ns_per_s = query_per_s(ns, m->rate_ns);
	o->user_ns_per_s = query_per_s(user_ns, m->rate_ns);
	o->events_per_s = query_per_s(m->rate_n, m->rate_ns);
}

static uint32_t sum_waits(struct query *q, struct query_overview *o)
{
	const struct model *m = q->model;
	const struct wait_pool *p = m->waits;
	uint32_t longest = 0;

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		uint8_t type;
		if (!w->used || w->lock >= m->locks->n)
			continue;
		type = m->locks->locks[w->lock].type;
		o->waiting++;
		o->waiting_early += w->early;
		o->waiting_doubtful += w->doubtful;
		o->inflight_ns += w->doubtful ? 0 : query_wait_ns(m, w);
		o->waited_ns += w->doubtful ? 0 : query_wait_within_ns(m, w);
		if (locktype_is_user(type)) {
			o->user_waiting++;
			o->user_waited_ns += w->doubtful ? 0 : query_wait_within_ns(m, w);
		}
		o->waiting_by_type[type < LOCK_TYPES ? type : LOCK_UNKNOWN]++;
		if (query_is_kontend(q, w->task))
			o->own_waiting++;
		else if (!w->doubtful && (!longest || w->begin_ns < p->waits[longest].begin_ns))
			longest = i;
	}
	return longest;
}

static void name_longest(struct query *q, const struct wait *w, struct query_overview *o)
{
	uint8_t type = q->model->locks->locks[w->lock].type;

	o->any_longest = true;
	o->longest_ns = query_wait_ns(q->model, w);
	o->longest_approx = w->at_least;
	o->longest_task = query_task_name(q, w->task);
	const struct query_where where = query_wait_where(w);
	o->longest_lock = query_lock_name(q, w->lock);
	o->longest_lock_id = query_id(q, BY_LOCK, &where);
	o->longest_type = locktype_name((enum lock_type)type);
}

static const uint64_t *series(struct query *q, const struct series *s)
{
	struct value v = {0};

	value_series(q, &v, s, SERIES_LEN);
	return v.known ? v.series : NULL;
}

static void fill_series(struct query *q, struct query_overview *o)
{
	const struct model *m = q->model;

	uint64_t range = m->n_ticks - m->before->n_ticks;

	if (q->only)
		return;
	o->n_series = m->n_ticks < SERIES_LEN ? (uint32_t)m->n_ticks : SERIES_LEN;
	o->n_range = range < SERIES_LEN ? (uint32_t)range : SERIES_LEN;
	o->contended_series = series(q, m->n_series);
	o->wait_series = series(q, m->wait_series);
	o->waiting_series = series(q, m->waiting_series);
}

/* The trust in the figures depends on the whole measurement, whatever a filter leaves. */
static void fill_quality(const struct model *m, struct query_overview *o)
{
	const struct model_damage *d = &o->damage;

	o->damage = model_damage(m);
	uint64_t bad = d->unmatched + d->doubtful;
	uint64_t all = bad + query_waits_of(m) + m->n_failed;

	o->unmatched_pct = units_percent(bad, all);
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		const struct model_cpu *c = &m->cpus[i];
		uint64_t pct = c->fill_size ? 100ull * c->fill_used / c->fill_size : 0;
		o->fill_pct = pct > o->fill_pct ? (uint32_t)pct : o->fill_pct;
		if (c->offline && !o->cpus_offline++)
			o->first_offline = i;
	}
}

/* Until a note says why, a recording or the kernel may still bring them. */
static bool has_no_kernel_names(const struct query *q)
{
	const struct notes *n = &q->engine->notes;
	enum sym_state s = q->sym->state;
	bool any = s == SYM_WITHHELD || s == SYM_UNREADABLE;

	for (size_t i = 0; !any && s == SYM_NONE && i < n->n; i++)
		any = n->items[i].kind == NOTE_NAMES;
	return any;
}

int query_overview(struct query *q, struct query_overview *ret)
{
	const struct model *m = q->model;
	struct query_overview o = {
		.elapsed_ns = query_elapsed(m),
		.bucket_ns = m->rate_ns,
		.start_ns = m->start_ns,
		.from_ns = query_from(m),
		.to_ns = m->now_ns,
		.n_events = m->n_events - m->before->n_events,
		.host = m->host,
		.n_snapshots = m->n_snapshots,
		.sym_state = q->sym->state,
		.no_kernel_names = has_no_kernel_names(q),
		.no_ends = m->no_ends,
	};
	uint32_t longest;

	if (query_sync(q) < 0)
		return -ENOMEM;
	sum_types(m, &o);
	longest = sum_waits(q, &o);
	if (sum_own_waits(q, &o) < 0)
		return -ENOMEM;
	o.waiting_rwsem_r = o.waiting_by_type[LOCK_RWSEM_R];
	o.waiting_rwsem_w = o.waiting_by_type[LOCK_RWSEM_W];
	if (longest)
		name_longest(q, &m->waits->waits[longest], &o);
	fill_series(q, &o);
	fill_quality(q->engine->model, &o);
	o.loss = query_loss_of_sums(q->engine->model);
	o.loss_now = query_loss_of_bucket(q->engine->model);
	if (q->cache->failed)
		return -ENOMEM;
	*ret = o;
	return 0;
}
