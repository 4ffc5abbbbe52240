// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the locks beside events: which waits the looks prove, since when, and which they prove
 * to be over. A look is taken some time after its tick, as it is live.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-lock.h"
#include "kontend/query-overview.h"
#include "kontend/shortsnap.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "lock-snaps.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888011111100ull
#define OTHER 0xffff888022222200ull
#define AT(ms) (CANNED_START + (uint64_t)(ms)*MS)

/* The tasks in the queue of a rwsem, first in line first. */
struct seen {
	int tid;
	bool reader;
	uint64_t ran_ns;
};

enum { DELAY_MS = 5, COST_MS = 2, PID = 700 };

static void look_to_type(struct locksnap *s, uint64_t lock, uint32_t type, const struct seen *v,
			 uint32_t n)
{
	struct locksnap_queue q = {.addr = lock,
				   .type = type,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = PID,
				   .holder_tid = 701,
				   .holder_comm = locksnap_add_text(s, "dd")};

	for (uint32_t i = 0; i < n; i++) {
		lock_snap_waiter(s, i + 1, PID, v[i].tid, "dd", v[i].reader);
		s->waiters[s->n_waiters - 1].ran_ns = v[i].ran_ns;
		s->waiters[s->n_waiters - 1].cpu = 1;
		*(v[i].reader ? &q.readers_waiting : &q.writers_waiting) += 1;
	}
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

static void look_to(struct locksnap *s, uint64_t lock, const struct seen *v, uint32_t n)
{
	look_to_type(s, lock, LOCKSNAP_RWSEM, v, n);
}

static void emit(struct asked *w, struct locksnap *s, uint64_t tick_ms)
{
	lock_snap_emit_late(w->rig.synth, s, AT(tick_ms), AT(tick_ms + DELAY_MS), COST_MS * MS);
}

static void add_snapshot(struct asked *w, uint64_t tick_ms, const struct seen *v, uint32_t n)
{
	struct locksnap s = {0};

	if (n)
		look_to(&s, LOCK, v, n);
	else
		locksnap_add_empty(&s, LOCK);
	emit(w, &s, tick_ms);
}

static void begin(struct asked *w, uint64_t ms, int tid)
{
	synth_begin(w->rig.synth, 0, AT(ms), PID, tid, LOCK, LCB_F_WRITE, NULL, 0);
}

static void end(struct asked *w, uint64_t ms, int tid)
{
	synth_end(w->rig.synth, 0, AT(ms), PID, tid, LOCK, 0);
}

/* The rows once the next tick is there. */
static struct table rows(struct asked *w)
{
	rig_play_ticks(&w->rig, NULL, 1);
	if (!w->q.model)
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	query_begin(&w->q);
	return asked_waiters(w, (struct query_spec){0});
}

static struct query_overview overview(struct asked *w)
{
	struct query_overview o;

	assert_int_equal(query_overview(&w->q, &o), 0);
	return o;
}

static struct asked *fresh(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	return w;
}

/* Slept since long before measuring: exact for a reader, at least for the first writer in line. */
static void waits_from_before_have_their_begin(void **state)
{
	static const struct seen v[] = {{702, false, AT(0) - 400 * MS},
					{703, true, AT(0) - 300 * MS},
					{704, false, AT(0) - 200 * MS}};
	struct asked *w = fresh(state);

	add_snapshot(w, 0, v, 3);
	synth_tick(w->rig.synth, AT(1000));
	end(w, 1500, 702);
	add_snapshot(w, 2000, v + 1, 2);
	synth_tick(w->rig.synth, AT(2000));
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(cell_u(&t, i, "tid"), v[i].tid);
		assert_int_equal(cell_u(&t, i, "since_ns"), AT(1000) - v[i].ran_ns);
		assert_int_equal(cell_at(&t, i, "since_ns")->approx, i == 0);
		assert_int_equal(cell_u(&t, i, "early"), 1);
		assert_int_equal(cell_u(&t, i, "cpu"), 0);
	}
	struct query_overview o = overview(w);
	assert_int_equal(o.waiting, 3);
	assert_int_equal(o.waiting_early, 3);
	assert_true(o.any_longest && o.longest_approx);
	assert_int_equal(o.longest_ns, 1400 * MS);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 2); /* a mode each */
	assert_int_equal(column_sum(&t, "waiting"), 3);
	/* The part of this interval that lies after the snapshot. */
	assert_true(column_sum(&t, "wait_ns_per_s") > 2900 * MS);

	t = rows(w);
	assert_int_equal(t.n_rows, 2);
	o = overview(w);
	assert_int_equal(o.waiting, 2);
	/* One has ended: it has lasted as long at least, and both are of the same waits. */
	assert_int_equal(o.contended, 1);
	assert_true(o.total_ns > 0 && o.waited_ns >= o.total_ns - 1400 * MS);
	assert_int_equal(o.damage.unmatched_end, 0);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(column_sum(&t, "contended"), 1);
	assert_int_equal(column_sum(&t, "total_ns"), o.total_ns + o.inflight_ns);
	assert_int_equal(o.damage.unmatched_begin, 0);
	assert_true(o.wait_ns_per_s > 2490 * MS && o.wait_ns_per_s < 2510 * MS);
}

