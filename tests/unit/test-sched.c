// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a holder that could run does not: the task that has its CPU, cpu.max, what it has inherited;
 * and which of that is a priority inversion, over chains of locks, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/locktype.h"
#include "kontend/query-lock.h"
#include "lock-snaps.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888011111100ull
#define FURTHER 0xffff888011111140ull

enum { NORMAL = 0, FIFO = 1, RR = 2, DEADLINE = 6, LOW = 9, MIDDLE = 7, HIGH = 12, BETWEEN = 11 };

/* The kernel's priority of a real-time one. */
static int32_t prio_of(uint32_t policy, uint32_t rt_priority)
{
	return policy == DEADLINE ? -1 : policy == NORMAL ? 120 : 99 - (int32_t)rt_priority;
}

static struct locksnap_run run(int32_t tid, uint32_t policy, uint32_t rt_priority,
			       enum locksnap_state state)
{
	int32_t prio = prio_of(policy, rt_priority);

	return (struct locksnap_run){.tid = tid,
				     .policy = policy,
				     .rt_priority = rt_priority,
				     .prio = prio,
				     .normal_prio = prio,
				     .state = state,
				     .cpu = 1,
				     .cpus = 2};
}

static void keep_off(struct locksnap *s, struct locksnap_run *r, uint32_t policy,
		     uint32_t rt_priority)
{
	r->off_pid = r->off_tid = MIDDLE;
	r->off_comm = locksnap_add_text(s, "rt");
	r->off_policy = policy;
	r->off_rt_priority = rt_priority;
	r->off_prio = prio_of(policy, rt_priority);
}

static void put_queue(struct locksnap *s, uint64_t lock, int32_t holder, const char *comm,
		      int32_t waiter, const char *waits, enum locksnap_state state)
{
	struct locksnap_queue q = {.addr = lock,
				   .type = LOCKSNAP_MUTEX,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = holder,
				   .holder_tid = holder,
				   .holder_comm = locksnap_add_text(s, comm),
				   .holder_state = (uint32_t)state,
				   .holder_cpu = 1,
				   .writers_waiting = 1};

	lock_snap_waiter(s, 1, waiter, waiter, waits, false);
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

/* The tasks wait since 40 ms before the snapshot. */
static void play(struct asked *w, struct locksnap *s, bool chain)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_comm(w->rig.synth, 0, CANNED_START, HIGH, HIGH, "audio");
	synth_begin(w->rig.synth, 0, CANNED_START + 60 * MS, HIGH, HIGH, LOCK, LCB_F_MUTEX, NULL,
		    0);
	if (chain)
		synth_begin(w->rig.synth, 0, CANNED_START + 50 * MS, BETWEEN, BETWEEN, FURTHER,
			    LCB_F_MUTEX, NULL, 0);
	lock_snap_emit(w->rig.synth, s, CANNED_START + 99 * MS);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	asked_play(w, NULL);
}

/* One lock: @low holds it, @high waits. */
static void play_one(struct asked *w, struct locksnap *s, struct locksnap_run low,
		     struct locksnap_run high)
{
	put_queue(s, LOCK, LOW, "logger", HIGH, "audio", (enum locksnap_state)low.state);
	assert_int_equal(locksnap_add_run(s, &low), 0);
	assert_int_equal(locksnap_add_run(s, &high), 0);
	play(w, s, false);
}

static const char *inversion(struct asked *w)
{
	struct table t = asked_waiters(w, (struct query_spec){0});

	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_u(&t, i, "tid") == HIGH)
			return cell_s(&t, i, "inversion");
	fail();
	return NULL;
}

static const char *holder_is(struct asked *w)
{
	struct query_lock_now now;

	query_lock_now(&w->q, LOCK, LOCK_MUTEX, &now);
	return now.is;
}

#define WORDS                                                                                      \
	"priority inversion: FIFO 80 audio/12 waits for NORMAL logger/9, kept off by FIFO 50 "     \
	"rt/7; "                                                                                   \
	"not inherited"

