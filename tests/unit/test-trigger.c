// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: each kind fires exactly when what it is about happens, and once until it has been
 * false.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/holdrec.h"
#include "kontend/mem.h"
#include "kontend/userlock.h"
#include "lock-snaps.h"
#include "perf-snaps.h"
#include "triggered.h"
#include "uprobe-snaps.h"

static void rounds(struct play *p, uint64_t from, uint64_t to, uint64_t step)
{
	for (uint64_t t = from; t <= to; t += step)
		synth_round(p->rig.synth, START + t);
}

static void a_wait_that_ends_fires(void **state)
{
	struct play *p = *state;

	synth_comm(p->rig.synth, 0, START, 700, 700, "mysqld");
	triggered_begin(p, 0, 3 * MS, 0, LCB_F_WRITE);
	triggered_end(p, 0, 7 * MS, 0); /* 4 ms: too short */
	triggered_begin(p, 0, 8 * MS, 0, LCB_F_WRITE);
	triggered_end(p, 0, 13 * MS + 1, 0);
	synth_tick(p->rig.synth, START + 2000 * MS);
	const struct fired *f = triggered_one(p, "wait>5ms type:rwsem");
	assert_int_equal(f->n, 1);
	assert_int_equal(f->list[0].fired_ns, START + 13 * MS + 1);
	assert_int_equal(f->list[0].begin_ns, START + 8 * MS);
	assert_int_equal(f->list[0].end_ns, START + 13 * MS + 1);
	assert_int_equal(f->list[0].worst_ns, 5 * MS + 1);
	assert_int_equal(f->list[0].value, 5 * MS + 1);
	assert_int_equal(f->list[0].lock, LOCK(0));
	assert_int_equal(f->list[0].tid, 700);
	assert_string_equal(f->list[0].task, "mysqld");
	assert_string_equal(f->list[0].expr, "wait>5ms type:rwsem");
	assert_string_equal(f->list[0].fired, "wait 5.00ms");
	assert_int_equal(f->list[0].from_ns + f->list[0].to_ns + f->list[0].more, 0);
	assert_false(f->goes_on);
}

/* A record reports such a wait when it has ended. */
static void a_wait_for_a_lock_of_a_program_fires(void **state)
{
	struct play *p = *state;
	struct userrec r = {.magic = USERREC_MAGIC,
			    .lock = userlock_addr(1, 0x5000),
			    .begin_ns = START + 400 * MS,
			    .length_ns = 300 * MS,
			    .woken_ns = START + 700 * MS,
			    .addr = 0x5000,
			    .pid = 701,
			    .tid = 701,
			    .kind = USERLOCK_MUTEX,
			    .flags = USERREC_HANDED,
			    .comm = "app"};

	synth_outputs(p->rig.synth);
	synth_user(p->rig.synth, 0, START + 700 * MS, &r);
	synth_tick(p->rig.synth, START + 2000 * MS);
	const struct fired *f = triggered_one(p, "wait>200ms world:user");
	assert_int_equal(f->n, 1);
	assert_int_equal(f->list[0].worst_ns, 300 * MS);
	assert_int_equal(f->list[0].begin_ns, START + 400 * MS);
	assert_int_equal(f->list[0].tid, 701);
	assert_string_equal(f->list[0].task, "app");
	assert_false(f->goes_on);
}

/* It fires during the wait, by the clock of rounds alone, and does not fire again at its end. */
static void a_wait_that_goes_on_fires_once(void **state)
{
	struct play *p = *state;

	triggered_begin(p, 0, 3 * MS, 0, LCB_F_MUTEX);
	rounds(p, 20 * MS, 400 * MS, 20 * MS);
	triggered_end(p, 0, 403 * MS, 0);
	rounds(p, 420 * MS, 500 * MS, 20 * MS);
	p->cooldown_ns = 0;
	const struct fired *f = triggered_one(p, "wait>300ms");
	assert_int_equal(f->n, 1);
	assert_int_equal(f->list[0].fired_ns, START + 320 * MS);
	assert_int_equal(f->list[0].begin_ns, START + 3 * MS);
	/* It was not fetched when it ended. */
	assert_int_equal(f->list[0].end_ns, START + 403 * MS);
	assert_string_equal(f->list[0].fired, "wait 317ms");
	assert_int_equal(f->followed.end_ns, START + 403 * MS);
	assert_int_equal(f->followed.worst_ns, 400 * MS);
	assert_int_equal(f->followed.fired_ns, START + 320 * MS);
	assert_false(f->goes_on);
}

