// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random waits, of which some began before measuring, with snapshots at random moments after the
 * ticks and losses at random places, against the truth: a row without doubt is of a wait that is
 * not over, and never reports more than its length. Without losses every wait is a row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "lock-snaps.h"

#include <stdlib.h>
#include <string.h>

#define US 1000ull
#define MS CANNED_MS
#define LOCK 0xffff888011111100ull

enum { SEEDS = 200, TASKS = 6, LOCKS = 3, TICKS = 6, MOST = 400, TICK_MS = 100, PID = 700 };

struct truth {
	int task, lock;
	uint64_t begin, woken, end; /* woken in vain: 0, or when */
};

struct event_at {
	uint64_t t;
	const struct truth *wait;
	bool is_end;
};

struct world {
	struct asked w;
	uint32_t seed;
	bool lossy;
	struct truth waits[MOST];
	size_t n;
	struct event_at events[2 * MOST];
	size_t n_events;
};

static uint64_t rnd(struct world *o, uint64_t below)
{
	o->seed = o->seed * 1664525u + 1013904223u;
	return (o->seed >> 8) % below;
}

static uint64_t tick_at(unsigned i)
{
	return CANNED_START + i * TICK_MS * MS;
}

/* Most are short, some go on for several looks. */
static void live_task(struct world *o, int task)
{
	uint64_t t = CANNED_START - rnd(o, 500) * MS, end = tick_at(TICKS + 1);

	while (t < end && o->n < MOST) {
		struct truth *w = &o->waits[o->n++];
		uint64_t ns = 5 * US + rnd(o, rnd(o, 4) ? 3000 : 300000) * US;
		*w = (struct truth){task, (int)rnd(o, o->lossy ? 1 : LOCKS), t, 0, t + ns};
		if (rnd(o, 4) == 0)
			w->woken = t + rnd(o, ns);
		t += ns + 2 * US + rnd(o, rnd(o, 2) ? 20 : 40000) * US;
	}
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct event_at *)a)->t, y = ((const struct event_at *)b)->t;

	return (x > y) - (x < y);
}

static void put_event(struct world *o, const struct event_at *e)
{
	const struct truth *w = e->wait;
	struct synth *s = o->w.rig.synth;
	uint32_t cpu = 0;

	if (e->is_end)
		synth_end(s, cpu, e->t, PID, PID + w->task, LOCK + 64 * (uint64_t)w->lock, 0);
	else
		synth_begin(s, cpu, e->t, PID, PID + w->task, LOCK + 64 * (uint64_t)w->lock,
			    LCB_F_WRITE, NULL, 0);
}

/* The events of an interval; in some of them a part is lost. */
static void put_events(struct world *o, uint64_t from, uint64_t to)
{
	uint64_t lost_from = UINT64_MAX, lost_to = UINT64_MAX, n = 0;

	if (o->lossy && rnd(o, 2)) {
		lost_from = from + rnd(o, TICK_MS / 2) * MS;
		lost_to = lost_from + rnd(o, TICK_MS / 2) * MS;
	}
	for (size_t i = 0; i < o->n_events; i++) {
		const struct event_at *e = &o->events[i];
		if (e->t <= from || e->t > to)
			continue;
		if (e->t >= lost_from && e->t < lost_to) {
			n++;
			continue;
		}
		if (n && e->t >= lost_to)
			synth_lost(o->w.rig.synth, 0, lost_to, n);
		n = e->t >= lost_to ? 0 : n;
		put_event(o, e);
	}
	if (n)
		synth_lost(o->w.rig.synth, 0, lost_to, n);
}

static const struct truth *waits_at(const struct world *o, int task, uint64_t t)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->waits[i].task == task && o->waits[i].begin <= t && t < o->waits[i].end)
			return &o->waits[i];
	return NULL;
}

