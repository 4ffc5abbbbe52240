// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps for locks of programs that have a record each: from the record to tables and lines of
 * script; with snapshots that show the same sleep in flight; short ones, which come in sums; and
 * the tasks to blame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/lockhold.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/locktype.h"
#include "kontend/maps.h"
#include "kontend/model.h"
#include "kontend/profile.h"
#include "kontend/query-elsewhere.h"
#include "kontend/script.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/userlock.h"
#include "kontend/usersnap.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"
#include "synth-profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define CODE 0x400000ull
#define AT(ms) (CANNED_START + (ms)*MS)

static uint64_t lock_of(unsigned i)
{
	return userlock_addr(userlock_space(700, 100, 0x7000), 0x5000 + 64 * i);
}

/* The thread @tid sleeps from @begin on for a mutex that 702 has, which 703 releases. */
static struct userrec sleep_of(int tid, uint64_t begin_ms, uint64_t length_ms)
{
	return (struct userrec){.magic = USERREC_MAGIC,
				.lock = lock_of(0),
				.begin_ns = AT(begin_ms),
				.length_ns = length_ms * MS,
				.woken_ns = AT(begin_ms + length_ms),
				.addr = 0x5000,
				.pid = 700,
				.tid = tid,
				.owner_pid = 700,
				.owner_tid = 702,
				.waker_pid = 700,
				.waker_tid = 703,
				.kind = USERLOCK_MUTEX,
				.flags = USERREC_HANDED,
				.comm = "app"};
}

static void report_sleep(struct asked *w, struct userrec r)
{
	synth_user(w->rig.synth, 0, r.begin_ns + r.length_ns, &r);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void second(struct asked *w, uint64_t n)
{
	synth_round(w->rig.synth, CANNED_START + n * 1000 * MS);
	synth_tick(w->rig.synth, CANNED_START + n * 1000 * MS);
}

static void a_sleep_is_a_wait(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	report_sleep(w, sleep_of(701, 100, 30));
	report_sleep(w, sleep_of(704, 90, 50));
	second(w, 1);
	asked_play(w, NULL);
	t = asked_locks(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "type"), "mutex(u)");
	assert_string_equal(cell_s(&t, 0, "name"), "0x5000 app/700");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 80 * MS);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 50 * MS);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
	assert_int_equal(model_damage(w->rig.engine.model).no_stack, 0);
}

static void map_program(struct asked *w)
{
	synth_profile(w->rig.synth);
	synth_mmap(w->rig.synth, 0, CANNED_START, 700, CODE, 0x10000, 0, "/nowhere/app");
}

/* @ip: of the call that waits; 0: not known. */
static void see_in_flight_at(struct asked *w, uint64_t ip)
{
	struct locksnap_user_frame call = {.ip = ip};
	struct locksnap s = {0};

	start(w);
	map_program(w);
	const struct locksnap_queue q = {.addr = lock_of(0),
					 .type = LOCKSNAP_USER_MUTEX,
					 .certainty = LOCKSNAP_EVIDENCE,
					 .holder_pid = 700,
					 .holder_tid = 702,
					 .holder_comm = locksnap_add_text(&s, "app"),
					 .holder_cpu = -1,
					 .writers_waiting = 1};
	lock_snap_waiter(&s, 1, 700, 701, "app", false);
	s.waiters[0].ran_ns = AT(100);
	s.waiters[0].cpu = 1;
	s.waiters[0].user_n_frames = ip != 0;
	call.object = locksnap_add_text(&s, "/nowhere/app");
	assert_int_equal(locksnap_add_user_frame(&s, &call), 0);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	s.head.users = LOCKSNAP_USERS_ALL;
	lock_snap_emit(w->rig.synth, &s, AT(500));
	synth_tick(w->rig.synth, AT(500));
	synth_round(w->rig.synth, AT(600));
	rig_play_ticks(&w->rig, NULL, 1);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 1);
}

static void see_in_flight(struct asked *w)
{
	see_in_flight_at(w, 0);
}

/* The chain of the only cell. */
static const struct stack *chain_of(struct asked *w, const uint64_t **ret)
{
	const struct model *m = w->rig.engine.model;
	uint32_t stack = m->cells->cells[m->cells->n - 1].stack;

	*ret = stack_frames(m->stacks, stack);
	return &m->stacks->stacks[stack];
}

