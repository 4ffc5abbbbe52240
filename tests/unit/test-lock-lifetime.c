// SPDX-License-Identifier: GPL-2.0-only
/* mmap_locks that follow each other at one address: each has its process' name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/lock.h"
#include "kontend/query-hist.h"
#include "kontend/query-mmap.h"
#include "lock-snaps.h"
#include "synth-mm.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888011111178ull
#define AT(MSECS) (CANNED_START + (MSECS)*MS)

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_round(w->rig.synth, CANNED_START);
}

static void finish(struct asked *w)
{
	synth_tick(w->rig.synth, AT(1000));
	asked_play(w, NULL);
}

static void wait_for(struct asked *w, uint64_t at, int pid)
{
	synth_begin(w->rig.synth, 0, at, pid, pid + 1, LOCK, LCB_F_WRITE, NULL, 0);
	synth_end(w->rig.synth, 0, at + MS, pid, pid + 1, LOCK, 0);
}

static void add_snapshot(struct asked *w, uint64_t at, int pid, const char *comm)
{
	struct locksnap s = {0};

	lock_snap_name(&s, LOCK, LOCKSNAP_MMAP, -1, pid, comm, "/slice", 0);
	lock_snap_emit(w->rig.synth, &s, at);
}

static void begin_process(struct asked *w, uint64_t at, int pid, const char *comm)
{
	synth_fork(w->rig.synth, 0, at, pid, pid, 1, 1);
	synth_comm(w->rig.synth, 0, at + 1, pid, pid, comm);
}

/* The leader of 100 exits, and then the thread that waits. */
static void end_process_of_two(struct asked *w, uint64_t at)
{
	synth_exit(w->rig.synth, 0, at, 100, 100);
	synth_exit(w->rig.synth, 0, at + 1, 100, 101);
}

static struct table mmap_table(struct asked *w)
{
	struct query_spec spec = {.by = BY_PROCESS, .sort = "contended"};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_mmap(&w->q, &spec, &t, &err), 0);
	return t;
}

static struct table lock_table(struct asked *w)
{
	struct query_spec spec = {.by = BY_LOCK, .sort = "contended"};
	struct error err = {0};
	struct table t;

	assert_int_equal(query_locks(&w->q, &spec, &t, &err), 0);
	return t;
}

static void each_process_has_its_own_waits(void **state)
{
	struct asked *w = *state;

	start(w);
	for (uint64_t i = 0; i < 3; i++)
		wait_for(w, AT(100 + 10 * i), 100);
	add_snapshot(w, AT(500), 100, "a");
	end_process_of_two(w, AT(600));
	begin_process(w, AT(700), 200, "b");
	wait_for(w, AT(750), 200);
	wait_for(w, AT(760), 200);
	add_snapshot(w, AT(900), 200, "b");
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "process"), "a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
	assert_string_equal(cell_s(&t, 1, "process"), "b/200");
	assert_int_equal(cell_u(&t, 1, "contended"), 2);
	t = lock_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "name"), "mmap_lock a/100");
	assert_string_equal(cell_s(&t, 1, "name"), "mmap_lock b/200");
	assert_string_equal(query_title(&w->q, BY_LOCK, t.ids[0]), "rwsem:W mmap_lock a/100");
	assert_string_equal(query_title(&w->q, BY_LOCK, t.ids[1]), "rwsem:W mmap_lock b/200");
	for (size_t i = 0; i < 2; i++) {
		struct query_scope scope = {.mask = 1u << BY_LOCK};
		struct query_hist h;
		scope.id[BY_LOCK] = t.ids[i];
		assert_int_equal(query_hist(&w->q, &scope, &h), 0);
		assert_int_equal(h.n_waits, i ? 2 : 3);
	}
}

static void waits_of_before_are_not_those_of_who_is_named(void **state)
{
	struct asked *w = *state;

	start(w);
	wait_for(w, AT(100), 100);
	end_process_of_two(w, AT(200));
	begin_process(w, AT(300), 200, "b");
	add_snapshot(w, AT(500), 200, "b");
	wait_for(w, AT(600), 200);
	wait_for(w, AT(610), 200);
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "process"), "b/200");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_false(cell_at(&t, 0, "process")->approx);
	/* A guess by who waited. */
	assert_true(cell_at(&t, 1, "pid")->approx);
	assert_int_equal(cell_at(&t, 1, "pid")->i, 100);
	t = lock_table(w);
	assert_string_equal(cell_s(&t, 1, "name"), "mmap_lock (mm_struct)");
}