static void what_does_not_end_goes_on(void **state)
{
	struct play *p = *state;

	triggered_begin(p, 0, 3 * MS, 0, LCB_F_MUTEX);
	rounds(p, 20 * MS, 400 * MS, 20 * MS);
	const struct fired *f = triggered_one(p, "wait>300ms");
	assert_int_equal(f->n, 1);
	assert_true(f->goes_on);
	assert_int_equal(f->followed.worst_ns, 397 * MS);
	assert_int_equal(f->followed.end_ns, 0);
}

/* Others are over the limit before the first one ends: that is one time that it is true. */
static void what_overlaps_is_one(void **state)
{
	struct play *p = *state;

	triggered_begin(p, 0, 1 * MS, 0, LCB_F_MUTEX);
	triggered_begin(p, 1, 30 * MS, 0, LCB_F_MUTEX);
	rounds(p, 70 * MS, 70 * MS, 1);
	triggered_end(p, 0, 90 * MS, 0);
	triggered_begin(p, 2, 91 * MS, 0, LCB_F_MUTEX);
	rounds(p, 110 * MS, 110 * MS, 1);
	triggered_end(p, 1, 120 * MS, 0);
	triggered_end(p, 2, 130 * MS, 0); /* 39 ms */
	triggered_begin(p, 3, 140 * MS, 0, LCB_F_MUTEX);
	triggered_end(p, 3, 195 * MS, 0); /* again */
	rounds(p, 210 * MS, 210 * MS, 1);
	p->cooldown_ns = 0;
	const struct fired *f = triggered_one(p, "wait>50ms");
	assert_int_equal(f->n, 2);
	assert_int_equal(f->list[0].fired_ns, START + 70 * MS);
	assert_int_equal(f->list[1].fired_ns, START + 195 * MS);
}

/* A storm of long waits: one is reported in each cooldown, the others are counted. */
static void a_storm_is_bounded(void **state)
{
	struct play *p = *state;

	for (uint64_t i = 0; i < 300; i++) {
		triggered_begin(p, 0, i * 20 * MS, 0, LCB_F_MUTEX);
		triggered_end(p, 0, i * 20 * MS + 6 * MS + i, 0);
	}
	synth_tick(p->rig.synth, START + 6100 * MS);
	const struct fired *f = triggered_one(p, "wait>5ms");
	assert_int_equal(f->n, 6);
	assert_int_equal(f->count.fired, 6);
	assert_int_equal(f->count.again, 300 - 6);
	assert_int_equal(f->count.lost, 0);
	assert_int_equal(f->followed.more, 49); /* of the last second */
	assert_int_equal(f->followed.worst_ns, 6 * MS + 299);
}

/* It fires again before the caller that took it has asked how it ended. */
static void the_one_before_is_known(void **state)
{
	static const char *const expr = "wait>50ms";
	struct play *p = *state;
	struct engine *e = &p->rig.engine;
	struct error err = {0};
	struct incident in[2];
	struct triggers *t;
	int r;

	triggered_begin(p, 0, 0, 0, LCB_F_MUTEX);
	synth_tick(p->rig.synth, START + 100 * MS);
	triggered_end(p, 0, 170 * MS, 0);
	rounds(p, 200 * MS, 200 * MS, 1);
	triggered_begin(p, 0, 2000 * MS, 0, LCB_F_MUTEX);
	rounds(p, 2100 * MS, 2100 * MS, 1);
	assert_int_equal(engine_init(e, synth_source(p->rig.synth), NULL, &err), 0);
	p->rig.playing = true;
	assert_int_equal(triggers_new(&t, e, &expr, 1, &err), 0);
	while ((r = engine_pump(e, 0, &err)) != ENGINE_TICK)
		assert_true(r >= 0);
	assert_int_equal(triggers_next(t, &in[0], &err), 1);
	assert_true(triggers_follow(t, &in[0]));
	assert_int_equal(in[0].end_ns, 0);
	while ((r = engine_pump(e, 0, &err)) != ENGINE_END)
		assert_true(r >= 0);
	assert_false(triggers_follow(t, &in[0]));
	assert_int_equal(in[0].end_ns, START + 170 * MS);
	assert_int_equal(in[0].worst_ns, 170 * MS);
	assert_int_equal(triggers_next(t, &in[1], &err), 1);
	assert_true(triggers_follow(t, &in[1]));
	assert_int_equal(triggers_next(t, &in[1], &err), 0);
	triggers_free(t);
}

