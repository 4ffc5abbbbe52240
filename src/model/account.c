// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where waited time goes. A finished wait is added once, with its whole duration, to its cell and
 * to the totals of its CPU and type. Besides, each bucket gets the part of every wait that lies in
 * it, finished or not: so "wait per second" rises while a task waits, not in one spike when it
 * stops, and never exceeds the number of tasks that wait. At a tick the open bucket becomes the
 * closed one. The same is summed up since the sums began: a range has the part of a wait that lies
 * within it, and its totals whole waits, those that end there.
 */
#include "holds-int.h"
#include "kontend/blame.h"
#include "kontend/cell-recent.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/longest-recent.h"
#include "kontend/model-cpu.h"
#include "kontend/series.h"
#include "kontend/wait-on.h"
#include "kontend/wait.h"
#include "wait-lost.h"
#include "wait-phases.h"

/* The part of the wait that lies in the open bucket. */
static uint64_t in_bucket(const struct model *m, const struct wait *w, uint64_t until_ns)
{
	return wait_part_ns(w, m->bucket_ns, until_ns);
}

static struct cell *find_cell(struct model *m, const struct wait *w)
{
	const struct cell_key key = wait_key(w);
	struct cell *c = cell_get(m->cells, key);

	if (c)
		return c;
	fold_cells(m);
	return cell_get(m->cells, key);
}

static inline struct cell *cell_of(struct model *m, const struct wait *w)
{
	if (w->cell < m->cells->n) {
		struct cell *c = &m->cells->cells[w->cell];
		const struct cell_key key = wait_key(w);
		if (cell_is(c, &key))
			return c;
	}
	return find_cell(m, w);
}

static inline void add_bucket(struct model *m, struct cell *c, const struct wait *w, uint64_t ns)
{
	struct model_cpu *cpu = &m->cpus[w->cpu];
	struct lock *l = &m->locks->locks[w->lock];

	cell_wait(m->cells, c, ns);
	l->cur_wait_ns += ns;
	m->types[l->type].cur_wait_ns += ns;
	cpu->cur_wait_ns += ns;
	if (locktype_is_spin(l->type) && !w->nested)
		cpu->cur_spin_ns += ns;
}

/* The time that a mutex's wait that ends has spun, since the sums began and in the open bucket. */
static void add_spun(struct model *m, struct cell *c, struct wait *w, uint64_t ns)
{
	if (m->locks->locks[w->lock].type != LOCK_MUTEX)
		return;
	c->unsplit |= !w->is_split;
	if (cell_spin(m->cells, c, wait_spun_ns(w, m->zero_ns, ns)))
		c->unsplit = 1;
	cell_recent_spin(m->cells, c, wait_phases_take(m, w, ns));
}

/* The time for which a CPU was idle meanwhile, @part_ns of it in the open bucket. */
static void add_lost(struct model *m, struct cell *c, const struct wait *w, uint64_t part_ns)
{
	c->unlost |= !w->is_lost;
	if (cell_lose(m->cells, c, w->lost_ns))
		c->unlost = 1;
	cell_recent_lose(m->cells, c, part_ns);
}

/* The time that other threads of the process ran meanwhile. */
static void add_par(struct model *m, struct cell *c, const struct wait *w, uint64_t wait_ns)
{
	uint64_t ns = w->is_par ? w->par_ns : 0, of_ns = w->is_par ? wait_ns : 0;

	if (cell_par(m->cells, c, ns, of_ns) == 0)
		cell_recent_par(m->cells, c, ns, of_ns);
	blame_par(m, w, ns, of_ns);
}

/* Adds a wait that ends to the time waited since the sums began. */
static inline void add_within(struct model *m, const struct wait *w, uint64_t ns)
{
	enum lock_type type = (enum lock_type)m->locks->locks[w->lock].type;

	m->types[type].waited_ns += ns;
	if (locktype_is_spin(type) && !w->nested)
		m->cpus[w->cpu].spin_ns += ns;
}