/* If a process is not measured no event gives its begin; the snapshot does. */
/* A writer is reported that waited for nothing: the other mode has no begin, and is no older lock.
 */
static void who_is_told_to_hold_it_makes_no_other_lock(void **state)
{
	struct asked *w = *state;
	const struct ownerrec owner = {
		.magic = OWNERREC_MAGIC, .lock = LOCK, .pid = 100, .tid = 101, .comm = "w"};

	start(w);
	synth_outputs(w->rig.synth);
	begin_process(w, AT(100), 100, "a");
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at = AT(300 + 200 * i);
		synth_begin(w->rig.synth, 0, at, 100, 100, LOCK, LCB_F_READ, NULL, 0);
		synth_owner(w->rig.synth, 0, at + 1, 100, &owner);
		synth_end(w->rig.synth, 0, at + 1000, 100, 100, LOCK, 0);
		add_snapshot(w, AT(400 + 200 * i), 100, "a");
	}
	finish(w);
	struct table t = lock_table(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
}

static void who_began_later_did_not_have_it(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	start(w);
	wait_for(w, AT(100), 100);
	lock_snap_name(&s, LOCK, LOCKSNAP_MMAP, -1, 900, "stranger", "", 0);
	s.names[0].since_ns = AT(300);
	lock_snap_emit(w->rig.synth, &s, AT(500));
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_at(&t, 0, "pid")->i, 100);
	assert_true(cell_at(&t, 0, "pid")->approx);
}

/* Its first thread ends, and the process is seen again. */
static void a_process_without_its_first_thread_stays(void **state)
{
	struct asked *w = *state;

	start(w);
	wait_for(w, AT(100), 100);
	add_snapshot(w, AT(200), 100, "a");
	synth_exit(w->rig.synth, 0, AT(300), 100, 100);
	wait_for(w, AT(400), 100);
	add_snapshot(w, AT(500), 100, "a");
	wait_for(w, AT(600), 100);
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "process"), "a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
}

/* The lock is the same one until the last thread exits, and has the name of the leader. */
static void a_process_lasts_until_its_last_thread_exits(void **state)
{
	struct asked *w = *state;

	start(w);
	wait_for(w, AT(100), 100);
	synth_comm(w->rig.synth, 0, AT(110), 100, 101, "thread");
	add_snapshot(w, AT(200), 100, "a");
	synth_exit(w->rig.synth, 0, AT(300), 100, 100);
	wait_for(w, AT(400), 100);
	wait_for(w, AT(410), 100);
	synth_exit(w->rig.synth, 0, AT(500), 100, 101);
	begin_process(w, AT(600), 200, "b");
	wait_for(w, AT(700), 200);
	add_snapshot(w, AT(800), 200, "b");
	finish(w);
	struct table t = lock_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "name"), "mmap_lock a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 3);
	assert_string_equal(cell_s(&t, 1, "name"), "mmap_lock b/200");
	assert_int_equal(cell_u(&t, 1, "contended"), 1);
}

/* The thread's EXIT may be among lost records. */
static void after_a_loss_it_lasts_until_its_leader_exits(void **state)
{
	struct asked *w = *state;

	start(w);
	wait_for(w, AT(90), 100);
	wait_for(w, AT(100), 100);
	add_snapshot(w, AT(200), 100, "a");
	synth_lost(w->rig.synth, 0, AT(250), 5);
	synth_exit(w->rig.synth, 0, AT(300), 100, 100);
	begin_process(w, AT(600), 200, "b");
	wait_for(w, AT(700), 200);
	add_snapshot(w, AT(800), 200, "b");
	finish(w);
	struct table t = lock_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "name"), "mmap_lock a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_string_equal(cell_s(&t, 1, "name"), "mmap_lock b/200");
}

/* A child that has not executed anything yet has its parent's memory. */
static void a_child_does_not_take_its_parents_lock(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	start(w);
	wait_for(w, AT(100), 100);
	synth_fork(w->rig.synth, 0, AT(200), 300, 300, 100, 100);
	lock_snap_name(&s, LOCK, LOCKSNAP_MMAP, -1, 100, "a", "", 0);
	lock_snap_name(&s, LOCK, LOCKSNAP_MMAP, -1, 300, "a", "", 0);
	lock_snap_emit(w->rig.synth, &s, AT(300));
	synth_exit(w->rig.synth, 0, AT(400), 300, 300);
	wait_for(w, AT(500), 100);
	finish(w);
	struct table t = lock_table(w);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "name"), "mmap_lock a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
}