/* A look newer than the events: a row when its event has been applied, with the event's begin. */
/* With --pid a snapshot still has all tasks: those that are measured are marked. */
static void only_measured_tasks_wait_from_before(void **state)
{
	static const struct seen v[] = {{702, false, AT(0) - 400 * MS},
					{703, true, AT(0) - 300 * MS},
					{704, false, AT(0) - 200 * MS}};
	const struct record_host host = {.cpus = 1, .cpus_online = 1, .targets = "tid 702,704"};
	struct asked *w = fresh(state);
	struct locksnap s = {0};

	synth_record(w->rig.synth, RECORD_HOST, 0, &host, sizeof(host));
	look_to(&s, LOCK, v, 3);
	s.waiters[0].measured = s.waiters[2].measured = 1;
	emit(w, &s, 0);
	synth_tick(w->rig.synth, AT(1000));
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, 0, "tid"), 702);
	assert_int_equal(cell_u(&t, 0, "early"), 1);
	assert_int_equal(cell_u(&t, 1, "tid"), 704);
	assert_int_equal(overview(w).waiting, 2);
}

static void looks_wait_for_their_events(void **state)
{
	static const struct seen v[] = {{702, false, AT(1003)}};
	struct asked *w = fresh(state);

	add_snapshot(w, 0, NULL, 0);
	add_snapshot(w, 1000, v, 1);
	synth_tick(w->rig.synth, AT(1000));
	begin(w, 1003, 702);
	add_snapshot(w, 2000, v, 1);
	synth_tick(w->rig.synth, AT(2000));
	synth_tick(w->rig.synth, AT(3000));
	assert_int_equal(rows(w).n_rows, 0);
	for (int i = 0; i < 2; i++) {
		struct table t = rows(w);
		assert_int_equal(t.n_rows, 1);
		assert_int_equal(cell_u(&t, 0, "since_ns"), (997 + 1000 * (uint64_t)i) * MS);
		assert_int_equal(cell_u(&t, 0, "early"), 0);
		assert_false(cell_at(&t, 0, "since_ns")->approx);
	}
}

/* A wait that was over when the events had come as far as the snapshot leaves nothing. */
static void waits_that_end_during_a_look_are_over(void **state)
{
	static const struct seen v[] = {{702, false, AT(0) - 400 * MS}, {703, false, AT(2006)}};
	static const struct seen again[] = {{703, false, AT(1006)}};
	struct asked *w = fresh(state);

	add_snapshot(w, 0, v, 1);
	end(w, 6, 702);
	synth_tick(w->rig.synth, AT(1000));
	add_snapshot(w, 1000, again, 1);
	begin(w, 1004, 703);
	end(w, 1006, 703);
	add_snapshot(w, 2000, v + 1, 1);
	begin(w, 2005, 703);
	end(w, 2006, 703);
	synth_tick(w->rig.synth, AT(2000));
	synth_tick(w->rig.synth, AT(3000));
	for (int i = 0; i < 3; i++)
		assert_int_equal(rows(w).n_rows, 0);
}

