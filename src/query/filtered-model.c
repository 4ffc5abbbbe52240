// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model that has only the waits and samples that a filter lets through: tables that are read
 * alone are shared, cells, waits in flight and samples are filtered, and the sums by type and CPU
 * are added up from these cells. So all figures are about the rest, and no other query knows of
 * filters. It lies in the frame's arena. Series are sums that no cell has: there are none.
 */
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/lock.h"
#include "kontend/model-cpu.h"
#include "kontend/profile.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/wait-filter.h"
#include "kontend/wait.h"
#include "wait-filter.h"

#include <errno.h>
#include <string.h>

static void add_sums(struct model *m, const struct cell *c, const struct cell_sums *s)
{
	enum lock_type type = (enum lock_type)m->locks->locks[c->lock].type;
	struct model_type *t = &m->types[type];
	struct model_cpu none = {0}, *cpu = c->cpu < m->n_cpus ? &m->cpus[c->cpu] : &none;

	t->contended += s->n;
	t->total_ns += c->total_ns;
	t->waited_ns += s->waited_ns;
	t->rate_n += s->rate_n;
	t->rate_wait_ns += c->rate_wait_ns;
	cpu->contended += s->n;
	cpu->total_ns += c->total_ns;
	cpu->rate_n += s->rate_n;
	cpu->rate_wait_ns += c->rate_wait_ns;
	cpu->spin_ns += locktype_is_spin(type) ? s->waited_ns : 0;
	cpu->rate_spin_ns += locktype_is_spin(type) ? c->rate_wait_ns : 0;
	m->n_failed += s->failed;
}

static bool has_part(const struct query *q)
{
	return heat_part_any(&q->part);
}

static int keep_cells(struct model *m, struct only *o)
{
	const struct cell_table *all = o->q->model->cells;
	struct cell *kept = arena_alloc(o->arena, (all->n + 1) * sizeof(*kept));
	uint8_t *marks = arena_alloc(o->arena, all->n + 1);
	int r = kept && marks ? 0 : -ENOMEM;

	m->cells->cells = kept;
	m->cells->n = 0;
	for (size_t i = 0; r == 0 && i < all->n; i++) {
		const struct cell *c = &all->cells[i];
		struct query_where w = query_cell_where(c);
		if (!only_knows(m, &w) || !only_has_wait(o, &w))
			continue;
		kept[m->cells->n++] = *c;
		marks[i] = 1;
	}
	o->q->kept_cells = marks;
	if (r == 0 && has_part(o->q))
		r = query_part_cells(o->q, marks, m->cells);
	for (size_t i = 0; r == 0 && i < m->cells->n; i++) {
		const struct cell_sums s = cell_sums(m->cells, &m->cells->cells[i]);
		add_sums(m, &m->cells->cells[i], &s);
	}
	return r;
}

/* Rates and averages are of the time of the part, if it has ends. */
static void keep_time(struct model *m, const struct heat_part *p)
{
	const uint64_t from = p->from_ns > query_from(m) ? p->from_ns : query_from(m);

	if (!heat_part_any(p))
		return;
	m->zero_ns = from;
	if (p->to_ns && p->to_ns < m->now_ns)
		m->now_ns = p->to_ns;
	m->rate_ns = query_elapsed(m);
}

/* Those that go on are of now, and as long as they are by now. */
static bool is_part_wait(const struct query *q, uint64_t ns)
{
	const struct heat_part *p = &q->part;

	return (!p->to_ns || p->to_ns >= q->model->now_ns) && heat_part_has_length(p, ns);
}

static int keep_waits(struct model *m, struct only *o)
{
	const struct wait_pool *all = o->q->model->waits;
	struct wait *kept = arena_alloc(o->arena, ((size_t)all->high + 1) * sizeof(*kept));

	m->waits->waits = kept;
	m->waits->in_flight = 0;
	for (uint32_t i = 1; kept && i < all->high; i++) {
		struct query_where w = query_wait_where(&all->waits[i]);
		const uint64_t ns = query_wait_ns(o->q->model, &all->waits[i]);
		if (!all->waits[i].used || !only_knows(m, &w) || ns < m->min_wait_ns ||
		    !is_part_wait(o->q, ns) || !only_has_wait(o, &w))
			continue;
		kept[i] = all->waits[i];
		m->waits->in_flight++;
	}
	return kept ? 0 : -ENOMEM;
}

/* Holders are filtered as waiters are: by the wait after which they had the lock. */
static const uint8_t *keep_holders(struct model *m, struct only *o, const struct cell_table *all,
				   struct cell_table *ret)
{
	struct cell *kept = arena_alloc(o->arena, (all->n + 1) * sizeof(*kept));
	uint8_t *marks = arena_alloc(o->arena, all->n + 1);