/* Without a caller: those beyond the queue are counted. */
static void the_queue_is_bounded(void **state)
{
	struct play *p = *state;

	for (uint64_t i = 0; i < 300; i++) {
		triggered_begin(p, 0, i * 20 * MS, 0, LCB_F_MUTEX);
		triggered_end(p, 0, i * 20 * MS + 6 * MS, 0);
	}
	synth_flush(p->rig.synth);
	p->cooldown_ns = 0;
	const struct fired *f = triggered_one(p, "wait>5ms");
	assert_int_equal(f->n, TRIGGERS_QUEUED);
	assert_int_equal(f->count.fired, TRIGGERS_QUEUED);
	assert_int_equal(f->count.lost, 300 - TRIGGERS_QUEUED);
}

static void terms_say_which_waits(void **state)
{
	static const char *const exprs[] = {
		"type:mutex wait>5ms",
		"wait>5ms type:rwsem mode=R",
		"wait>5ms (tid=701 | tid=702)",
		"wait>5ms !tid=700 !tid=701 !tid=702",
		"wait>5ms caller:pipe_read",
		"wait>5ms caller:vm_mmap",
		"wait>5ms lock=0xffff888000001100 comm:sq",
	};
	static const size_t wanted[] = {1, 1, 1, 0, 1, 0, 1};
	struct play *p = *state;
	size_t n[7] = {0};

	synth_comm(p->rig.synth, 1, START, 701, 701, "mysqld");
	triggered_begin(p, 0, 1 * MS, 0, LCB_F_MUTEX);
	triggered_begin(p, 1, 1 * MS, 1, LCB_F_READ);
	triggered_begin(p, 2, 1 * MS, 2, LCB_F_WRITE);
	for (int i = 0; i < 3; i++)
		triggered_end(p, i, (20 + (uint64_t)i) * MS, i);
	synth_tick(p->rig.synth, START + 2000 * MS);
	const struct fired *f = triggered(p, exprs, 7);
	for (size_t i = 0; i < f->n; i++)
		n[f->list[i].trigger]++;
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(n[i], wanted[i]);
}

/* waits of tasks 0 to n - 1 from @from to @to */
static void crowd(struct play *p, int n, uint64_t from, uint64_t to)
{
	for (int i = 0; i < n; i++)
		triggered_begin(p, i, from + (uint64_t)i, i % 2, i % 2 ? LCB_F_MUTEX : LCB_F_READ);
	rounds(p, from + 10 * MS, to - 10 * MS, 10 * MS);
	for (int i = 0; i < n; i++)
		triggered_end(p, i, to + (uint64_t)i, i % 2);
	rounds(p, to + 10 * MS, to + 30 * MS, 10 * MS);
}

static void a_crowd_fires(void **state)
{
	static const char *const exprs[] = {"waiting>20",
					    "waiting>30",
					    "waiting>14 type:mutex",
					    "waiting>15 type:mutex",
					    "waiting>20 for 300ms",
					    "waiting>20 for 600ms"};
	static const size_t wanted[] = {1, 0, 1, 0, 1, 0};
	struct play *p = *state;
	size_t n[6] = {0};

	crowd(p, 30, 100 * MS, 600 * MS);
	const struct fired *f = triggered(p, exprs, 6);
	for (size_t i = 0; i < f->n; i++) {
		n[f->list[i].trigger]++;
		if (f->list[i].trigger == 0) {
			assert_in_range(f->list[i].fired_ns, START + 100 * MS, START + 120 * MS);
			assert_string_equal(f->list[i].fired, "waiting 30");
			assert_in_range(f->list[i].lock, LOCK(0), LOCK(1));
		}
		if (f->list[i].trigger == 4)
			assert_in_range(f->list[i].fired_ns, START + 400 * MS, START + 420 * MS);
	}
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(n[i], wanted[i]);
}

