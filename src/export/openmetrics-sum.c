// SPDX-License-Identifier: GPL-2.0-only
/*
 * Totals that outlive the model's entries. A full model folds old entries, which would make a
 * caller's sum smaller: to Prometheus, a counter that was reset. So the sums of the model are added
 * to totals here and then cleared in the model. Two functions with one name are two callers in the
 * model but one set of labels; so callers are identified by name, in a sorted array of limited
 * size. New callers are added to "other" when it is full.
 */
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "kontend/when.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <string.h>

enum { MOST_CALLERS = 4096 };

static const char other[] = "other";

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

static int compare(const void *item, const void *key)
{
	const struct openmetrics_caller *a = item, *b = key;
	int c = strcmp(a->name, b->name);

	if (c == 0)
		c = strcmp(a->type, b->type);
	return c ? c : strcmp(a->mode, b->mode);
}

/* NULL: not found; *ret_at is the index at which to insert it. */
static struct openmetrics_caller *find_caller(const struct openmetrics *m,
					      const struct openmetrics_caller *c, size_t *ret_at)
{
	size_t n = bisect_by(m->callers, m->n_callers, sizeof(*c), c, compare);

	*ret_at = n;
	return n && compare(&m->callers[n - 1], c) == 0 ? &m->callers[n - 1] : NULL;
}

static int insert(struct openmetrics *m, size_t at, const struct openmetrics_caller *c)
{
	struct openmetrics_caller new = *c;

	if (mem_grow(&m->callers, &m->cap_callers, m->n_callers, sizeof(*m->callers)))
		return -ENOMEM;
	new.name = strpool_intern(&m->names, c->name);
	if (!new.name)
		return -ENOMEM;
	memmove(m->callers + at + 1, m->callers + at, (m->n_callers - at) * sizeof(*m->callers));
	m->callers[at] = new;
	m->n_callers++;
	return 0;
}

static int add_caller(struct openmetrics *m, struct openmetrics_caller *c)
{
	size_t at;
	struct openmetrics_caller *known = find_caller(m, c, &at);

	if (!known && m->n_callers >= MOST_CALLERS) {
		c->name = other;
		known = find_caller(m, c, &at);
	}
	if (!known)
		return insert(m, at, c);
	known->n += c->n;
	known->total_ns += c->total_ns;
	return 0;
}

/* Names of types and modes are constants, so they outlive the table. */
static const char *text_of(const struct table *t, size_t row, const char *key, const char *unknown)
{
	const char *text = table_text(t, row, key);

	return text ? text : unknown;
}

static int add_callers(struct openmetrics *m, struct query *q)
{
	struct query_spec spec = {.by = BY_CALLER, .average = true, .ended = true};
	struct table t;

	if (query_locks(q, &spec, &t, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t.n_rows; i++) {
		struct openmetrics_caller one = {.name = text_of(&t, i, "caller", "unknown"),
						 .type = text_of(&t, i, "type", "unknown"),
						 .mode = text_of(&t, i, "mode", ""),
						 .n = table_u64(&t, i, "contended"),
						 .total_ns = table_u64(&t, i, "total_ns")};
		if (one.n && add_caller(m, &one) < 0)
			return -ENOMEM;
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
	if (!m->spec.no_memcgs && openmetrics_add_mmap(m, q) < 0)
		return -ENOMEM;
	return m->spec.no_callers ? 0 : add_callers(m, q);
}

int openmetrics_add(struct openmetrics *m, struct query *q, struct error *err)
{
	if (add_query(m, q) == 0)
		return 0;
	return error_set(err, -ENOMEM,
			 "Cannot sum up the metrics: out of memory, end other programs");
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

int openmetrics_new(struct openmetrics **ret, const struct openmetrics_spec *s)
{
	struct openmetrics *m = mem_calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->spec = *s;
	for (size_t i = 0; i < LOCK_UNKNOWN; i++)
		m->types[i].is_seen = s->all_types;
	*ret = m;
	return 0;
}

void openmetrics_free(struct openmetrics *m)
{
	if (!m)
		return;
	strpool_deinit(&m->names);
	mem_free(m->callers);
	mem_free(m->memcgs);
	mem_free(m);
}
