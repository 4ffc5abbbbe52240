// SPDX-License-Identifier: GPL-2.0-only
/* Names of locks by functions that wait for them, and that names on a screen stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "lock-snaps.h"
#include "synth.h"

#include <stdio.h>
#include <string.h>

#define MS CANNED_MS
#define PIDMAP 0xffffffff83008140
#define TASKLIST 0xffffffff83000080
#define RTNL 0xffffffff831f5a60
#define TABLE 0xffffea0000123468
#define HEAP 0xffff888012345680

/* Addresses to which calls return, within these functions. */
enum { ALLOC_PID, FREE_PID, COPY_PROCESS, RTNETLINK, ZAP, SLOWPATH, PIPE, LOCKREF, PARENT };

static const char more[] = "ffffffff81040000 T alloc_pid\n"
			   "ffffffff81041000 T free_pid\n"
			   "ffffffff81042000 T copy_process\n"
			   "ffffffff81043000 t rtnetlink_rcv_msg\n"
			   "ffffffff81044000 t zap_pte_range\n"
			   "ffffffff81045000 t __mutex_lock_slowpath\n"
			   "ffffffff81046000 t pipe_release\n"
			   "ffffffff81047000 T lockref_get_not_dead\n"
			   "ffffffff81048000 T dget_parent\n";

static uint64_t in(unsigned function)
{
	return 0xffffffff81040010 + 0x1000ull * function;
}

static void wait_for(struct asked *w, unsigned nth, uint64_t lock, unsigned flags,
		     const uint64_t *frames, size_t n)
{
	const uint64_t at = CANNED_START + (10 + 4 * (uint64_t)nth) * MS;

	synth_begin(w->rig.synth, 0, at, 700, 701, lock, flags, frames, n);
	synth_end(w->rig.synth, 0, at + MS, 700, 701, lock, 0);
}

static void spin_for(struct asked *w, unsigned nth, uint64_t lock, unsigned flags,
		     unsigned function)
{
	const uint64_t frames[] = {synth_addr(SYNTH_QSPIN_SLOWPATH),
				   synth_addr(SYNTH_RAW_SPIN_LOCK), in(function)};

	wait_for(w, nth, lock, LCB_F_SPIN | flags, frames, 3);
}

static const char *named(struct asked *w, uint64_t lock)
{
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_u(&t, i, "lock") == lock)
			return cell_s(&t, i, "name");
	return "no such row";
}

static void begin(struct asked *w)
{
	static char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, more);
	w->rig = (struct rig){.synth = synth_new(1)};
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
}

static void finish(struct asked *w)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static void functions_name_static_locks(void **state)
{
	struct asked *w = *state;
	const uint64_t mutex[] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH), in(RTNETLINK)};

	begin(w);
	spin_for(w, 0, PIDMAP, 0, ALLOC_PID);
	spin_for(w, 1, TASKLIST, LCB_F_WRITE, COPY_PROCESS);
	wait_for(w, 2, RTNL, LCB_F_MUTEX, mutex, 2);
	spin_for(w, 3, HEAP, 0, ALLOC_PID);
	finish(w);
	assert_string_equal(named(w, PIDMAP), "pidmap_lock");
	assert_string_equal(named(w, TASKLIST), "tasklist_lock");
	assert_string_equal(named(w, RTNL), "rtnl_mutex");
	/* It is not where static objects are. */
	assert_string_equal(named(w, HEAP), "alloc_pid …345680");
}

/* Another function waits longer, and says nothing. */
static void one_function_that_is_known_decides(void **state)
{
	struct asked *w = *state;

	begin(w);
	for (unsigned i = 0; i < 3; i++)
		spin_for(w, i, PIDMAP, 0, PIPE);
	spin_for(w, 3, PIDMAP, 0, FREE_PID);
	finish(w);
	assert_string_equal(named(w, PIDMAP), "pidmap_lock");
}

static void a_spinlock_of_a_mutex_is_its_wait_lock(void **state)
{
	struct asked *w = *state;
	const uint64_t frames[] = {synth_addr(SYNTH_QSPIN_SLOWPATH),
				   synth_addr(SYNTH_RAW_SPIN_LOCK), in(SLOWPATH), in(RTNETLINK)};

	begin(w);
	wait_for(w, 0, RTNL + 8, LCB_F_SPIN, frames, 4);
	finish(w);
	assert_string_equal(named(w, RTNL + 8), "rtnl_mutex.wait_lock");
}