/* Of one too short for its stack to be read. */
static void a_look_has_the_calls_of_a_sleep(void **state)
{
	struct asked *w = *state;
	const uint64_t *frames;

	see_in_flight_at(w, CODE + 0x1234);
	report_sleep(w, sleep_of(701, 100, 800));
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(chain_of(w, &frames)->n, 1);
	assert_int_equal(map_frame_offset(frames[0]), 0x1234);
}

/* The thread sleeps for one lock only: the event says in less detail which. */
static void a_sleep_in_flight_is_for_one_lock(void **state)
{
	struct asked *w = *state;
	struct table t;

	see_in_flight(w);
	struct userrec r = sleep_of(701, 100, 800);
	r.kind = USERLOCK_RUNTIME;
	r.lock = lock_of(1);
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
	t = asked_locks(w, (struct query_spec){0});
	uint64_t contended = 0;
	for (size_t i = 0; i < t.n_rows; i++)
		contended += cell_u(&t, i, "contended");
	assert_int_equal(contended, 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 800 * MS);
}

/* The thread runs: the sleep that the look has shown is over, though no event has reported it. */
static void a_sleep_without_an_event_ends(void **state)
{
	struct asked *w = *state;

	see_in_flight(w);
	struct userrec r = sleep_of(701, 700, 200);
	r.lock = lock_of(1);
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
}

/* The library limits each sleep, and the thread sleeps again: all of it is waiting for the lock. */
static void sleeps_that_end_in_time_are_waits(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	for (uint64_t i = 0; i < 3; i++) {
		struct userrec r = sleep_of(701, 100 + 6 * i, 5);
		r.flags = USERREC_RETRIES;
		r.kind = USERLOCK_RUNTIME;
		report_sleep(w, r);
	}
	second(w, 1);
	asked_play(w, NULL);
	t = asked_locks(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 15 * MS);
	assert_int_equal(w->rig.engine.model->n_failed, 0);
}

/* A snapshot has it in flight: the record ends that wait, and is no second one. */
static void a_sleep_in_flight_is_the_same_wait(void **state)
{
	struct asked *w = *state;
	struct table t;

	see_in_flight(w);
	report_sleep(w, sleep_of(701, 100, 800));
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 0);
	t = asked_locks(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 800 * MS);
}

/* Its name comes by the event: since when snapshots see other holders does not begin again. */
static void holders_of_snapshots_stay(void **state)
{
	struct asked *w = *state;

	start(w);
	for (uint64_t i = 1; i <= 2; i++) {
		struct locksnap s = {0};
		const struct locksnap_queue q = {.addr = 0xffff888000001000,
						 .type = LOCKSNAP_MUTEX,
						 .certainty = LOCKSNAP_SURE,
						 .holder_pid = 700,
						 .holder_tid = 702,
						 .holder_comm = locksnap_add_text(&s, "app"),
						 .holder_cpu = -1,
						 .writers_waiting = 1};
		lock_snap_waiter(&s, 1, 700, 701, "app", false);
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
		lock_snap_emit(w->rig.synth, &s, AT(i * 300));
		report_sleep(w, sleep_of(704, i * 300 + 10, 30));
	}
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(
		lockhold_ns(&w->rig.engine.model->lock_names->holds, 0xffff888000001000, 702),
		300 * MS);
}

/* A signal ends it: time is lost all the same. */
static void not_all_sleeps_are_acquisitions(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	struct userrec r = sleep_of(701, 100, 30);
	r.flags = 0;
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, NULL);
	t = asked_locks(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 0);
	assert_int_equal(w->rig.engine.model->n_failed, 1);
}

static void add_sums(struct usersnap *s, uint64_t lock, enum userlock_kind kind, bool reads,
		     uint64_t n)
{
	const struct usersnap_row row = {
		.lock = lock, .n = n, .ns = n * 20000, .flags = userlock_flags(kind, reads)};

	assert_int_equal(usersnap_add_row(s, &row), 0);
}