static void it_is_named(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);
	struct query_lock_now now;

	keep_off(&s, &low, FIFO, 50);
	play_one(w, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(inversion(w), WORDS);
	assert_string_equal(holder_is(w), "runnable on 1, kept off by rt/7 (FIFO 50)");
	query_lock_now(&w->q, LOCK, LOCK_MUTEX, &now);
	assert_string_equal(now.inversion, WORDS);
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&t, 0, "policy"), "FIFO 80");
	assert_string_equal(cell_s(&t, 0, "owner_policy"), "NORMAL");
	assert_string_equal(cell_s(&t, 0, "kept_off_comm"), "rt");
	assert_string_equal(cell_s(&t, 0, "kept_off_policy"), "FIFO 50");
	assert_int_equal(cell_u(&t, 0, "kept_off_tid"), MIDDLE);
}

/* It is none where the task that runs matters more than that which waits, or as much. */
static void a_more_important_task_makes_none(void **state)
{
	static const uint32_t priorities[] = {80, 99};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct locksnap s = {0};
		struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);
		void *p;
		assert_int_equal(asked_setup_empty(&p), 0);
		keep_off(&s, &low, FIFO, priorities[i]);
		play_one(p, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
		assert_string_equal(inversion(p), "-");
		assert_int_equal(asked_teardown(&p), 0);
	}
}

static void a_normal_task_makes_none(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);

	keep_off(&s, &low, FIFO, 50);
	play_one(w, &s, low, run(HIGH, NORMAL, 0, LOCKSNAP_ASLEEP));
	assert_string_equal(inversion(w), "-");
}

/* A holder that waits for its turn among its equals is kept off by no less important task. */
static void equals_make_none(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, RR, 50, LOCKSNAP_RUNNABLE);

	keep_off(&s, &low, RR, 50);
	play_one(w, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(inversion(w), "-");
	assert_string_equal(holder_is(w), "runnable on 1, kept off by rt/7 (RR 50)");
}

static void one_that_has_inherited_is_none(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);

	low.prio = prio_of(FIFO, 80);
	keep_off(&s, &low, FIFO, 90);
	play_one(w, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(inversion(w), "-");
	assert_string_equal(holder_is(w), "runnable on 1, kept off by rt/7 (FIFO 90), boosted to "
					  "priority 80 (inherited)");
}

static void a_limit_is_named(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);

	low.is_throttled = 1;
	low.limit = locksnap_add_text(&s, "/app");
	low.throttled_ns = 80 * MS;
	low.quota_ns = 10 * MS;
	low.period_ns = 100 * MS;
	play_one(w, &s, low, run(HIGH, DEADLINE, 0, LOCKSNAP_ASLEEP));
	assert_string_equal(inversion(w), "-");
	assert_string_equal(
		holder_is(w),
		"runnable on 1, throttled by cpu.max of /app (10 of 100ms) for >=80.0ms");
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&t, 0, "policy"), "DEADLINE");
	assert_string_equal(cell_s(&t, 0, "owner_throttled"),
			    "throttled by cpu.max of /app (10 of 100ms) for >=80.0ms");
}

/* Without BPF, by the files of its cgroup. */
static void a_limit_may_be_known_of_the_time_before(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, FIFO, 3, LOCKSNAP_RUNNING);

	low.is_throttled = 1;
	low.throttled_ns = 810 * MS;
	low.throttled_of_ns = 1000 * MS;
	s.head.no_runs = locksnap_add_text(&s, "no BPF");
	play_one(w, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(holder_is(w),
			    "running on 1, throttled by cpu.max for 810ms of the last 1.00s");
}

static void who_keeps_it_off_may_not_be_known(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	s.head.no_runs = locksnap_add_text(&s, "no BPF");
	play_one(w, &s, run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE),
		 run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(holder_is(w), "runnable on 1, not known why: no BPF");
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&t, 0, "owner_policy"), "NORMAL");
	assert_string_equal(cell_s(&t, 0, "inversion"), "-");
	assert_false(cell_at(&t, 0, "owner_cpu_steal_pct")->known);
}