static void page_tables_have_the_process(void **state)
{
	struct asked *w = *state;

	begin(w);
	spin_for(w, 0, TABLE, 0, ZAP);
	finish(w);
	assert_string_equal(named(w, TABLE), "ptl -/700");
}

static void objects_that_are_gone_have_their_type(void **state)
{
	struct asked *w = *state;
	const uint64_t mutex[] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH), in(PIPE)};
	const uint64_t spin[] = {synth_addr(SYNTH_QSPIN_SLOWPATH), synth_addr(SYNTH_RAW_SPIN_LOCK),
				 in(SLOWPATH), in(PIPE)};
	const uint64_t lockref[] = {synth_addr(SYNTH_QSPIN_SLOWPATH),
				    synth_addr(SYNTH_RAW_SPIN_LOCK), in(LOCKREF), in(PARENT)};
	const uint64_t other[] = {synth_addr(SYNTH_QSPIN_SLOWPATH), synth_addr(SYNTH_RAW_SPIN_LOCK),
				  in(LOCKREF), in(PIPE)};

	begin(w);
	wait_for(w, 0, HEAP, LCB_F_MUTEX, mutex, 2);
	wait_for(w, 1, HEAP + 64, LCB_F_SPIN, spin, 4);
	wait_for(w, 2, HEAP + 128, LCB_F_SPIN, lockref, 4);
	wait_for(w, 3, HEAP + 192, LCB_F_SPIN, other, 4);
	/* A mutex of the kernel's own is in no object. */
	wait_for(w, 4, RTNL, LCB_F_MUTEX, mutex, 2);
	finish(w);
	assert_string_equal(named(w, HEAP), "pipe->mutex (pipe_inode_info)");
	assert_string_equal(named(w, HEAP + 64), "pipe->mutex.wait_lock (pipe_inode_info)");
	assert_string_equal(named(w, HEAP + 128), "d_lock (dentry)");
	assert_string_equal(named(w, HEAP + 192), "lockref_get_not_dead …345740");
	assert_string_equal(named(w, RTNL), "pipe_release …1f5a60");
}

/* The row of the only lock, in the next frame. */
static const char *next_name(struct asked *w, unsigned ticks)
{
	struct error err = {0};

	while (ticks)
		ticks -= engine_pump(&w->rig.engine, 0, &err) == ENGINE_TICK;
	query_begin(&w->q);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 1);
	return cell_s(&t, 0, "name");
}

/* Another function waits more, then the object is known, and then it is not any more. */
static void a_name_that_was_shown_gives_way_to_better_ones(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct query q = {0};

	begin(w);
	spin_for(w, 0, HEAP, 0, ALLOC_PID);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	for (unsigned i = 300; i < 303; i++)
		spin_for(w, i, HEAP, 0, FREE_PID);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	lock_snap_name(&s, HEAP, LOCKSNAP_BPF_MAP, -1, 0, "", "inhibit", 7);
	lock_snap_emit(w->rig.synth, &s, CANNED_START + 2500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 3000 * MS);
	rig_play_ticks(&w->rig, NULL, 1);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	assert_string_equal(next_name(w, 0), "alloc_pid …345680");
	assert_string_equal(next_name(w, 1), "alloc_pid …345680");
	/* A query that has not seen it before gets the function that waits most. */
	assert_int_equal(query_init(&q, &w->rig.engine), 0);
	query_begin(&q);
	struct query seen = w->q;
	w->q = q;
	assert_string_equal(next_name(w, 0), "free_pid …345680");
	query_deinit(&w->q);
	w->q = seen;
	assert_string_equal(next_name(w, 1), "BPF map inhibit (id 7)");
	lockname_set_unref(w->rig.engine.model->lock_names);
	w->rig.engine.model->lock_names = lockname_set_new(0);
	assert_string_equal(next_name(w, 0), "BPF map inhibit (id 7)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_name_static_locks),
		TEST(one_function_that_is_known_decides),
		TEST(a_spinlock_of_a_mutex_is_its_wait_lock),
		TEST(page_tables_have_the_process),
		TEST(objects_that_are_gone_have_their_type),
		TEST(a_name_that_was_shown_gives_way_to_better_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