	ret->cells = kept;
	ret->n = 0;
	for (size_t i = 0; kept && marks && i < all->n; i++) {
		struct query_where w = query_cell_where(&all->cells[i]);
		w.owner = OWNER_NONE; /* there it says something else */
		if (has_part(o->q) || !only_knows(m, &w) || !only_has_wait(o, &w))
			continue;
		kept[ret->n++] = all->cells[i];
		marks[i] = 1;
	}
	return kept ? marks : NULL;
}

static int keep_held(struct model *m, struct only *o)
{
	struct query *q = o->q;

	q->kept_held = keep_holders(m, o, q->model->held, m->held);
	q->kept_handed = keep_holders(m, o, q->model->handed, m->handed);
	return q->kept_held && q->kept_handed && keep_holders(m, o, q->model->mm_held, m->mm_held)
		       ? 0
		       : -ENOMEM;
}

static bool has_charged(struct only *o, uint32_t lock, uint32_t stack)
{
	const struct query_where w = {.lock = lock, .stack = stack};

	return only_knows(o->q->model, &w) && only_has_wait(o, &w);
}

/* Waiting that is not charged yet. */
static int keep_classes(struct model *m, struct only *o)
{
	const struct blame *all = o->q->model->blame;
	struct blame_class *kept = arena_alloc(o->arena, (all->n_classes + 1) * sizeof(*kept));

	m->blame->classes = kept;
	for (uint32_t i = 1; kept && i < all->n_classes; i++) {
		kept[i] = all->classes[i];
		if (o->q->no_blame || !has_charged(o, kept[i].lock, kept[i].stack))
			kept[i].n = kept[i].n_lost = kept[i].ns = 0;
	}
	return kept ? 0 : -ENOMEM;
}

static const char *why_no_blame(const struct model *m, const struct only *o)
{
	if (has_part(o->q))
		return "a part of the waits by time and length says nothing of it: what is charged "
		       "is of all waits";
	if (only_asks_waiters(o))
		return "a filter about who waits says nothing of it: what is waited is charged by "
		       "lock and call chain";
	return m->min_wait_ns ? "--min-wait says nothing of it: what is charged is of all waits"
			      : NULL;
}

/* By what was waited for and where; lost_ns is of no known place. */
static int keep_charged(struct model *m, struct only *o)
{
	const struct blame *all = o->q->model->blame;
	struct blame_cell *kept = arena_alloc(o->arena, (all->n + 1) * sizeof(*kept));
	uint8_t *marks = arena_alloc(o->arena, all->n + 1);

	o->q->no_blame = why_no_blame(m, o);
	m->blame->cells = kept;
	m->blame->n = m->blame->lost_ns = 0;
	for (size_t i = 0; kept && marks && !o->q->no_blame && i < all->n; i++) {
		if (!has_charged(o, all->cells[i].key.lock, all->cells[i].key.stack))
			continue;
		kept[m->blame->n++] = all->cells[i];
		marks[i] = 1;
	}
	o->q->kept_charged = marks;
	return kept && marks ? keep_classes(m, o) : -ENOMEM;
}

/* Of a part of the waits no sample is known. */
static bool has_samples(const struct query *q)
{
	return !has_part(q) || q->part_of_waits;
}

static int keep_samples(struct model *m, struct only *o)
{
	const struct profile *all = o->q->model->profile;
	struct profile_cell *kept = arena_alloc(o->arena, (all->n + 1) * sizeof(*kept));
	uint8_t *marks = arena_alloc(o->arena, all->n + 1);
	struct profile *p = m->profile;

	p->cells = kept;
	p->n = p->samples = p->period = 0;
	for (size_t i = 0; kept && marks && i < all->n; i++) {
		const struct profile_cell *c = &all->cells[i];
		const struct query_where w = {UINT32_MAX, c->stack, c->task, (uint16_t)c->cpu, 0};
		if (!has_samples(o->q) || c->task >= m->tasks->n || c->stack >= all->stacks.n ||
		    !only_has_sample(o, &w))
			continue;
		kept[p->n++] = *c;
		marks[i] = 1;
		p->samples += c->n;
		p->period += c->period;
	}
	o->q->kept_samples = marks;
	return kept && marks ? 0 : -ENOMEM;
}

/* The tables that a filter changes; the others are those of the whole model. */
struct own_tables {
	struct cell_table cells, held, handed, mm_held;
	struct wait_pool waits;
	struct blame blame;
	struct profile profile;
	struct model_type types[LOCK_TYPES];
	struct series n_series, wait_series, waiting_series;
};