static void a_host_takes_cpus(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	put_queue(&s, LOCK, LOW, "logger", HIGH, "audio", LOCKSNAP_RUNNING);
	s.queues[0].steal_ns = 120 * MS;
	s.queues[0].steal_of_ns = 1000 * MS;
	play(w, &s, false);
	assert_string_equal(holder_is(w),
			    "running on 1, the host took 12.0% of that CPU in the last 1.00s");
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_true(cell_at(&t, 0, "owner_cpu_steal_pct")->d == 12);
}

static void a_task_of_one_cpu_has_no_other(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE);

	low.cpus = 1;
	low.nice = 5;
	keep_off(&s, &low, NORMAL, 0);
	play_one(w, &s, low, run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP));
	assert_string_equal(holder_is(w), "runnable on 1 only, kept off by rt/7 (NORMAL)");
	struct table t = asked_waiters(w, (struct query_spec){0});
	assert_string_equal(cell_s(&t, 0, "owner_policy"), "NORMAL nice 5");
}

static void the_reason_is_named_where_it_is_not_known(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	put_queue(&s, LOCK, LOW, "logger", HIGH, "audio", LOCKSNAP_RUNNABLE);
	s.head.no_runs = locksnap_add_text(&s, "refused");
	play(w, &s, false);
	assert_string_equal(holder_is(w), "runnable on 1, not known why: refused");
	assert_string_equal(inversion(w), "-");
}

/* The holder sleeps for another lock, and the holder of that one is kept off. */
static void it_leads_over_a_chain(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run low = run(LOW, NORMAL, 0, LOCKSNAP_RUNNABLE),
			    between = run(BETWEEN, NORMAL, 0, LOCKSNAP_ASLEEP),
			    high = run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP);

	keep_off(&s, &low, FIFO, 50);
	put_queue(&s, LOCK, BETWEEN, "mixer", HIGH, "audio", LOCKSNAP_ASLEEP);
	put_queue(&s, FURTHER, LOW, "logger", BETWEEN, "mixer", LOCKSNAP_RUNNABLE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(locksnap_add_run(&s, i == 0   ? &low
						      : i == 1 ? &between
							       : &high),
				 0);
	play(w, &s, true);
	assert_string_equal(inversion(w), WORDS);
}

/* Two that hold what the other one waits for have no end. */
static void a_circle_has_none(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct locksnap_run high = run(HIGH, FIFO, 80, LOCKSNAP_ASLEEP),
			    between = run(BETWEEN, NORMAL, 0, LOCKSNAP_ASLEEP);

	put_queue(&s, LOCK, BETWEEN, "mixer", HIGH, "audio", LOCKSNAP_ASLEEP);
	put_queue(&s, FURTHER, HIGH, "audio", BETWEEN, "mixer", LOCKSNAP_ASLEEP);
	assert_int_equal(locksnap_add_run(&s, &high), 0);
	assert_int_equal(locksnap_add_run(&s, &between), 0);
	play(w, &s, true);
	assert_string_equal(inversion(w), "-");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_is_named),
		cmocka_unit_test(a_more_important_task_makes_none),
		TEST(a_normal_task_makes_none),
		TEST(equals_make_none),
		TEST(one_that_has_inherited_is_none),
		TEST(a_limit_is_named),
		TEST(a_limit_may_be_known_of_the_time_before),
		TEST(who_keeps_it_off_may_not_be_known),
		TEST(a_host_takes_cpus),
		TEST(a_task_of_one_cpu_has_no_other),
		TEST(the_reason_is_named_where_it_is_not_known),
		TEST(it_leads_over_a_chain),
		TEST(a_circle_has_none),
	};
#undef TEST
	return cmocka_run_group_tests(tests, NULL, NULL);
}
