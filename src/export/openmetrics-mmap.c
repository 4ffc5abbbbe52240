// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap_locks by memory cgroup and mode: sums that outlive the model's entries. Waits are from the
 * contention events; the times to acquire and hold locks are from the mmap_lock tracepoints, if
 * these were recorded.
 */
#include "kontend/model.h"
#include "openmetrics-int.h"

#include <errno.h>

enum { MOST_OF_FILE = 256, MOST_OF_SERVER = 64, FIRST_OF_SERVER = 20 };

int openmetrics_init_mmap(struct openmetrics *m)
{
	struct openmetrics_mmap *s = &m->mmap;
	struct named_sums *const all[] = {&s->waits, &s->acquired, &s->gets, &s->holds};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		all[i]->most = m->spec.live ? MOST_OF_SERVER : MOST_OF_FILE;
		all[i]->ends = m->spec.live;
		if (m->spec.live &&
		    (!named_sums_other(all[i], NULL, "R") || !named_sums_other(all[i], NULL, "W")))
			return -ENOMEM;
	}
	return 0;
}

void openmetrics_deinit_mmap(struct openmetrics *m)
{
	named_sums_deinit(&m->mmap.waits);
	named_sums_deinit(&m->mmap.acquired);
	named_sums_deinit(&m->mmap.gets);
	named_sums_deinit(&m->mmap.holds);
}

/* A memory cgroup and mode, while its row of a table is added. */
struct memcg {
	struct named_key key;
	bool may_begin;
	uint64_t id, waiting, now_ns;
};

static int add_hist(struct named_sums *s, const struct memcg *g, const struct query_hist *h,
		    uint64_t waiting)
{
	struct named_sum *r = named_sums_get(s, &g->key, g->may_begin, g->now_ns);

	return r ? named_sum_add_hist(r, h, waiting, g->now_ns) : -ENOMEM;
}

static int add_waits(struct openmetrics *m, struct query *q, const struct memcg *g)
{
	const struct query_scope scope = {.mask = 1u << BY_MMAP_MEMCG, .id[BY_MMAP_MEMCG] = g->id};
	struct query_hist h;

	if (query_hist(q, &scope, &h) < 0)
		return -ENOMEM;
	return add_hist(&m->mmap.waits, g, &h, g->waiting);
}

/* Figures from the events of the mmap_locks themselves. */
static int add_events(struct openmetrics *m, struct query *q, const struct memcg *g)
{
	struct named_sum *r = named_sums_get(&m->mmap.acquired, &g->key, g->may_begin, g->now_ns);
	struct query_mmap_row row;

	if (!r || query_mmap_row(q, BY_MMAP_MEMCG, g->id, &row) < 0)
		return -ENOMEM;
	named_sum_add(r, row.acquired, 0, 0, 0, g->now_ns);
	int code = add_hist(&m->mmap.gets, g, &row.wait, 0);
	return code ? code : add_hist(&m->mmap.holds, g, &row.hold, 0);
}

/*
 * A file has all memory cgroups with events. A server has room for fewer: the first of a second,
 * and those without waits only in the families that need none.
 */
static int add_row(struct openmetrics *m, struct query *q, const struct table *t, size_t row)
{
	const bool is_live = m->spec.live;
	const struct memcg g = {
		.key = {.name = table_text_or(t, row, "memcg", "unknown"),
			.mode = *table_text_or(t, row, "mode", "R") == 'W' ? "W" : "R"},
		.may_begin = !is_live || row < FIRST_OF_SERVER,
		.id = t->ids[row],
		.waiting = table_u64(t, row, "waiting"),
		.now_ns = q->model->now_ns,
	};
	int code = 0;

	if (!is_live || g.waiting || table_u64(t, row, "contended"))
		code = add_waits(m, q, &g);
	if (code == 0 && (!is_live || !query_mmap_is_of_window(q)))
		code = add_events(m, q, &g);
	return code;
}

int openmetrics_add_mmap(struct openmetrics *m, struct query *q)
{
	const struct query_spec spec = {.by = BY_CGROUP,
					.sort = m->spec.live ? "wait_ns_per_s" : NULL,
					.average = true,
					.ended = true};
	struct query_mmap_sum sum;
	struct table t;
	int code = query_mmap_sum(q, true, &sum);

	if (code == 0)
		code = query_mmap(q, &spec, &t, NULL);
	m->mmap.is_known |= code == 0 && sum.known;
	m->mmap.has_events |= code == 0 && sum.level != MMLEVEL_CONTENDED;
	named_sums_clear_waiting(&m->mmap.waits);
	for (size_t i = 0; code == 0 && i < t.n_rows; i++)
		code = add_row(m, q, &t, i);
	return code < 0 ? -ENOMEM : 0;
}

void openmetrics_put_mmap(const struct openmetrics *m, struct openmetrics_text *t)
{
	const struct openmetrics_mmap *s = &m->mmap;

	if (s->is_known)
		named_sums_put(&s->waits, "kontend_mmap_lock_wait_seconds", NAMED_SUM_HISTOGRAM, t);
	if (s->is_known && m->spec.live) {
		named_sums_put(&s->waits, "kontend_mmap_lock_wait_max_seconds", NAMED_SUM_MAX, t);
		named_sums_put(&s->waits, "kontend_mmap_lock_waiters", NAMED_SUM_WAITING, t);
	}
	if (!s->has_events)
		return;
	named_sums_put(&s->acquired, "kontend_mmap_lock_acquired", NAMED_SUM_N, t);
	named_sums_put(&s->gets, "kontend_mmap_lock_acquire_seconds", NAMED_SUM_HISTOGRAM, t);
	named_sums_put(&s->holds, "kontend_mmap_lock_hold_seconds", NAMED_SUM_HISTOGRAM, t);
}