/* A begin that was lost: two looks in which it is the same sleep prove the wait. */
static void lost_begins_are_told_by_looks(void **state)
{
	static const struct seen v[] = {{703, true, AT(500)}};
	struct asked *w = fresh(state);

	add_snapshot(w, 0, NULL, 0);
	synth_lost(w->rig.synth, 0, AT(600), 3);
	add_snapshot(w, 1000, v, 1);
	synth_tick(w->rig.synth, AT(1000));
	add_snapshot(w, 2000, v, 1);
	synth_tick(w->rig.synth, AT(2000));
	synth_tick(w->rig.synth, AT(3000));
	assert_int_equal(rows(w).n_rows, 0);
	assert_int_equal(rows(w).n_rows, 0);
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "since_ns"), 2500 * MS);
	assert_int_equal(cell_u(&t, 0, "early"), 0);
	assert_false(cell_at(&t, 0, "since_ns")->approx);
}

/* A task that is woken in vain has not begun again, but where ends may have been lost. */
static void vain_awakenings_are_no_begins(void **state)
{
	const bool lost = *(const bool *)*state;
	struct asked one = {0}, *w = &one;
	const struct seen v[] = {
		{702, false, AT(0) - 400 * MS}, {702, false, AT(700)}, {702, false, AT(1500)}};
	void *p = w;

	fresh(&p);
	add_snapshot(w, 0, v, 1);
	synth_tick(w->rig.synth, AT(1000));
	add_snapshot(w, 1000, v + 1, 1);
	if (lost)
		synth_lost(w->rig.synth, 0, AT(1500), 3);
	add_snapshot(w, 2000, v + 2, 1);
	synth_tick(w->rig.synth, AT(2000));
	synth_tick(w->rig.synth, AT(3000));
	rows(w);
	rows(w);
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "since_ns"), 3400 * MS);
	assert_int_equal(cell_u(&t, 0, "doubtful"), lost);
	query_deinit(&w->q);
	rig_deinit(&w->rig);
}

static void awakenings_without_losses(void **state)
{
	bool lost = false;
	void *p = &lost;

	(void)state;
	vain_awakenings_are_no_begins(&p);
}

static void awakenings_with_losses(void **state)
{
	bool lost = true;
	void *p = &lost;

	(void)state;
	vain_awakenings_are_no_begins(&p);
}