static void short_ones_come_in_sums(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	for (uint64_t i = 1; i <= 2; i++) {
		struct usersnap s = {.head = {.time_ns = AT(i * 400),
					      .from_ns = CANNED_START,
					      .is_first = i == 1}};
		add_sums(&s, lock_of(0), USERLOCK_MUTEX, false, 10 * i);
		add_sums(&s, lock_of(1), USERLOCK_RWLOCK, true, 5);
		add_sums(&s, 0, USERLOCK_PI, false, 1);
		lock_snap_emit_users(w->rig.synth, &s);
	}
	report_sleep(w, sleep_of(701, 900, 1));
	second(w, 1);
	asked_play(w, NULL);
	t = asked_locks(w, (struct query_spec){.by = BY_TYPE, .sort = "contended"});
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "type"), "mutex(u)");
	assert_int_equal(cell_u(&t, 0, "contended"), 31);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 30 * 20000 + MS);
	assert_string_equal(cell_s(&t, 1, "type"), "rwlock(u)");
	assert_int_equal(cell_u(&t, 1, "contended"), 10);
	assert_string_equal(cell_s(&t, 2, "type"), "pi(u)");
	assert_int_equal(cell_u(&t, 2, "contended"), 2);
}

/* A part of a recording begins with sums of the time before it. */
static void the_first_of_a_part_is_no_sum(void **state)
{
	struct asked *w = *state;
	struct table t;

	start(w);
	for (uint64_t i = 1; i <= 2; i++) {
		struct usersnap s = {.head = {.time_ns = AT(i * 400), .from_ns = CANNED_START}};
		add_sums(&s, lock_of(0), USERLOCK_MUTEX, false, i == 1 ? 1000 : 3);
		lock_snap_emit_users(w->rig.synth, &s);
	}
	second(w, 1);
	asked_play(w, NULL);
	t = asked_locks(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
}

static struct usersnap counts(uint64_t i, uint64_t from_ns)
{
	return (struct usersnap){.head = {.time_ns = AT(i * 400),
					  .from_ns = from_ns,
					  .sleeps = 100 * i,
					  .unproven = 40 * i,
					  .unproven_ns = 40 * i * MS,
					  .unknown = i,
					  .foreign = 7 * i,
					  .off_ns = (i - 1) * 200 * MS}};
}

/* How complete the sleeps are: since the sums begin, of 32-bit programs, too. */
static void others_are_counted(void **state)
{
	struct asked *w = *state;
	struct query_elsewhere e;

	start(w);
	for (uint64_t i = 1; i <= 2; i++) {
		struct usersnap s = counts(i, CANNED_START);
		lock_snap_emit_users(w->rig.synth, &s);
	}
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_true(e.counts_futexes);
	assert_int_equal(e.slept_in_futex.foreign, 7);
	assert_string_equal(
		query_elsewhere_counts(&w->q, &e),
		"100; for what may be no lock: 40 of 40.0ms; of 32-bit programs, which "
		"are not read: 7; for a lock that is not known: 1; not measured, as that "
		"cost too much, for 200ms");
	model_zero(w->q.engine->model);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_string_equal(query_elsewhere_counts(&w->q, &e), "0");
}

static void other_counts_begin_again(void **state)
{
	struct asked *w = *state;
	struct query_elsewhere e;

	start(w);
	for (uint64_t i = 1; i <= 2; i++) {
		struct usersnap s = counts(3 - i, CANNED_START + i * MS);
		s.head.time_ns = AT(i * 400);
		lock_snap_emit_users(w->rig.synth, &s);
	}
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_int_equal(e.slept_in_futex.sleeps, 100);
	assert_int_equal(e.slept_in_futex.foreign, 7);
}

static void counts_may_not_be_known(void **state)
{
	struct usersnap s = {.head.time_ns = AT(400)};
	struct asked *w = *state;
	struct query_elsewhere e;

	start(w);
	s.head.reason = usersnap_add_text(&s, "BPF is switched off");
	lock_snap_emit_users(w->rig.synth, &s);
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_false(e.counts_futexes);
	assert_string_equal(query_elsewhere_counts(&w->q, &e), "not known: BPF is switched off");
	assert_string_equal(e.futex_reason, "BPF is switched off");
}

static uint64_t blamed(const struct model *m, int32_t tid)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		int32_t of = c->key.task == TASK_OTHER ? 0 : m->tasks->tasks[c->key.task].tid;
		ns += of == tid ? c->ns : 0;
	}
	return ns;
}

/* How long others have waited because of its holds. */
static uint64_t kept_waiting(const struct model *m, int32_t tid)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->held->n; i++) {
		const struct cell *c = &m->held->cells[i];
		if (m->tasks->tasks[c->task].tid == tid)
			ns += cell_sums(m->held, c).waited_ns;
	}
	return ns;
}