/* The kernel's own events name it as well. */
static void acquire(struct asked *w, uint64_t at, int pid)
{
	struct synth_mm_event e = {.t = at,
				   .pid = pid,
				   .tid = pid + 1,
				   .mm = LOCK - 0x78,
				   .write = true,
				   .success = true,
				   .what = SYNTH_MM_START};

	synth_mm(w->rig.synth, &e);
	wait_for(w, at + MS, pid);
	e.t = at + 3 * MS;
	e.what = SYNTH_MM_ACQUIRED;
	synth_mm(w->rig.synth, &e);
	e.t = at + 4 * MS;
	e.what = SYNTH_MM_RELEASED;
	synth_mm(w->rig.synth, &e);
}

static void events_name_them_too(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_mm_prologue(w->rig.synth, false);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_round(w->rig.synth, CANNED_START);
	acquire(w, AT(100), 100);
	acquire(w, AT(110), 100);
	end_process_of_two(w, AT(600));
	begin_process(w, AT(700), 200, "b");
	acquire(w, AT(750), 200);
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "process"), "a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_string_equal(cell_s(&t, 1, "process"), "b/200");
	assert_int_equal(cell_u(&t, 1, "contended"), 1);
}

/* The same of a lock that only its own events name. */
static void events_name_it_until_its_last_thread_exits(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_mm_prologue(w->rig.synth, false);
	synth_comm(w->rig.synth, 0, CANNED_START, 100, 100, "a");
	synth_round(w->rig.synth, CANNED_START);
	acquire(w, AT(100), 100);
	synth_comm(w->rig.synth, 0, AT(150), 100, 101, "thread");
	synth_exit(w->rig.synth, 0, AT(200), 100, 100);
	acquire(w, AT(300), 100);
	synth_exit(w->rig.synth, 0, AT(400), 100, 101);
	begin_process(w, AT(500), 200, "b");
	acquire(w, AT(600), 200);
	finish(w);
	struct table t = mmap_table(w);
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "process"), "a/100");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_string_equal(cell_s(&t, 1, "process"), "b/200");
	assert_int_equal(cell_u(&t, 1, "contended"), 1);
}

static void a_lock_that_ended_keeps_its_id(void **state)
{
	const struct lock_end end = {.pid = 7};
	struct lock_table t;

	(void)state;
	assert_int_equal(lock_table_init(&t, 64), 0);
	uint32_t first = lock_get(&t, LOCK, LOCK_RWSEM_W);
	uint64_t id = t.locks[first].id;
	assert_true(id == lock_key(LOCK, LOCK_RWSEM_W));
	lock_end(&t, LOCK, &end);
	uint32_t second = lock_get(&t, LOCK, LOCK_RWSEM_W);
	assert_int_not_equal(first, second);
	assert_int_equal(lock_by_id(&t, id), first);
	assert_int_equal(lock_by_id(&t, t.locks[second].id), second);
	assert_true(lock_id_is_own(t.locks[second].id) && !lock_id_is_own(id));
	assert_int_equal(t.locks[first].end.pid, 7);
	/* The first one is forgotten; the second one is still found, by address and id. */
	id = t.locks[second].id;
	t.locks[second].marked = 1;
	lock_sweep(&t);
	assert_int_equal(lock_get(&t, LOCK, LOCK_RWSEM_W), second);
	assert_int_equal(lock_by_id(&t, id), second);
	lock_sweep(&t);
	assert_int_equal(lock_by_id(&t, id), UINT32_MAX);
	assert_int_equal(t.index.count + t.others.count, 0);
	lock_table_deinit(&t);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_process_has_its_own_waits),
		TEST(waits_of_before_are_not_those_of_who_is_named),
		TEST(who_is_told_to_hold_it_makes_no_other_lock),
		TEST(who_began_later_did_not_have_it),
		TEST(a_process_without_its_first_thread_stays),
		TEST(a_process_lasts_until_its_last_thread_exits),
		TEST(after_a_loss_it_lasts_until_its_leader_exits),
		TEST(events_name_it_until_its_last_thread_exits),
		TEST(a_child_does_not_take_its_parents_lock),
		TEST(events_name_them_too),
		cmocka_unit_test(a_lock_that_ended_keeps_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