/* True, false, true: twice. */
static void what_comes_back_fires_again(void **state)
{
	struct play *p = *state;

	crowd(p, 10, 100 * MS, 200 * MS);
	crowd(p, 10, 1500 * MS, 1600 * MS);
	crowd(p, 10, 1700 * MS, 1800 * MS); /* within the cooldown */
	const struct fired *f = triggered_one(p, "waiting>5");
	assert_int_equal(f->n, 2);
	assert_int_equal(f->count.again, 1);
	assert_int_equal(f->followed.more, 1);
}

static void rates_are_of_a_second(void **state)
{
	static const char *const exprs[] = {"wait/s>3s", "wait/s>3s for 1s",
					    "wait/s>6s", "wait/s>3s type:mutex",
					    "waits/s>9", "waits/s>10"};
	static const size_t wanted[] = {1, 1, 0, 0, 1, 0};
	struct play *p = *state;
	size_t n[6] = {0};

	crowd(p, 5, 100 * MS, 2600 * MS); /* 5 s/s, 2 of them of mutexes */
	for (uint64_t i = 0; i < 10; i++) {
		triggered_begin(p, 0, 4000 * MS + i * 90 * MS, 0, LCB_F_MUTEX);
		triggered_end(p, 0, 4001 * MS + i * 90 * MS, 0);
	}
	rounds(p, 4830 * MS, 4830 * MS, 1);
	const struct fired *f = triggered(p, exprs, 6);
	for (size_t i = 0; i < f->n; i++) {
		n[f->list[i].trigger]++;
		if (f->list[i].trigger == 0)
			assert_in_range(f->list[i].fired_ns, START + 700 * MS, START + 720 * MS);
		if (f->list[i].trigger == 1)
			assert_in_range(f->list[i].fired_ns, START + 1700 * MS, START + 1730 * MS);
		if (f->list[i].trigger == 4)
			assert_int_equal(f->list[i].fired_ns, START + 4830 * MS);
	}
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(n[i], wanted[i]);
}

/* State D is that of a task that sleeps for a lock, neither spins nor can be woken by signals. */
static void blocked_is_who_sleeps(void **state)
{
	static const char *const exprs[] = {"blocked>1s", "blocked>1s type:mutex",
					    "blocked>1s type:spinlock"};
	struct play *p = *state;
	size_t n[3] = {0};

	triggered_begin(p, 0, 1 * MS, 0, LCB_F_READ);
	triggered_begin(p, 1, 1 * MS, 1, LCB_F_SPIN);
	triggered_begin(p, 2, 1 * MS, 2, LCB_F_MUTEX | LCB_F_SPIN);
	rounds(p, 500 * MS, 3000 * MS, 100 * MS);
	const struct fired *f = triggered(p, exprs, 3);
	for (size_t i = 0; i < f->n; i++)
		n[f->list[i].trigger]++;
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1] + n[2], 0);
	assert_int_equal(f->list[0].fired_ns, START + 1100 * MS);
	assert_int_equal(f->list[0].tid, 700);
}