static uint64_t blamed_in(const struct model *m, int32_t tid, enum blame_state state)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		if (m->tasks->tasks[c->key.task].tid == tid && c->key.state == state)
			ns += c->ns;
	}
	return ns;
}

/* @tid waits since @ran_ms, as a snapshot sees it; 702 has the lock, in that state. */
static void look_in(struct asked *w, uint64_t at_ms, int tid, uint64_t ran_ms,
		    enum locksnap_state state)
{
	const uint64_t in = synth_addr(SYNTH_VFS_WRITE);
	struct locksnap s = {0};
	const struct locksnap_queue q = {.addr = lock_of(0),
					 .type = LOCKSNAP_USER_MUTEX,
					 .certainty = LOCKSNAP_EVIDENCE,
					 .holder_pid = 700,
					 .holder_tid = 702,
					 .holder_comm = locksnap_add_text(&s, "app"),
					 .holder_state = state,
					 .holder_n_frames = state == LOCKSNAP_ASLEEP,
					 .holder_cpu = -1,
					 .writers_waiting = 1};

	lock_snap_waiter(&s, 1, 700, tid, "app", false);
	s.waiters[0].ran_ns = AT(ran_ms);
	s.waiters[0].cpu = 1;
	assert_int_equal(locksnap_add_frame(&s, &in), 0);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	s.head.users = LOCKSNAP_USERS_ALL;
	lock_snap_emit(w->rig.synth, &s, AT(at_ms));
	synth_round(w->rig.synth, AT(at_ms + 10));
	synth_tick(w->rig.synth, AT(at_ms + 10));
}

static void look_at(struct asked *w, uint64_t at_ms, int tid, uint64_t ran_ms)
{
	look_in(w, at_ms, tid, ran_ms, LOCKSNAP_ASLEEP);
}

/* The owner that snapshots see sleeps: all of the wait in flight is because of that. */
static void an_owner_of_a_hang_is_to_blame(void **state)
{
	struct model_limits limits = model_limits_recent(64 << 20);
	struct asked *w = *state;

	start(w);
	look_at(w, 500, 701, 100);
	look_at(w, 990, 701, 100);
	second(w, 2);
	asked_play(w, &limits);
	const struct model *m = w->rig.engine.model;
	assert_in_range(blamed_in(m, 702, BLAME_ASLEEP), 1480 * MS, 1500 * MS);
	assert_int_equal(blamed(m, 0), 0);
}

/* The state that a snapshot has seen of the holder stands for the time until the next one. */
static void what_holders_do_is_a_sample(void **state)
{
	struct model_limits limits = model_limits_recent(64 << 20);
	struct asked *w = *state;
	struct userrec r;

	start(w);
	r = sleep_of(704, 100, 30);
	r.waker_tid = 702;
	report_sleep(w, r);
	look_at(w, 500, 701, 490);
	report_sleep(w, sleep_of(701, 490, 60));
	r = sleep_of(704, 560, 40);
	r.waker_tid = 705;
	report_sleep(w, r);
	r = sleep_of(704, 3600, 40);
	r.waker_tid = 705;
	report_sleep(w, r);
	second(w, 4);
	asked_play(w, &limits);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(blamed_in(m, 702, BLAME_NOT_FOLLOWED), 30 * MS);
	assert_int_equal(blamed_in(m, 702, BLAME_ASLEEP), 40 * MS);
	assert_int_equal(blamed_in(m, 705, BLAME_ASLEEP), 40 * MS);
	assert_int_equal(blamed_in(m, 705, BLAME_NOT_FOLLOWED), 40 * MS);
}

static void sample_at(struct asked *w, uint64_t ms, int tid, uint64_t ip)
{
	synth_sample(w->rig.synth, 0, AT(ms), 700, tid, 1, (struct synth_chain){.ip = ip});
}

static uint64_t blamed_at(const struct model *m, int32_t tid, uint64_t ip)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < m->blame->n; i++) {
		const struct blame_cell *c = &m->blame->cells[i];
		uint32_t why = c->key.why;
		if (m->tasks->tasks[c->key.task].tid != tid || c->key.state != BLAME_RUNNING)
			continue;
		uint64_t at = why ? stack_frames(m->stacks, why)[0] : 0;
		ns += at == ip ? c->ns : 0;
	}
	return ns;
}

/*
 * Of an owner that runs: from a sample on it runs there. Other threads' samples are of no owner.
 * The look charges it with 10 ms of the wait that it sees.
 */
