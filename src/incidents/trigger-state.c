// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lasting conditions are evaluated every 10 ms of the events' clock, by the first event after them,
 * else by the next round. Waits in flight are walked once for each trigger, and only those that
 * could make it true are passed to the filter. Conditions that depend on snapshots are evaluated
 * when there is a new one.
 */
#include "kontend/damage.h"
#include "kontend/query-blocked.h"
#include "kontend/query-caught.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "trigger-int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The rate is a ring of steps and their sum; a step becomes 0 when time reaches it again. */
static void rate_advance(struct rate *r, uint64_t step)
{
	if (step <= r->at)
		return;
	if (step - r->at >= RATE_STEPS) {
		memset(r->steps, 0, sizeof(r->steps));
		r->sum = 0;
		r->at = step;
		return;
	}
	while (r->at < step) {
		uint64_t *next = &r->steps[++r->at % RATE_STEPS];
		r->sum -= *next;
		*next = 0;
	}
}

static void rate_add_step(struct rate *r, uint64_t step, uint64_t n)
{
	if (step + RATE_STEPS <= r->at || step > r->at)
		return;
	r->steps[step % RATE_STEPS] += n;
	r->sum += n;
}

void rate_add(struct rate *r, uint64_t ns, uint64_t n)
{
	rate_advance(r, ns / RATE_STEP_NS);
	rate_add_step(r, ns / RATE_STEP_NS, n);
}

void rate_add_span(struct rate *r, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t first, last = to_ns / RATE_STEP_NS;

	rate_advance(r, last);
	if (from_ns >= to_ns)
		return;
	first = r->at + 1 > RATE_STEPS ? r->at + 1 - RATE_STEPS : 0;
	if (from_ns < first * RATE_STEP_NS)
		from_ns = first * RATE_STEP_NS;
	for (uint64_t step = from_ns / RATE_STEP_NS; step < last; step++) {
		uint64_t end = (step + 1) * RATE_STEP_NS;
		rate_add_step(r, step, end - from_ns);
		from_ns = end;
	}
	if (to_ns > from_ns)
		rate_add_step(r, last, to_ns - from_ns);
}

uint64_t rate_sum(struct rate *r, uint64_t ns)
{
	rate_advance(r, ns / RATE_STEP_NS);
	return r->sum;
}

static uint64_t lasted(const struct triggers *t, const struct wait *w)
{
	return t->now_ns > w->begin_ns ? t->now_ns - w->begin_ns : 0;
}

/* The number of waits that @tr selects and that have lasted longer than @least_ns; @f gets the
 * longest. */
static uint64_t count_waits(struct triggers *t, struct trigger *tr, uint64_t least_ns,
			    struct found *f)
{
	const struct model *m = t->engine->model;
	const struct wait_pool *p = m->waits;
	bool asleep = tr->x.kind == TRIGGER_BLOCKED;
	uint64_t n = 0;

	for (uint32_t i = 1, left = p->in_flight; left && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (!w->used)
			continue;
		left--;
		uint64_t ns = lasted(t, w);
		if (w->doubtful || ns < least_ns || (asleep && w->flags & LCB_F_SPIN) ||
		    !filter_cache_has(&tr->meant, m, w))
			continue;
		n++;
		if (!f->worst || ns > f->worst_ns) {
			f->worst = w;
			f->worst_ns = ns;
		}
	}
	return n;
}

static void set_level(struct triggers *t, struct trigger *tr, bool yes, const struct found *f)
{
	if (yes)
		trigger_true(t, tr, f);
	else
		trigger_false(t, tr);
}

bool trigger_find_longest(struct triggers *t, struct trigger *tr, struct found *f)
{
	bool yes = count_waits(t, tr, tr->x.limit + 1, f);

	f->value = f->worst_ns;
	if (yes)
		f->begin_ns = f->worst->begin_ns;
	return yes;
}

static void check_longest(struct triggers *t, struct trigger *tr)
{
	struct found f = {0};

	set_level(t, tr, trigger_find_longest(t, tr, &f), &f);
}