static void add_queue(struct locksnap *s, int lock, int waiter, int holder)
{
	struct locksnap_queue q = {.addr = LOCK(lock),
				   .type = LOCKSNAP_RWSEM,
				   .certainty = LOCKSNAP_SURE,
				   .writers_waiting = 1,
				   .holder_pid = 700 + holder,
				   .holder_tid = 700 + holder,
				   .holder_state = LOCKSNAP_ASLEEP};

	lock_snap_waiter(s, 1, 700 + waiter, 700 + waiter, "t", false);
	q.holder_comm = locksnap_add_text(s, "t");
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

static void a_circle_fires_when_it_is_proved(void **state)
{
	static const char *const exprs[] = {"deadlock", "deadlock type:mutex", "deadlock tid=701"};
	struct play *p = *state;
	struct locksnap s = {0};

	triggered_begin(p, 0, 10 * MS, 1, LCB_F_WRITE);
	triggered_begin(p, 1, 20 * MS, 0, LCB_F_WRITE);
	rounds(p, 100 * MS, 400 * MS, 100 * MS);
	add_queue(&s, 0, 1, 0);
	add_queue(&s, 1, 0, 1);
	lock_snap_emit(p->rig.synth, &s, START + 500 * MS);
	rounds(p, 500 * MS, 2000 * MS, 50 * MS);
	const struct fired *f = triggered(p, exprs, 3);
	assert_int_equal(f->n, 2);
	assert_in_range(f->list[0].fired_ns, START + 500 * MS, START + 600 * MS);
	assert_int_equal(f->list[0].begin_ns, START + 10 * MS);
	assert_string_equal(f->list[0].fired, "deadlock: 2 tasks wait for each other");
	assert_int_equal(f->list[0].holder_tid, 701);
	assert_int_equal(f->list[1].trigger, 2);
	assert_int_equal(f->list[1].tid, 701);
	assert_true(f->goes_on);
}

/* The owner of the lock is known by a snapshot that comes after the trigger fired. */
static void who_is_to_blame_is_told_later(void **state)
{
	struct play *p = *state;
	struct locksnap s = {0};

	triggered_begin(p, 0, 10 * MS, 1, LCB_F_WRITE);
	rounds(p, 100 * MS, 400 * MS, 100 * MS);
	add_queue(&s, 1, 0, 5);
	lock_snap_emit(p->rig.synth, &s, START + 500 * MS);
	rounds(p, 500 * MS, 700 * MS, 50 * MS);
	const struct fired *f = triggered_one(p, "wait>200ms");
	assert_int_equal(f->n, 1);
	assert_string_equal(f->followed.because, "t/705 W, asleep");
	assert_int_equal(f->followed.holder_tid, 705);
}

/* It has ended when it fires: the owner until then has been reported by an event. */
static void who_was_to_blame_is_told_by_events(void **state)
{
	struct play *p = *state;
	const struct holdrec seen = {.magic = HOLDREC_MAGIC,
				     .what = HOLDREC_SEEN,
				     .state = HOLDREC_RUNNING,
				     .lock = LOCK(1),
				     .pid = 705,
				     .tid = 705,
				     .comm = "dd"};

	p->blame = true;
	synth_outputs(p->rig.synth);
	triggered_begin(p, 0, 10 * MS, 1, LCB_F_WRITE);
	synth_holder(p->rig.synth, 0, START + 10 * MS + 1, &seen);
	triggered_end(p, 0, 31 * MS, 1);
	/* No holder was reported: that of the wait before is none. */
	triggered_begin(p, 1, 40 * MS, 1, LCB_F_WRITE);
	triggered_end(p, 1, 70 * MS, 1);
	rounds(p, 100 * MS, 100 * MS, 1);
	p->cooldown_ns = 0;
	const struct fired *f = triggered_one(p, "wait>5ms");
	assert_int_equal(f->n, 2);
	assert_int_equal(f->list[0].end_ns, START + 31 * MS);
	assert_int_equal(f->list[0].holder_tid, 705);
	assert_string_equal(f->list[0].because, "dd/705");
	assert_int_equal(f->list[1].holder_tid, 0);
	assert_string_equal(f->list[1].because, "");
}

static void losses_fire(void **state)
{
	static const char *const exprs[] = {"lost>0", "lost>10"};
	struct play *p = *state;

	rounds(p, 100 * MS, 100 * MS, 1);
	synth_lost(p->rig.synth, 0, START + 110 * MS, 6);
	rounds(p, 130 * MS, 130 * MS, 1);
	rounds(p, 2000 * MS, 2000 * MS, 1);
	synth_lost(p->rig.synth, 0, START + 2010 * MS, 6);
	synth_lost(p->rig.synth, 1, START + 2020 * MS, 6);
	rounds(p, 2100 * MS, 2100 * MS, 1);
	const struct fired *f = triggered(p, exprs, 2);
	assert_int_equal(f->n, 3);
	assert_string_equal(f->list[0].fired, "lost 6");
	assert_int_equal(f->list[0].trigger, 0);
	assert_int_equal(f->list[2].trigger, 1);
	assert_string_equal(f->list[2].fired, "lost 12");
}

/* CPU 0 has no slot left, and one process no out-of-line slot. */
static void full_slots_fire(void **state)
{
	static const char *const exprs[] = {"slots:full", "slots:full for 1500ms",
					    "slots:full for 10s", "xol:full"};
	struct play *p = *state;
	size_t n[4] = {0};

	perf_snap_emit(p->rig.synth, "empty", START + 50 * MS);
	uprobe_snap_emit(p->rig.synth, "none", START + 50 * MS);
	rounds(p, 100 * MS, 500 * MS, 50 * MS);
	perf_snap_emit(p->rig.synth, "x86", START + 1000 * MS);
	uprobe_snap_emit(p->rig.synth, "busy", START + 1000 * MS);
	rounds(p, 1000 * MS, 4000 * MS, 50 * MS);
	perf_snap_emit(p->rig.synth, "empty", START + 4100 * MS);
	rounds(p, 4200 * MS, 4300 * MS, 50 * MS);
	const struct fired *f = triggered(p, exprs, 4);
	for (size_t i = 0; i < f->n; i++) {
		const struct incident *in = &f->list[i];
		n[in->trigger]++;
		if (in->trigger == 0) {
			assert_in_range(in->fired_ns, START + 1000 * MS, START + 1100 * MS);
			assert_string_equal(in->fired, "slots: 4 of 4 breakpoint slots of CPU 0");
		}
		if (in->trigger == 1) {
			assert_in_range(in->fired_ns, START + 2500 * MS, START + 2600 * MS);
			assert_in_range(in->begin_ns, START + 1000 * MS, START + 1100 * MS);
			assert_string_equal(in->fired, "slots: 4 of 4 breakpoint slots of CPU 0");
		}
		if (in->trigger == 3)
			assert_non_null(strstr(in->fired, " XOL slots of "));
	}
	assert_int_equal(n[0] + n[1] + n[3], 3);
	assert_int_equal(n[2], 0);
}

static void emit_blocked(struct play *p, uint64_t at, int tasks)
{
	struct locksnap s = {0};

	s.head.knows_blocked = 1;
	for (int i = 0; i < tasks; i++) {
		const struct locksnap_blocked b = {
			.pid = 10 + i, .tid = 10 + i, .state = LOCKSNAP_BLOCKED_D};
		lock_snap_blocked(&s, b, "dd", LOCK_SNAP_UNKNOWN, START + at - 5 * MS);
	}
	lock_snap_emit(p->rig.synth, &s, START + at);
}

/* More than three tasks in state D, as each snapshot has it, and once until there are fewer. */
static void tasks_in_state_d_fire(void **state)
{
	static const char *const exprs[] = {"dstate>3", "dstate>3 for 1500ms", "dstate>4"};
	struct play *p = *state;
	size_t n[3] = {0};

	emit_blocked(p, 50 * MS, 3);
	rounds(p, 100 * MS, 500 * MS, 50 * MS);
	emit_blocked(p, 1000 * MS, 4);
	rounds(p, 1000 * MS, 2900 * MS, 50 * MS);
	emit_blocked(p, 3000 * MS, 0);
	rounds(p, 3000 * MS, 3500 * MS, 50 * MS);
	const struct fired *f = triggered(p, exprs, 3);
	for (size_t i = 0; i < f->n; i++) {
		n[f->list[i].trigger]++;
		assert_int_equal(f->list[i].value, 4);
		assert_string_equal(f->list[i].fired,
				    "dstate: 4 tasks, for unknown 4, longest 5.00ms");
		if (f->list[i].trigger == 0)
			assert_in_range(f->list[i].fired_ns, START + 1000 * MS, START + 1100 * MS);
		else
			assert_in_range(f->list[i].fired_ns, START + 2500 * MS, START + 2600 * MS);
	}
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 0);
}