static void samples_say_where_an_owner_runs(void **state)
{
	struct model_limits limits = model_limits_recent(64 << 20);
	struct asked *w = *state;
	struct userrec r;

	start(w);
	synth_profile(w->rig.synth);
	sample_at(w, 90, 702, 0x1000);
	r = sleep_of(704, 100, 30);
	r.waker_tid = 702;
	report_sleep(w, r);
	look_in(w, 500, 701, 490, LOCKSNAP_RUNNING);
	report_sleep(w, sleep_of(701, 490, 30));
	sample_at(w, 600, 702, 0x1000);
	sample_at(w, 610, 704, 0x3000);
	sample_at(w, 620, 702, 0x2000);
	r = sleep_of(704, 560, 90);
	r.waker_tid = 702;
	report_sleep(w, r);
	sample_at(w, 660, 702, 0x4000);
	second(w, 1);
	asked_play(w, &limits);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(blamed_in(m, 702, BLAME_NOT_FOLLOWED), 30 * MS);
	assert_int_equal(blamed_in(m, 702, BLAME_RUNNING), 10 * MS + 90 * MS);
	assert_int_equal(blamed_at(m, 702, 0), 10 * MS + 40 * MS);
	assert_int_equal(blamed_at(m, 702, 0x1000), 20 * MS);
	assert_int_equal(blamed_at(m, 702, 0x2000), 30 * MS);
	assert_int_equal(blamed_at(m, 702, 0x4000), 0);
}

/*
 * From 100 to 200 the lock goes from 702 to 703 at 130, to 704 at 160, and to the last waiter at
 * 190, who has a CPU 10 ms later.
 */
static void holders_are_charged_between_releases(void **state)
{
	struct model_limits limits = model_limits_recent(64 << 20);
	const struct model *m;
	struct asked *w = *state;
	struct userrec r;

	start(w);
	r = sleep_of(703, 120, 10);
	r.waker_tid = 702;
	report_sleep(w, r);
	r = sleep_of(704, 125, 35);
	r.waker_tid = 703;
	report_sleep(w, r);
	r = sleep_of(701, 100, 100);
	r.woken_ns = AT(190);
	r.waker_tid = 704;
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, &limits);
	m = w->rig.engine.model;
	assert_true(m->blame->max > 0);
	/* 703: 120 to 130; 704: 125 to 130; 701: 100 to 130. */
	assert_int_equal(blamed(m, 702), (10 + 5 + 30) * MS);
	assert_int_equal(blamed(m, 703), (30 + 30) * MS);
	assert_int_equal(blamed(m, 704), 30 * MS);
	assert_int_equal(blamed(m, 0), 10 * MS);
	/* Also where the hold was over before it was known that 701 waited. */
	assert_int_equal(kept_waiting(m, 703), (30 + 30) * MS);
	assert_int_equal(kept_waiting(m, 704), 30 * MS);
	assert_int_equal(m->holds->waited_ns, (10 + 35 + 100) * MS);
}

