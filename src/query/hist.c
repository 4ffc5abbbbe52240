// SPDX-License-Identifier: GPL-2.0-only
/*
 * The histogram of a scope, a bar an octave (the four sub-buckets of the stored histograms added
 * up), without the empty bars at both ends; and the wait per bucket of time of one lock, one type,
 * one CPU or of everything. Other scopes have no series of their own: it would cost 512 bytes a
 * cell.
 */
#include "kontend/hist.h"
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/model-cpu.h"
#include "kontend/query-hist.h"
#include "kontend/query.h"
#include "kontend/series.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "mmap/list.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

static void sum_cells(struct query *q, const struct query_scope *scope, struct hist *h,
		      struct query_hist *ret)
{
	const struct cell_table *t = query_cells(q);

	ret->min_ns = UINT64_MAX;
	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		const struct cell_sums s = cell_sums(t, c);
		struct query_where w = query_cell_where(c);
		uint64_t spun_ns;
		if (s.n == 0 || !query_in_scope(q, scope, &w))
			continue;
		cell_hist(t, c, h);
		if (query_cell_spun(q, c, &s, &spun_ns))
			ret->spun_ns += spun_ns;
		ret->n_waits += s.n;
		ret->total_ns += c->total_ns;
		ret->min_ns = s.min_ns < ret->min_ns ? s.min_ns : ret->min_ns;
		ret->max_ns = s.max_ns > ret->max_ns ? s.max_ns : ret->max_ns;
	}
	if (ret->n_waits == 0)
		ret->min_ns = 0;
}

static void sum_inflight(struct query *q, const struct query_scope *scope, struct hist *h,
			 struct query_hist *ret)
{
	const struct wait_pool *p = q->model->waits;
	uint64_t longest = 0, spun_ns;

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *wait = &p->waits[i];
		struct query_where w = query_wait_where(wait);
		if (!wait->used || wait->doubtful || !query_in_scope(q, scope, &w))
			continue;
		uint64_t ns = query_wait_ns(q->model, wait);
		ret->n_inflight++;
		ret->inflight_ns += ns;
		hist_count(h, ns);
		if (!query_has_window(q) && query_wait_spun(q->model, wait, &spun_ns))
			ret->spun_ns += spun_ns;
		longest = ns > longest ? ns : longest;
	}
	ret->at_least = ret->n_inflight != 0;
	ret->max_at_least = longest > ret->max_ns;
	ret->max_ns = ret->max_at_least ? longest : ret->max_ns;
	ret->total_ns += ret->inflight_ns;
}

static int make_bars(struct query *q, const struct hist *h, struct query_hist *ret)
{
	unsigned first = 0, last = HIST_BUCKETS / HIST_SUB;

	while (first < last && hist_octave(h, first) == 0)
		first++;
	while (last > first && hist_octave(h, last - 1) == 0)
		last--;
	ret->bars = arena_alloc(&q->arena, (last - first + 1) * sizeof(*ret->bars));
	if (!ret->bars)
		return -ENOMEM;
	for (unsigned o = first; o < last; o++) {
		uint64_t n = hist_octave(h, o);
		ret->bars[ret->n++] = (struct query_bar){
			.lower_ns = hist_lower(o * HIST_SUB),
			.upper_ns = hist_upper(o * HIST_SUB + HIST_SUB - 1),
			.n = n,
			.pct = units_percent(n, h->n),
		};
	}
	return 0;
}

static void put_percentiles(const struct hist *h, uint64_t min, struct query_hist *ret)
{
	ret->p50_ns = hist_percentile(h, 50, min, ret->max_ns);
	ret->p90_ns = hist_percentile(h, 90, min, ret->max_ns);
	ret->p99_ns = hist_percentile(h, 99, min, ret->max_ns);
}

int query_hist_make(struct query *q, const struct hist *h, struct query_hist *ret)
{
	uint64_t *counts = arena_alloc(&q->arena, sizeof(h->count));

	if (!counts)
		return -ENOMEM;
	memcpy(counts, h->count, sizeof(h->count));
	ret->counts = counts;
	put_percentiles(h, ret->min_ns, ret);
	return make_bars(q, h, ret);
}