static void expire(struct engine *e, struct triggers *t, uint64_t at, uint64_t ns)
{
	struct event ev = {.kind = EVENT_TIMER_ENTRY, .time = at, .cpu = 3, .tid = 1};
	struct error err = {0};
	struct incident in;

	ev.timer.timer = 0xffff888000001000;
	ev.timer.function = 0xffffffff81000000;
	assert_int_equal(model_apply(e->model, &ev), 0);
	assert_int_equal(e->watch->event(e->watch, &ev, &err), 0);
	ev.kind = EVENT_TIMER_EXIT;
	ev.time = at + ns;
	assert_int_equal(model_apply(e->model, &ev), 0);
	assert_int_equal(e->watch->event(e->watch, &ev, &err), 0);
	if (ns <= MS) {
		assert_int_equal(triggers_next(t, &in, &err), 0);
		return;
	}
	assert_int_equal(triggers_next(t, &in, &err), 1);
	assert_string_equal(in.fired, "rotation: 1.50ms on CPU 3");
	assert_int_equal(in.value, ns);
	assert_int_equal(in.begin_ns, at);
	assert_int_equal(in.end_ns, at + ns);
	assert_int_equal(in.worst_ns, 0);
}

/* Without symbols each timer that was let through is taken for one that rotates. */
static void a_long_rotation_fires(void **state)
{
	static const char *const expr = "rotation>1ms";
	struct play *p = *state;
	struct engine *e = &p->rig.engine;
	struct error err = {0};
	struct triggers *t;

	assert_int_equal(engine_init(e, synth_source(p->rig.synth), NULL, &err), 0);
	p->rig.playing = true;
	assert_int_equal(triggers_new(&t, e, &expr, 1, &err), 0);
	expire(e, t, START, 900000);
	expire(e, t, START + 100 * MS, 1500000);
	expire(e, t, START + 5000 * MS, 1500000);
	triggers_free(t);
}