static char *lines(struct asked *w, bool json)
{
	struct script *s;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	start(w);
	report_sleep(w, sleep_of(701, 100, 300));
	struct userrec r = sleep_of(704, 500, 2);
	r.owner_pid = r.owner_tid = r.waker_pid = r.waker_tid = 0;
	r.flags = 0;
	r.kind = USERLOCK_SEM;
	report_sleep(w, r);
	synth_round(w->rig.synth, AT(1000));
	rig_play_ticks(&w->rig, NULL, 0);
	assert_int_equal(script_new(&s, &w->rig.engine, f, json), 0);
	w->rig.engine.watch = script_watch(s);
	rig_play(&w->rig, NULL);
	script_free(s);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void script_has_a_line_for_each(void **state)
{
	char *text = lines(*state, false);

	assert_non_null(strstr(text, "app/701"));
	assert_non_null(strstr(text, "futex     mutex(u)"));
	assert_non_null(strstr(text, "300ms  -            had by 702, woken by 703\n"));
	assert_non_null(strstr(text, "futex     sem(u)"));
	assert_non_null(strstr(text, "2.00ms  -            ended without a release\n"));
	free(text);
}

static void script_has_an_object_for_each(void **state)
{
	char *text = lines(*state, true);

	assert_non_null(strstr(text, "\"event\": \"futex\", \"pid\": 700, \"tid\": 701"));
	assert_non_null(strstr(text, "\"type\": \"mutex(u)\", \"address\": \"0x5000\""));
	assert_non_null(strstr(text, "\"owner_pid\": 700, \"owner_tid\": 702, "
				     "\"releaser_pid\": 700, \"releaser_tid\": 703"));
	assert_non_null(strstr(text, "\"type\": \"sem(u)\""));
	assert_non_null(strstr(text, "\"releaser_tid\": null"));
	free(text);
}

/* No snapshot has read its stack: the record has the calls, or the reason why not. */
static void a_sleep_in_flight_has_the_calls_of_its_record(void **state)
{
	struct asked *w = *state;
	struct userrec r = sleep_of(701, 100, 800);
	const uint64_t *frames;

	see_in_flight(w);
	r.user = WAITREC_USER_WHOLE;
	r.n_frames = 2;
	r.frames[0] = CODE + 0x10;
	r.frames[1] = CODE + 0x20;
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(chain_of(w, &frames)->n, 2);
	assert_int_equal(map_frame_offset(frames[0]), 0x10);
	assert_int_equal(map_frame_offset(frames[1]), 0x20);
}

static void a_chain_that_was_not_taken_is_a_reason(void **state)
{
	struct asked *w = *state;
	struct userrec r = sleep_of(701, 100, 8);
	const uint64_t *frames;

	start(w);
	r.user = WAITREC_USER_SAVED;
	report_sleep(w, r);
	second(w, 1);
	asked_play(w, NULL);
	assert_int_equal(chain_of(w, &frames)->n, 1);
	assert_true(map_frame_is_mark(frames[0]));
	assert_int_equal(map_frame_offset(frames[0]), MAP_MARK_SAVED);
	assert_int_equal(model_damage(w->rig.engine.model).no_stack, 0);
}

/* Bytes of a recording may be anything. */
static void bad_records_are_counted(void **state)
{
	struct asked *w = *state;
	struct userrec r;

	start(w);
	r = sleep_of(701, 10, 1);
	r.kind = USERLOCK_KINDS;
	report_sleep(w, r);
	r = sleep_of(0, 10, 1);
	report_sleep(w, r);
	r = sleep_of(701, 10, 1);
	r.flags = USERREC_FLAGS;
	report_sleep(w, r);
	r = sleep_of(701, 10, 1);
	r.lock = 0xffff888011111111;
	report_sleep(w, r);
	r = sleep_of(701, 10, 1);
	r.woken_ns = AT(9);
	report_sleep(w, r);
	r.woken_ns = AT(12);
	report_sleep(w, r);
	r = sleep_of(701, 10, 1);
	memset(r.comm, 'x', sizeof(r.comm));
	report_sleep(w, r);
	r = sleep_of(701, 10, 100);
	synth_user(w->rig.synth, 0, AT(20), &r);
	r = sleep_of(701, 10, 1);
	r.n_frames = 3;
	synth_output(w->rig.synth, 0, AT(22), 1, 1, &r.magic, offsetof(struct userrec, frames) - 4);
	synth_output(w->rig.synth, 0, AT(23), 1, 1, &r.magic, 40);
	/* Records that a CPU could not write are lost. */
	r = sleep_of(701, 30, 1);
	r.missed = 5;
	report_sleep(w, r);
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 10);
	assert_int_equal(model_damage(w->rig.engine.model).lost, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sleep_is_a_wait),
		TEST(a_sleep_in_flight_is_the_same_wait),
		TEST(a_look_has_the_calls_of_a_sleep),
		TEST(a_sleep_in_flight_is_for_one_lock),
		TEST(a_sleep_in_flight_has_the_calls_of_its_record),
		TEST(a_chain_that_was_not_taken_is_a_reason),
		TEST(a_sleep_without_an_event_ends),
		TEST(sleeps_that_end_in_time_are_waits),
		TEST(holders_of_snapshots_stay),
		TEST(not_all_sleeps_are_acquisitions),
		TEST(short_ones_come_in_sums),
		TEST(the_first_of_a_part_is_no_sum),
		TEST(holders_are_charged_between_releases),
		TEST(an_owner_of_a_hang_is_to_blame),
		TEST(what_holders_do_is_a_sample),
		TEST(samples_say_where_an_owner_runs),
		TEST(script_has_a_line_for_each),
		TEST(script_has_an_object_for_each),
		TEST(others_are_counted),
		TEST(other_counts_begin_again),
		TEST(counts_may_not_be_known),
		TEST(bad_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