/* After a loss: gone, in no queue, in a queue that was not read, in the queue, of another type. */
static void who_is_in_no_queue_does_not_wait(void **state)
{
	struct asked *w = fresh(state);
	struct locksnap s = {0};
	const struct seen still[] = {{704, false, AT(30)}};

	begin(w, 10, 702);
	begin(w, 20, 703);
	begin(w, 30, 704);
	synth_begin(w->rig.synth, 0, AT(40), PID, 705, OTHER, LCB_F_MUTEX, NULL, 0);
	synth_begin(w->rig.synth, 0, AT(50), PID, 706, OTHER + 64, LCB_F_PERCPU | LCB_F_READ, NULL,
		    0);
	synth_begin(w->rig.synth, 0, AT(60), PID, 707, OTHER + 128, LCB_F_MUTEX | LCB_F_SPIN, NULL,
		    0);
	synth_begin(w->rig.synth, 0, AT(70), PID, 708, OTHER + 192, LCB_F_MUTEX, NULL, 0);
	synth_lost(w->rig.synth, 0, AT(100), 50);
	synth_tick(w->rig.synth, AT(1000));
	look_to(&s, LOCK, still, 1);
	locksnap_add_gone(&s, 702);
	locksnap_add_gone(&s, 706);
	locksnap_add_empty(&s, OTHER + 128);
	locksnap_add_empty(&s, OTHER + 192);
	emit(w, &s, 1000);
	begin(w, 1003, 709); /* later than the look, and in no doubt */
	synth_tick(w->rig.synth, AT(2000));
	assert_int_equal(rows(w).n_rows, 7);
	assert_int_equal(overview(w).waiting_doubtful, 7);
	struct table t = rows(w);
	/* Those in doubt come last, the longest of them first. */
	const unsigned left[] = {709, 704, 705, 707};
	assert_int_equal(t.n_rows, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(cell_u(&t, i, "tid"), left[i]);
	struct query_overview o = overview(w);
	assert_int_equal(o.waiting, 4);
	assert_int_equal(o.waiting_doubtful, 3);
	assert_int_equal(o.longest_ns, 997 * MS);
	assert_int_equal(o.damage.unmatched_begin, 4);
}

/* Without losses, a task that has left the queue may be about to run: its end record will come. */
static void without_losses_events_count(void **state)
{
	struct asked *w = fresh(state);

	begin(w, 10, 702);
	add_snapshot(w, 1000, NULL, 0);
	synth_tick(w->rig.synth, AT(1000));
	synth_tick(w->rig.synth, AT(2000));
	assert_int_equal(rows(w).n_rows, 1);
	assert_int_equal(rows(w).n_rows, 1);
}

/* But a wait known from snapshots only is over when the next one does not have it. */
static void what_looks_told_looks_end(void **state)
{
	static const struct seen v[] = {{702, false, AT(0) - 400 * MS}};
	struct asked *w = fresh(state);

	add_snapshot(w, 0, v, 1);
	synth_tick(w->rig.synth, AT(1000));
	add_snapshot(w, 1000, NULL, 0);
	synth_tick(w->rig.synth, AT(2000));
	assert_int_equal(rows(w).n_rows, 1);
	assert_int_equal(rows(w).n_rows, 0);
	assert_int_equal(overview(w).damage.unmatched_begin, 0);
}

/* A wait has the holder of a snapshot that saw the wait; else the snapshot's age is reported. */
static void nobody_waits_for_itself(void **state)
{
	static const struct seen v[] = {{702, false, AT(100)}};
	struct asked *w = fresh(state);

	begin(w, 100, 702);
	add_snapshot(w, 500, v, 1); /* 701 holds it */
	begin(w, 600, 701);
	begin(w, 700, 703);
	synth_tick(w->rig.synth, AT(1000));
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "holder"), "dd/701 W");
	assert_false(cell_at(&t, 0, "owner_age_ns")->known);
	assert_int_equal(cell_u(&t, 1, "tid"), 701);
	assert_false(cell_at(&t, 1, "holder")->known);
	assert_false(cell_at(&t, 1, "owner_tid")->known);
	assert_string_equal(cell_s(&t, 2, "holder"), "dd/701 W 495ms ago");
	assert_int_equal(cell_u(&t, 2, "owner_age_ns"), 495 * MS);
}

/* A waiter got the lock between two snapshots of the same holder, so that one has it again. */
static void who_got_it_between_looks_ends_a_hold(void **state)
{
	static const struct seen v[] = {{702, false, AT(100)}}, later[] = {{703, false, AT(1950)}};
	struct asked *w = fresh(state);
	struct query_lock_now now;

	begin(w, 100, 702);
	add_snapshot(w, 1000, v, 1);
	synth_tick(w->rig.synth, AT(1000));
	add_snapshot(w, 1500, v, 1);
	synth_tick(w->rig.synth, AT(1500));
	end(w, 1900, 702);
	begin(w, 1950, 703);
	add_snapshot(w, 2000, later, 1);
	synth_tick(w->rig.synth, AT(2000));
	rows(w);
	query_lock_now(&w->q, LOCK, LOCK_RWSEM_W, &now);
	assert_string_equal(now.holder, "dd/701 W");
	assert_int_equal(now.held_ns, 0);
	rows(w);
	query_lock_now(&w->q, LOCK, LOCK_RWSEM_W, &now);
	assert_int_equal(now.held_ns, 500 * MS);
	rows(w);
	query_lock_now(&w->q, LOCK, LOCK_RWSEM_W, &now);
	assert_int_equal(now.held_ns, 105 * MS); /* the snapshot is 5 ms after its tick */
}

static void tell_level(struct asked *w, uint64_t ms, enum shortsnap_level level)
{
	const struct {
		struct record_snapshot head;
		struct shortsnap_head shorts;
	} s = {{.kind = SNAPSHOT_SHORT, .version = SHORTSNAP_VERSION, .time_ns = AT(ms)},
	       {.from_ns = AT(0), .level = level}};

	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &s, sizeof(s));
}