int query_hist_lists(struct arena *a, const struct hist *h, struct value v[3])
{
	uint32_t n = 0, at = 0;

	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		n += h->count[b] != 0;
	uint64_t *all = arena_alloc(a, (3 * (size_t)n + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		if (!h->count[b])
			continue;
		all[at] = hist_lower(b);
		all[n + at] = hist_upper(b);
		all[2 * n + at++] = h->count[b];
	}
	for (uint32_t i = 0; i < 3; i++)
		v[i] = (struct value){.series = all + (size_t)i * n, .n = n, .known = true};
	return 0;
}

void query_hist_buckets(struct query *q, const struct hist *h, struct value v[3])
{
	(void)query_hist_lists(&q->arena, h, v);
}

int query_hist(struct query *q, const struct query_scope *scope, struct query_hist *ret)
{
	struct query_hist answer = {0};
	struct hist h = {0};

	if (query_sync(q) < 0)
		return -ENOMEM;
	sum_cells(q, scope, &h, &answer);
	if (q->cache->failed || query_hist_make(q, &h, &answer) < 0)
		return -ENOMEM;
	*ret = answer;
	return 0;
}

int query_hist_now(struct query *q, const struct query_scope *scope, struct query_hist *ret)
{
	struct hist h = {0};
	int r = query_hist(q, scope, ret);

	if (r < 0)
		return r;
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		h.n += h.count[i] = ret->counts[i];
	sum_inflight(q, scope, &h, ret);
	put_percentiles(&h, ret->n_inflight ? 0 : ret->min_ns, ret);
	return 0;
}

static const struct lock *find_lock(const struct query *q, uint64_t id)
{
	const struct lock_table *t = q->model->locks;
	uint32_t index = lock_by_id(t, id);

	if (index != UINT32_MAX)
		return &t->locks[index];
	for (uint32_t i = 0; i < LOCK_TYPES && i < t->n; i++) /* the "other" locks */
		if (lock_key(0, (enum lock_type)i) == id)
			return &t->locks[i];
	return NULL;
}

static const struct series *series_of(const struct query *q, const struct query_scope *scope)
{
	static const struct series none;
	const struct model *m = q->model;
	const struct lock *l;

	if (!scope || !scope->mask)
		return m->wait_series;
	if (scope->mask & 1u << BY_LOCK) {
		l = find_lock(q, scope->id[BY_LOCK]);
		return l ? &l->wait_series : &none;
	}
	if (scope->mask & 1u << BY_TYPE && scope->id[BY_TYPE] < LOCK_TYPES)
		return &m->types[scope->id[BY_TYPE]].wait_series;
	if (scope->mask & 1u << BY_CPU && scope->id[BY_CPU] < m->n_cpus)
		return &m->cpus[scope->id[BY_CPU]].wait_series;
	return NULL;
}

/* Buckets to ns waited per second, by the length of the latest one. */
static const uint64_t *per_second(struct query *q, const struct series *s, uint32_t n)
{
	uint64_t rate_ns = q->model->rate_ns;
	struct value v = {0};
	uint64_t *p = arena_alloc(&q->arena, (n + 1) * sizeof(*p));

	value_series(q, &v, s, n);
	if (!p || !v.known)
		return p;
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint64_t)query_per_s(v.series[i], rate_ns);
	return p;
}

int query_series(struct query *q, const struct query_scope *scope, struct query_series *ret)
{
	const struct model *m = q->model;
	const struct series *s = series_of(q, scope);
	uint32_t n = m->n_ticks < SERIES_LEN ? (uint32_t)m->n_ticks : SERIES_LEN;

	if (query_sync(q) < 0)
		return -ENOMEM;
	*ret = (struct query_series){0};
	if (!s || q->only)
		return 0;
	ret->v = per_second(q, s, n);
	ret->all = per_second(q, m->wait_series, n);
	if (!ret->v || !ret->all || q->cache->failed)
		return -ENOMEM;
	ret->n = n;
	return 0;
}