void account_end(struct model *m, struct wait *w, const struct event *ev)
{
	uint64_t ns = ev->time > w->begin_ns ? ev->time - w->begin_ns : 0, lost_ns;

	if (ns < m->min_wait_ns && !w->doubtful) {
		m->n_short++;
		return;
	}
	w->is_lost = wait_lost_end(m, w, ev, &lost_ns);
	w->is_par = wait_par_end(m, w, ev, &w->par_ns);
	if (!w->doubtful && !ev->end.ret)
		longest_recent_note(m->past, w, ev->time);
	struct cell *c = cell_of(m, w);
	uint64_t within_ns = wait_part_ns(w, m->zero_ns, ev->time);
	uint64_t part_ns = in_bucket(m, w, ev->time);
	struct model_type *type = &m->types[m->locks->locks[w->lock].type];
	struct model_cpu *cpu = &m->cpus[w->cpu];

	if (!c) {
		m->damage->folded++;
		return;
	}
	if (w->doubtful) {
		m->damage->doubtful++;
		cell_doubt(m->cells, c);
		return;
	}
	/* Only a snapshot of locks has its begin, without the place: it is in the sums of no CPU.
	 */
	if (w->no_cpu)
		return;
	if (w->at_least) {
		m->n_at_least++;
		cell_doubt(m->cells, c);
	}
	bool failed = ev->end.ret;
	if (failed ? cell_fail(m->cells, c, within_ns)
		   : cell_add(m->cells, c, ns, within_ns, ev->time)) {
		m->damage->folded++;
		return;
	}
	add_bucket(m, c, w, part_ns);
	cell_recent_part(m->cells, c, failed ? part_ns : part_ns - ns);
	add_spun(m, c, w, ev->time);
	add_lost(m, c, w, lost_ns);
	add_par(m, c, w, ns);
	add_within(m, w, within_ns);
	wait_ons_add(m->ons, w->lock, w->stack, &w->on, ns);
	if (failed) {
		m->n_failed++;
		return;
	}
	cpu->contended++;
	cpu->total_ns += ns;
	cpu->cur_n++;
	type->contended++;
	type->total_ns += ns;
	type->cur_n++;
	m->cur_n++;
}

void account_late(struct model *m, const struct wait *w)
{
	uint64_t from = w->begin_ns > m->zero_ns ? w->begin_ns : m->zero_ns;
	struct cell *c = from < m->bucket_ns && !w->doubtful ? cell_of(m, w) : NULL;

	if (!c)
		return;
	add_bucket(m, c, w, m->bucket_ns - from);
	cell_recent_part(m->cells, c, m->bucket_ns - from);
}

void account_doubt(struct model *m, const struct wait *w)
{
	struct cell *c = cell_of(m, w);

	if (c)
		cell_doubt(m->cells, c);
}

static uint64_t close_types(struct model *m)
{
	uint64_t wait = 0;

	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		struct model_type *t = &m->types[i];
		wait += t->cur_wait_ns;
		t->rate_n = t->cur_n;
		t->rate_wait_ns = t->cur_wait_ns;
		series_push(&t->wait_series, m->n_ticks, t->cur_wait_ns);
		t->cur_n = 0;
		t->cur_wait_ns = 0;
	}
	return wait;
}

static void close_cpus(struct model *m)
{
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		struct model_cpu *c = &m->cpus[i];
		c->rate_n = c->cur_n;
		c->rate_wait_ns = c->cur_wait_ns;
		c->rate_spin_ns = c->cur_spin_ns;
		series_push(&c->n_series, m->n_ticks, c->cur_n);
		series_push(&c->wait_series, m->n_ticks, c->cur_wait_ns);
		c->cur_n = c->cur_wait_ns = c->cur_spin_ns = 0;
	}
}

void account_tick(struct model *m, uint64_t time_ns)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		struct wait *w = &m->waits->waits[i];
		uint64_t spun_ns = w->used ? wait_phases_take(m, w, time_ns) : 0;
		uint64_t lost_ns = w->used ? wait_lost_take(m, w, time_ns) : 0;
		if (!w->used || w->doubtful || w->no_cpu ||
		    wait_part_ns(w, 0, time_ns) < m->min_wait_ns)
			continue;
		struct cell *c = cell_of(m, w);
		if (!c)
			continue;
		uint64_t part_ns = in_bucket(m, w, time_ns);
		add_bucket(m, c, w, part_ns);
		cell_recent_part(m->cells, c, part_ns);
		cell_recent_spin(m->cells, c, spun_ns);
		cell_recent_lose(m->cells, c, lost_ns);
	}
	cell_tick(m->cells, m->bucket_ns, time_ns);
	if (m->held->max) {
		cell_tick(m->held, m->bucket_ns, time_ns);
		cell_tick(m->handed, m->bucket_ns, time_ns);
		holds_prune(m);
	}
	if (m->blame->max)
		blame_tick(m, time_ns);
	lockqueue_tick(m, time_ns);
	uint64_t wait = close_types(m);
	close_cpus(m);
	for (size_t i = 0; i < m->locks->n; i++) {
		struct lock *l = &m->locks->locks[i];
		if (!l->cur_wait_ns)
			continue;
		series_push(&l->wait_series, m->n_ticks, l->cur_wait_ns);
		l->cur_wait_ns = 0;
	}
	series_push(m->n_series, m->n_ticks, m->cur_n);
	series_push(m->wait_series, m->n_ticks, wait);
	series_push(m->waiting_series, m->n_ticks, m->waits->in_flight);
	m->rate_n = m->cur_n;
	m->cur_n = 0;
}