/* A screen goes back, and plays the same again: nothing fires twice. */
static void what_was_judged_is_not_judged_anew(void **state)
{
	static const char *const expr = "wait>5ms";
	struct play *p = *state;
	struct engine *e = &p->rig.engine;
	struct error err = {0};
	struct event ev = {.kind = EVENT_CONTENTION_BEGIN, .pid = 7, .tid = 7};
	struct incident in;
	struct triggers *t;

	assert_int_equal(engine_init(e, synth_source(p->rig.synth), NULL, &err), 0);
	p->rig.playing = true;
	assert_int_equal(triggers_new(&t, e, &expr, 1, &err), 0);
	triggers_cooldown(t, 0);
	for (int i = 0; i < 2; i++) {
		ev.kind = EVENT_CONTENTION_BEGIN;
		ev.time = START;
		ev.begin.lock = LOCK(0);
		ev.begin.flags = LCB_F_WRITE;
		ev.begin.frames = NULL;
		ev.begin.n_frames = 0;
		assert_int_equal(model_apply(e->model, &ev), 0);
		assert_int_equal(e->watch->event(e->watch, &ev, &err), 0);
		ev.kind = EVENT_CONTENTION_END;
		ev.time = START + 6 * MS;
		ev.end.lock = LOCK(0);
		ev.end.ret = 0;
		assert_int_equal(model_apply(e->model, &ev), 0);
		assert_int_equal(e->watch->event(e->watch, &ev, &err), 0);
		e->watch->passed(e->watch, START + 20 * MS); /* it is true no more */
	}
	assert_int_equal(triggers_next(t, &in, &err), 1);
	assert_int_equal(triggers_next(t, &in, &err), 0);
	triggers_free(t);
}

/* Records that were lost while it waited may have been its end. */
static void what_is_doubtful_does_not_fire(void **state)
{
	struct play *p = *state;

	triggered_begin(p, 0, 10 * MS, 1, LCB_F_WRITE);
	synth_lost(p->rig.synth, 0, START + 20 * MS, 6);
	rounds(p, 100 * MS, 400 * MS, 100 * MS);
	triggered_end(p, 0, 500 * MS, 1);
	rounds(p, 600 * MS, 600 * MS, 1);
	assert_int_equal(triggered_one(p, "wait>200ms")->n, 0);
}