/* Without end records: a task seen twice that has run in between has not waited all the time. */
static void who_is_only_counted_waits_anew(void **state)
{
	static const struct seen v[] = {{702, true, AT(950)}, {703, true, AT(400)}},
				 later[] = {{702, true, AT(1950)}, {703, true, AT(400)}};
	static const enum shortsnap_level levels[] = {SHORTSNAP_COUNTS, SHORTSNAP_ALL};
	struct asked *w = fresh(state);

	for (int all = 0; all < 2; all++) {
		tell_level(w, 1, levels[all]);
		add_snapshot(w, 0, NULL, 0);
		synth_tick(w->rig.synth, AT(0));
		add_snapshot(w, 1000, v, 2);
		synth_tick(w->rig.synth, AT(1000));
		tell_level(w, 1001, levels[all]);
		add_snapshot(w, 2000, later, 2);
		synth_tick(w->rig.synth, AT(2000));
		synth_tick(w->rig.synth, AT(3000));
		for (int i = 0; i < 3; i++)
			rows(w);
		struct table t = rows(w);
		/* With all end records, a task woken in vain has waited since before that. */
		assert_int_equal(t.n_rows, 1 + all);
		assert_int_equal(cell_u(&t, 0, "tid"), 703);
		assert_int_equal(cell_u(&t, 0, "since_ns"), 2600 * MS);
		if (all)
			assert_int_equal(cell_u(&t, 1, "since_ns"), 2050 * MS);
		else {
			query_deinit(&w->q);
			w->q = (struct query){0};
			rig_deinit(&w->rig);
			rig_init(&w->rig, 1);
			synth_round(w->rig.synth, CANNED_START);
		}
	}
}

/*
 * On PREEMPT_RT a task that waits to read is in the queue of the rt-mutex within the lock: that is
 * the wait of its event, and its holder. If it waits there since before, no event has reported that
 * wait.
 */
static void the_rt_mutex_within_is_the_lock_of_readers(void **state)
{
	static const struct seen v[] = {{702, false, AT(500)}, {703, false, AT(0) - 300 * MS}};
	struct asked *w = fresh(state);
	struct locksnap s = {0};

	synth_begin(w->rig.synth, 0, AT(500), PID, 702, LOCK, LCB_F_RT | LCB_F_READ, NULL, 0);
	look_to_type(&s, LOCK + 8, LOCKSNAP_RT, v, 2);
	emit(w, &s, 1000);
	synth_tick(w->rig.synth, AT(2000));
	for (int i = 0; i < 2; i++) {
		struct table t = rows(w);
		if (!i)
			continue;
		assert_int_equal(t.n_rows, 2);
		assert_int_equal(cell_u(&t, 0, "tid"), 703);
		assert_string_equal(cell_s(&t, 0, "kind"), "rt-mutex");
		assert_int_equal(cell_u(&t, 0, "early"), 1);
		assert_int_equal(cell_u(&t, 1, "tid"), 702);
		assert_string_equal(cell_s(&t, 1, "kind"), "rwlock-rt:R");
		assert_int_equal(cell_u(&t, 1, "since_ns"), 1500 * MS);
	}
	const struct model *m = w->rig.engine.model;
	for (uint32_t i = 1; i < m->waits->high; i++)
		assert_int_equal(m->tasks->tasks[m->waits->waits[i].seen].tid, 701);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits_from_before_have_their_begin),
		TEST(only_measured_tasks_wait_from_before),
		TEST(looks_wait_for_their_events),
		TEST(waits_that_end_during_a_look_are_over),
		TEST(lost_begins_are_told_by_looks),
		cmocka_unit_test(awakenings_without_losses),
		cmocka_unit_test(awakenings_with_losses),
		TEST(who_is_in_no_queue_does_not_wait),
		TEST(without_losses_events_count),
		TEST(what_looks_told_looks_end),
		TEST(nobody_waits_for_itself),
		TEST(who_got_it_between_looks_ends_a_hold),
		TEST(who_is_only_counted_waits_anew),
		TEST(the_rt_mutex_within_is_the_lock_of_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