static int copy_tables(struct model *m, struct arena *a)
{
	struct own_tables *t = arena_alloc(a, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (struct own_tables){.cells = *m->cells,
				 .held = *m->held,
				 .handed = *m->handed,
				 .mm_held = *m->mm_held,
				 .waits = *m->waits,
				 .blame = *m->blame,
				 .profile = *m->profile};
	m->cells = &t->cells;
	m->held = &t->held;
	m->handed = &t->handed;
	m->mm_held = &t->mm_held;
	m->waits = &t->waits;
	m->blame = &t->blame;
	m->profile = &t->profile;
	m->types = t->types;
	m->n_series = &t->n_series;
	m->wait_series = &t->wait_series;
	m->waiting_series = &t->waiting_series;
	return 0;
}

/* Clears the sums; fields that do not depend on waits stay: rings, state, losses. */
static int forget_sums(struct model *m, struct arena *a)
{
	struct model_cpu *cpus = arena_alloc(a, ((size_t)m->n_cpus + 1) * sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		cpus[i] = m->cpus[i];
		cpus[i].contended = cpus[i].total_ns = cpus[i].spin_ns = 0;
		cpus[i].rate_n = cpus[i].rate_wait_ns = cpus[i].rate_spin_ns = 0;
		cpus[i].n_series = cpus[i].wait_series = (struct series){0};
	}
	m->cpus = cpus;
	m->n_failed = m->n_short = 0;
	return 0;
}

/* A spin wait that is left out is none of its CPU. */
static void forget_spins(struct model *m)
{
	for (uint32_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].depth && !m->waits->waits[m->cpus[i].waits[0]].used)
			m->cpus[i].depth = 0;
}

static int narrow(struct only *o, struct model *m)
{
	*m = *o->q->model;
	if (copy_tables(m, o->arena) < 0 || forget_sums(m, o->arena) < 0 || keep_cells(m, o) < 0 ||
	    keep_waits(m, o) < 0 || keep_held(m, o) < 0 || keep_charged(m, o) < 0)
		return -ENOMEM;
	forget_spins(m);
	keep_time(m, &o->q->part);
	return keep_samples(m, o);
}

/* Names are cached by cell, and the cells have changed. */
static void forget_names(struct query *q)
{
	q->cache->lock_names = NULL;
	q->cache->lock_head = q->cache->lock_next = NULL;
}

int wait_filter_set(struct query *q, const char *filter, struct error *err)
{
	bool any = filter && filter[strspn(filter, " \t")];
	struct only o = {0};
	struct model *m;

	wait_filter_end(q);
	if (!any && !q->model->min_wait_ns && !has_part(q))
		return 0;
	q->only = ((any ? text_hash(filter) : 1) ^ query_part_hash(&q->part)) | 1;
	forget_names(q);
	m = arena_alloc(&q->arena, sizeof(*m));
	int r = m ? only_init(&o, q, &q->arena, filter, err) : query_enomem(err, "filter");
	if (r == 0 && (only_load_names(&o) < 0 || narrow(&o, m) < 0 || q->cache->failed))
		r = query_enomem(err, "waits of a filter");
	q->only_locks = r == 0 && only_asks_locks(&o) && !q->model->min_wait_ns && !has_part(q);
	only_deinit(&o);
	forget_names(q);
	if (r == 0)
		q->model = m;
	else
		wait_filter_end(q);
	return r;
}

void wait_filter_end(struct query *q)
{
	if (!q->only)
		return;
	q->model = q->engine->model;
	q->only = 0;
	q->kept_cells = q->kept_held = q->kept_handed = q->kept_charged = q->kept_samples = NULL;
	q->no_blame = NULL;
	forget_names(q);
}

const struct model *query_model_of_cells(struct query *q, const struct model *whole,
					 const struct cell_table *cells)
{
	struct {
		struct model model;
		struct cell_table cells;
		struct wait_pool waits;
		struct model_damage damage;
	} *m = arena_alloc(&q->arena, sizeof(*m));

	if (!m)
		return NULL;
	m->model = *whole;
	m->cells = *cells;
	m->waits = *whole->waits;
	m->waits.in_flight = 0;
	m->waits.high = 1;
	m->damage = *whole->damage;
	m->damage.doubtful = m->damage.unmatched_begin = 0;
	m->model.cells = &m->cells;
	m->model.waits = &m->waits;
	m->model.damage = &m->damage;
	return &m->model;
}

struct wait_filter_sum wait_filter_sum(const struct query *q)
{
	const struct model *all = q->engine->model;

	return (struct wait_filter_sum){query_waits_of(q->model), query_waits_of(all),
					q->model->profile->samples, all->profile->samples,
					all->min_wait_ns};
}