static void mistakes_are_told_with_their_place(void **state)
{
	static const struct {
		const char *expr, *says;
	} bad[] = {
		{"", "column 1: no condition; give one of wait>TIME"},
		{"type:rwsem", "column 1: no condition"},
		{"wait>5", NULL}, /* seconds */
		{"wait>abc", "column 1: give '>' and a duration such as 5ms or 1.5s: 'wait>abc'"},
		{"wait<5ms", "column 1: give '>' and a duration"},
		{"wait", "column 1: give '>' and a duration"},
		{"type:rwsem waiting>x", "column 12: give '>' and a number such as 20"},
		{"wait>5ms foo:bar", "column 10: filter term 'foo:bar': there is no column 'foo'"},
		{"wait>5ms rwsem", "column 10: filter term 'rwsem': say what it is of"},
		{"wait>5ms cpu>x", "column 10: filter term 'cpu>x': column 'cpu' wants a number"},
		{"wait>5ms type:a | type:b", "column 17: put alternatives of waits in parentheses"},
		{"wait>5ms or waiting>3", "column 10: put alternatives of waits"},
		{"wait>5ms waiting>20", "column 10: a trigger has one condition"},
		{"!deadlock", "column 1: '!' is for terms about waits"},
		{"deadlock>3", "column 1: this condition takes no value"},
		{"slots:some", "column 1: only 'full' is known"},
		{"slots:full type:rwsem", "column 12: this condition is about the whole machine"},
		{"wait>5ms for 3s", "column 1: 'for' is only for waiting"},
		{"waiting>20 for", "column 15: give a duration"},
		{"waiting>20 for x", "column 16: give a duration"},
		{"waiting>20 for 3s type:a", "column 19: put 'for' and its time last: 'type:a'"},
		{"waiting>20 (type:a", "column 12: filter: a ')' is missing"},
		{"waiting>20 name:\"ü\" x:y", "column 21: filter term 'x:y'"},
		{"waiting>20 type:a|type:b", "column 18: put alternatives"},
		{"waiting>20 name~a|b", NULL},
		{"waiting>20 name:\"for\" name:or", NULL},
		{"waiting>20 (type:a | !(mode:R cpu>1))", NULL},
		{"xol:full for 10s", NULL},
		{"dstate>50 for 10s", NULL},
		{"dstate>50 type:rwsem", "column 11: this condition is about the whole machine"},
		{"lost>0", NULL},
		{"rotation>1ms", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};
		int r = trigger_check(bad[i].expr, &err);
		if (!bad[i].says) {
			if (r)
				fail_msg("'%s': %s", bad[i].expr, err.text);
			continue;
		}
		assert_int_equal(r, -EINVAL);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s': %s", bad[i].expr, err.text);
	}
}

/* If any allocation fails, all memory is freed, and the error is reported. */
static void memory_may_run_out(void **state)
{
	static const char *const exprs[] = {"wait/s>1s type:mutex", "blocked>1s", "waits/s>3"};
	struct play *p = *state;
	struct error err = {0};
	struct triggers *t;
	int r = -ENOMEM;

	assert_int_equal(engine_init(&p->rig.engine, synth_source(p->rig.synth), NULL, &err), 0);
	p->rig.playing = true;
	long held = mem_live();
	for (long n = 0; r == -ENOMEM; n++) {
		err = (struct error){0};
		mem_fail_after(n);
		r = triggers_new(&t, &p->rig.engine, exprs, 3, &err);
		mem_fail_after(-1);
		if (r == 0)
			triggers_free(t);
		else
			assert_true(*err.text);
		assert_int_equal(mem_live(), held);
		assert_null(p->rig.engine.watch);
	}
	assert_int_equal(r, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, triggered_setup, triggered_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wait_that_ends_fires),
		TEST(a_wait_for_a_lock_of_a_program_fires),
		TEST(a_wait_that_goes_on_fires_once),
		TEST(what_does_not_end_goes_on),
		TEST(what_overlaps_is_one),
		TEST(a_storm_is_bounded),
		TEST(the_one_before_is_known),
		TEST(the_queue_is_bounded),
		TEST(terms_say_which_waits),
		TEST(a_crowd_fires),
		TEST(what_comes_back_fires_again),
		TEST(rates_are_of_a_second),
		TEST(blocked_is_who_sleeps),
		TEST(a_circle_fires_when_it_is_proved),
		TEST(who_is_to_blame_is_told_later),
		TEST(who_was_to_blame_is_told_by_events),
		TEST(losses_fire),
		TEST(full_slots_fire),
		TEST(tasks_in_state_d_fire),
		TEST(a_long_rotation_fires),
		TEST(what_was_judged_is_not_judged_anew),
		TEST(what_is_doubtful_does_not_fire),
		TEST(memory_may_run_out),
		cmocka_unit_test(mistakes_are_told_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
