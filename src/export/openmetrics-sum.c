// SPDX-License-Identifier: GPL-2.0-only
/*
 * Totals that outlive the model's entries. A full model folds old entries, which would make a
 * caller's sum smaller: to Prometheus, a counter that was reset. So the sums of the model are added
 * to totals here and then cleared in the model. Two functions with one name are two callers in the
 * model but one set of labels; so callers are series by name.
 */
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-overview.h"
#include "kontend/text.h"
#include "kontend/when.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <string.h>

enum { MOST_CALLERS = 4096 };

void openmetrics_hist_count(uint64_t to[HIST_BUCKETS], const struct query_hist *from)
{
	uint64_t n = 0;

	for (size_t i = 0; from->counts && i < HIST_BUCKETS; i++) {
		to[i] += from->counts[i];
		n += from->counts[i];
	}
	if (from->n_waits > n)
		to[HIST_BUCKETS - 1] += from->n_waits - n;
}

void openmetrics_hist_add(struct openmetrics_hist *to, const struct query_hist *from)
{
	openmetrics_hist_count(to->counts, from);
	to->n += from->n_waits;
	to->total_ns += from->total_ns;
}

static int add_type(struct openmetrics *m, struct query *q, const struct table *t, size_t row)
{
	enum lock_type type = (enum lock_type)t->ids[row];
	struct query_scope scope = {.mask = 1u << BY_TYPE, .id[BY_TYPE] = type};
	struct openmetrics_type *sum = &m->types[type];
	struct query_hist h;

	if (query_hist(q, &scope, &h) < 0)
		return -ENOMEM;
	sum->is_seen = true;
	openmetrics_hist_add(&sum->hist, &h);
	sum->max_ns = h.max_ns > sum->max_ns ? h.max_ns : sum->max_ns;
	sum->failed += table_u64(t, row, "failed");
	sum->waiting = table_u64(t, row, "waiting");
	return 0;
}

static int add_types(struct openmetrics *m, struct query *q)
{
	struct query_spec spec = {.average = true, .ended = true};
	struct table types;

	if (query_types(q, &spec, &types, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < LOCK_TYPES; i++)
		m->types[i].waiting = 0;
	for (size_t i = 0; i < types.n_rows; i++)
		if (add_type(m, q, &types, i) < 0)
			return -ENOMEM;
	return 0;
}

static int add_callers(struct openmetrics *m, struct query *q)
{
	struct query_spec spec = {.by = BY_CALLER, .average = true, .ended = true};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t.n_rows; i++) {
		/* Names of types and modes are constants, so they outlive the table. */
		const struct named_key key = {table_text_or(&t, i, "caller", "unknown"),
					      table_text_or(&t, i, "type", "unknown"),
					      table_text_or(&t, i, "mode", "")};
		uint64_t n = table_u64(&t, i, "contended");
		struct named_sum *r =
			n ? named_sums_get(&m->callers, &key, true, q->model->now_ns) : NULL;
		if (n && !r)
			return -ENOMEM;
		if (r)
			named_sum_add(r, n, table_u64(&t, i, "total_ns"), 0, 0, q->model->now_ns);
	}
	return 0;
}

static void note_start(struct openmetrics *m, const struct query_overview *o)
{
	const struct when w = {.clock_ns = o->host->clock_ns, .wall_ns = o->host->wall_ns};

	/* The first query comes before anything is measured, and the start may still move. */
	if (!m->start_wall_ns || !m->measured_ns)
		m->start_wall_ns = when_wall_ns(&w, o->from_ns);
}

static int add_query(struct openmetrics *m, struct query *q)
{
	struct query_overview o;

	if (query_overview(q, &o) < 0)
		return -ENOMEM;
	note_start(m, &o);
	m->measured_ns += o.elapsed_ns;
	m->longest_ns = o.any_longest ? o.longest_ns : 0;
	m->n_events = o.n_events;
	m->damage = o.damage;
	m->loss = loss_of_range(q->model);
	m->host = *o.host;
	if (add_types(m, q) < 0)
		return -ENOMEM;
	if (openmetrics_add_mmap(m, q) < 0)
		return -ENOMEM;
	return m->spec.live ? 0 : add_callers(m, q);
}

int openmetrics_add(struct openmetrics *m, struct query *q, struct error *err)
{
	if (add_query(m, q) == 0)
		return 0;
	return error_enomem(err, "the sums of the metrics");
}

void openmetrics_incident(struct openmetrics *m, enum lock_type type, uint64_t wait_ns,
			  uint64_t wall_ns, const char *file)
{
	struct openmetrics_type *t = &m->types[type];
	uint64_t bars[OPENMETRICS_BUCKETS];

	openmetrics_hist_bars(&t->hist, bars);
	if (!bars[openmetrics_text_bucket(wait_ns)])
		return;
	t->incident = (struct openmetrics_exemplar){.ns = wait_ns, .wall_ns = wall_ns};
	text_clean(t->incident.incident, sizeof(t->incident.incident), file);
}

void openmetrics_sums(const struct openmetrics *m, struct openmetrics_sum ret[LOCK_TYPES])
{
	for (size_t i = 0; i < LOCK_TYPES; i++)
		ret[i] = (struct openmetrics_sum){m->types[i].hist.n, m->types[i].hist.total_ns,
						  m->types[i].waiting};
}

uint64_t openmetrics_ended(const struct openmetrics *m)
{
	return m->mmap.waits.n_ended;
}

void openmetrics_clear_longest(struct openmetrics *m)
{
	for (enum lock_type i = 0; i < LOCK_TYPES; i++)
		m->types[i].max_ns = 0;
	named_sums_clear_max(&m->mmap.waits);
}

int openmetrics_new(struct openmetrics **ret, const struct openmetrics_spec *s)
{
	struct openmetrics *m = mem_calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->spec = *s;
	m->callers.most = MOST_CALLERS;
	for (size_t i = 0; i < LOCK_UNKNOWN; i++)
		m->types[i].is_seen = s->live;
	if (openmetrics_init_mmap(m) < 0) {
		openmetrics_free(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void openmetrics_free(struct openmetrics *m)
{
	if (!m)
		return;
	named_sums_deinit(&m->callers);
	openmetrics_deinit_mmap(m);
	mem_free(m);
}