static void check_waiting(struct triggers *t, struct trigger *tr)
{
	struct found f = {0};

	if (t->engine->model->waits->in_flight > tr->x.limit)
		f.value = count_waits(t, tr, 0, &f);
	tr->n_waiting = f.value;
	set_level(t, tr, f.value > tr->x.limit, &f);
}

/* Between two checks: the count shows whether a walk over all waits is necessary. */
void trigger_waits_changed(struct triggers *t, struct trigger *tr, const struct wait *w, bool ends)
{
	struct found f = {0};

	if (tr->x.kind != TRIGGER_WAITING || !tr->since_ns || !tr->x.for_ns ||
	    !filter_cache_has(&tr->meant, t->engine->model, w))
		return;
	if (!ends)
		tr->n_waiting++;
	else if (tr->n_waiting)
		tr->n_waiting--;
	if (!ends || tr->n_waiting > tr->x.limit)
		return;
	tr->n_waiting = count_waits(t, tr, 0, &f);
	if (tr->n_waiting <= tr->x.limit)
		trigger_false(t, tr);
}

/* Waits in flight contribute their time since the last check. */
static void add_waits(struct triggers *t, struct trigger *tr)
{
	const struct model *m = t->engine->model;
	const struct wait_pool *p = m->waits;

	for (uint32_t i = 1, left = p->in_flight; left && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (!w->used)
			continue;
		left--;
		if (!w->doubtful && filter_cache_has(&tr->meant, m, w))
			rate_add_span(tr->rate,
				      w->begin_ns > t->checked_ns ? w->begin_ns : t->checked_ns,
				      t->now_ns);
	}
}

static void check_rate(struct triggers *t, struct trigger *tr)
{
	struct found f = {0};

	if (tr->x.kind == TRIGGER_WAIT_S)
		add_waits(t, tr);
	f.value = rate_sum(tr->rate, t->now_ns);
	/* Names of the longest wait are looked up when the condition becomes true, not in each
	 * step. */
	if (f.value > tr->x.limit && (!tr->on || !tr->said))
		count_waits(t, tr, 0, &f);
	set_level(t, tr, f.value > tr->x.limit, &f);
}

static void check_lost(struct triggers *t, struct trigger *tr)
{
	const struct model_damage *d = t->engine->model->damage;
	uint64_t lost = d->lost + d->dropped;
	struct found f = {0};

	/* Sums restart when the model's losses are reset. */
	if (lost > t->levels.lost)
		rate_add(tr->rate, t->now_ns, lost - t->levels.lost);
	f.value = rate_sum(tr->rate, t->now_ns);
	set_level(t, tr, f.value > tr->x.limit, &f);
}

struct asked {
	struct triggers *t;
	struct trigger *tr;
};

static bool is_meant(void *ctx, const struct wait *w)
{
	struct asked *a = ctx;

	return filter_cache_has(&a->tr->meant, a->t->engine->model, w);
}

/* A proof needs a lock snapshot later than the waits, so a deadlock is not found at every
 * moment. */
static void check_circle(struct triggers *t, struct trigger *tr)
{
	struct query_caught_circle c;
	struct asked ask = {t, tr};
	char text[48];

	if (!t->levels.circle)
		return;
	query_begin(&t->q);
	if (query_caught_circle(&t->q, is_meant, &ask, &c) < 0)
		return;
	if (!c.longest) {
		trigger_false(t, tr);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu32 " tasks wait for each other", c.tasks);
	trigger_true(t, tr,
		     &(struct found){.value = c.tasks,
				     .begin_ns = c.longest->begin_ns,
				     .worst = c.longest,
				     .worst_ns = lasted(t, c.longest),
				     .text = text});
}

/* Full as of the latest snapshot: evaluated when there is a new one, and until it has lasted long
 * enough.
 */