/* Each queue is read at a moment of its own. */
static void put_look(struct world *o, uint64_t tick)
{
	struct locksnap s = {0};
	uint64_t taken = tick + rnd(o, 15000) * US, cost = rnd(o, 4000) * US;

	for (int lock = 0; lock < LOCKS; lock++) {
		struct locksnap_queue q = {.addr = LOCK + 64 * (uint64_t)lock,
					   .type = LOCKSNAP_RWSEM};
		uint64_t at = taken + rnd(o, cost + 1);
		for (int task = 0; task < TASKS; task++) {
			const struct truth *w = waits_at(o, task, at);
			if (!w || w->lock != lock)
				continue;
			lock_snap_waiter(&s, ++q.writers_waiting, PID, PID + task, "t", false);
			struct locksnap_waiter *v = &s.waiters[s.n_waiters - 1];
			v->cpu = 1;
			if (rnd(o, 5))
				v->ran_ns = (w->woken && w->woken <= at ? w->woken : w->begin) +
					    rnd(o, 20) * US;
		}
		if (q.writers_waiting)
			assert_int_equal(locksnap_add_queue(&s, &q), 0);
		else
			locksnap_add_empty(&s, q.addr);
	}
	lock_snap_emit_late(o->w.rig.synth, &s, tick, taken, cost);
}

static void make_world(struct world *o)
{
	rig_init(&o->w.rig, 1);
	for (int i = 0; i < TASKS; i++)
		live_task(o, i);
	for (size_t i = 0; i < o->n; i++) {
		const struct truth *w = &o->waits[i];
		if (w->begin > CANNED_START)
			o->events[o->n_events++] = (struct event_at){w->begin, w, false};
		if (w->end > CANNED_START)
			o->events[o->n_events++] = (struct event_at){w->end, w, true};
	}
	qsort(o->events, o->n_events, sizeof(*o->events), by_time);
	synth_round(o->w.rig.synth, CANNED_START);
	put_look(o, CANNED_START);
	for (unsigned i = 0; i < TICKS; i++) {
		put_events(o, tick_at(i), tick_at(i + 1));
		put_look(o, tick_at(i + 1));
		synth_tick(o->w.rig.synth, tick_at(i + 1));
	}
}

static void check_row(const struct world *o, const struct table *t, size_t i, uint64_t now)
{
	const struct truth *w = waits_at(o, (int)cell_u(t, i, "tid") - PID, now);
	uint64_t since = cell_u(t, i, "since_ns");

	if (cell_u(t, i, "doubtful"))
		return;
	if (!w || LOCK + 64 * (uint64_t)w->lock != cell_u(t, i, "lock"))
		fail_msg("%d does not wait, but is reported to wait for %llu ns at %llu",
			 (int)cell_u(t, i, "tid"), (unsigned long long)since,
			 (unsigned long long)now);
	if (since > now - w->begin)
		fail_msg("%d waits for %llu ns, not %llu", (int)cell_u(t, i, "tid"),
			 (unsigned long long)(now - w->begin), (unsigned long long)since);
	if (w->begin > CANNED_START && !o->lossy)
		assert_int_equal(since, now - w->begin);
}

/* Without losses: tasks that wait by events, or since before two snapshots. */
static void check_all_there(const struct world *o, const struct table *t, unsigned tick)
{
	for (int task = 0; task < TASKS; task++) {
		const struct truth *w = waits_at(o, task, tick_at(tick));
		bool found = false;
		if (!w || (w->begin <= CANNED_START && tick < 2))
			continue;
		for (size_t i = 0; i < t->n_rows; i++)
			found |= cell_u(t, i, "tid") == (uint64_t)(PID + task);
		if (!found)
			fail_msg("%d has no row at tick %u", PID + task, tick);
	}
}

static unsigned n_early, n_rows;

static void check_world(uint32_t seed, bool lossy)
{
	struct world *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->seed = seed;
	o->lossy = lossy;
	make_world(o);
	for (unsigned i = 1; i <= TICKS; i++) {
		rig_play_ticks(&o->w.rig, NULL, 1);
		if (i == 1)
			assert_int_equal(query_init(&o->w.q, &o->w.rig.engine), 0);
		query_begin(&o->w.q);
		struct table t = asked_waiters(&o->w, (struct query_spec){0});
		for (size_t k = 0; k < t.n_rows; k++) {
			check_row(o, &t, k, tick_at(i));
			n_early += cell_u(&t, k, "early") != 0;
		}
		n_rows += (unsigned)t.n_rows;
		if (!lossy)
			check_all_there(o, &t, i);
	}
	query_deinit(&o->w.q);
	rig_deinit(&o->w.rig);
	free(o);
}

static void rows_agree_with_the_truth(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		check_world(seed * 7919, false);
	assert_true(n_rows > SEEDS && n_early > SEEDS / 4);
}

static void so_do_those_in_no_doubt_after_losses(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		check_world(seed * 104729, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_agree_with_the_truth),
		cmocka_unit_test(so_do_those_in_no_doubt_after_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