static void check_full(struct triggers *t, struct trigger *tr, bool looked)
{
	struct found f = {0};

	if (!looked && (!tr->since_ns || tr->on))
		return;
	query_begin(&t->q);
	f.text = tr->x.kind == TRIGGER_SLOTS ? query_caught_slots(&t->q, &f.value)
					     : query_caught_xol(&t->q, &f.value);
	set_level(t, tr, f.text != NULL, &f);
}

/* "53 tasks, for jbd2 commit vda1 40, longest 4.1s": as of the latest snapshot of the tasks. */
static void check_dstate(struct triggers *t, struct trigger *tr, bool looked)
{
	struct query_blocked_worst worst;
	struct query_blocked_sum sum;
	struct found f = {0};
	char ns[UNITS_BUF];

	if (!looked && (!tr->since_ns || tr->on))
		return;
	query_begin(&t->q);
	if (query_blocked_sum(&t->q, &sum) < 0 || query_blocked_worst(&t->q, &worst) < 0 ||
	    !sum.known)
		return;
	f.value = sum.in_d;
	if (worst.tasks)
		f.text = arena_printf(&t->q.arena,
				      "%" PRIu32 " tasks, for %s %" PRIu32 ", longest %s", sum.in_d,
				      worst.cause, worst.tasks, units_ns(ns, worst.longest_ns));
	set_level(t, tr, f.value > tr->x.limit, &f);
}

static uint64_t perf_looks(const struct model *m)
{
	return m->n_snapshots[SNAPSHOT_PERF] + m->n_snapshots[SNAPSHOT_SLOTS];
}

static void check_one(struct triggers *t, struct trigger *tr)
{
	const struct model *m = t->engine->model;

	switch (tr->x.kind) {
	case TRIGGER_WAIT:
		check_longest(t, tr);
		break;
	case TRIGGER_BLOCKED:
	case TRIGGER_HUNG:
		trigger_check_tasks(t, tr, m->n_snapshots[SNAPSHOT_LOCKS] != t->levels.locks);
		break;
	case TRIGGER_WAITING:
		check_waiting(t, tr);
		break;
	case TRIGGER_WAIT_S:
	case TRIGGER_WAITS_S:
		check_rate(t, tr);
		break;
	case TRIGGER_DEADLOCK:
		check_circle(t, tr);
		break;
	case TRIGGER_SLOTS:
		check_full(t, tr, perf_looks(m) != t->levels.perf);
		break;
	case TRIGGER_XOL:
		check_full(t, tr, m->n_snapshots[SNAPSHOT_UPROBES] != t->levels.uprobes);
		break;
	case TRIGGER_DSTATE:
		check_dstate(t, tr, m->n_snapshots[SNAPSHOT_LOCKS] != t->levels.locks);
		break;
	case TRIGGER_ROTATION: /* no duration: it was true when it ended */
		trigger_false(t, tr);
		break;
	case TRIGGER_LOST:
		check_lost(t, tr);
		break;
	default:
		break;
	}
}

/* Circles of thousands of waits take a millisecond to find: search less often then. */
static void note_circles(struct triggers *t)
{
	const struct model *m = t->engine->model;
	bool many = m->waits->in_flight > 1000;

	t->levels.circle = t->now_ns >= t->levels.circle_next_ns;
	if (t->levels.circle)
		t->levels.circle_next_ns = t->now_ns + (many ? 100 : 10) * CHECK_NS;
}

void triggers_check_levels(struct triggers *t)
{
	const struct model *m = t->engine->model;

	note_circles(t);
	for (size_t i = 0; i < t->n; i++)
		check_one(t, &t->all[i]);
	t->levels.lost = m->damage->lost + m->damage->dropped;
	t->levels.perf = perf_looks(m);
	t->levels.uprobes = m->n_snapshots[SNAPSHOT_UPROBES];
	t->levels.locks = m->n_snapshots[SNAPSHOT_LOCKS];
	t->checked_ns = t->now_ns;
	t->next_ns = (t->now_ns / CHECK_NS + 1) * CHECK_NS;
}
