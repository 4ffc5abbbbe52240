// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that only looks report: of the writers of percpu-rwsems, with their parts, and for
 * mappings. Those that wait behind them have them as holders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-chains.h"
#include "kontend/vmalock.h"
#include "kontend/wait.h"
#include "lock-snaps.h"

#include <string.h>

#define MS CANNED_MS
#define SEM 0xffff888011111100ull
#define AT(ms) (CANNED_START + (uint64_t)(ms)*MS)

enum { DELAY_MS = 5, COST_MS = 2, PID = 700, WRITER = 702, READER = 703, OTHER = 704 };
enum { PERCPU_W = LCB_F_PERCPU | LCB_F_WRITE, PERCPU_R = LCB_F_PERCPU | LCB_F_READ };

/* A look at this tick: a writer that waits so since then; part LOCKSNAP_NO_PART: there is none. */
static void look(struct asked *w, uint64_t tick_ms, enum locksnap_part part, uint64_t since_ms,
		 uint32_t switches)
{
	struct locksnap s = {.head.knows_blocked = 1};
	struct locksnap_queue q = {
		.addr = SEM, .type = LOCKSNAP_PCPU, .writers_waiting = 1, .holder_cpu = -1};

	if (part == LOCKSNAP_READERS_PART) {
		q.certainty = LOCKSNAP_SURE;
		q.holder_pid = PID;
		q.holder_tid = WRITER;
		q.holder_state = LOCKSNAP_ASLEEP;
		q.holder_comm = locksnap_add_text(&s, "agent");
	}
	if (part != LOCKSNAP_NO_PART) {
		lock_snap_waiter(&s, 1, PID, WRITER, "agent", false);
		struct locksnap_waiter *v = &s.waiters[0];
		v->ran_ns = AT(since_ms);
		v->cpu = 1;
		v->part = part;
		v->switches = switches;
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
	}
	lock_snap_emit_late(w->rig.synth, &s, AT(tick_ms), AT(tick_ms + DELAY_MS), COST_MS * MS);
}

static void tick(struct asked *w, uint64_t ms)
{
	synth_tick(w->rig.synth, AT(ms));
}

static struct table rows(struct asked *w)
{
	rig_play_ticks(&w->rig, NULL, 1);
	if (!w->q.model)
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	query_begin(&w->q);
	return asked_waiters(w, (struct query_spec){0});
}

static struct table locks(struct asked *w)
{
	return asked_locks(w, (struct query_spec){.by = BY_LOCK});
}

static struct asked *fresh(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	return w;
}

static void a_writer_waits_in_two_parts(void **state)
{
	struct asked *w = fresh(state);

	look(w, 1000, LOCKSNAP_RCU, 900, 5);
	tick(w, 2000);
	look(w, 2000, LOCKSNAP_READERS_PART, 1500, 6);
	tick(w, 3000);
	look(w, 3000, LOCKSNAP_NO_PART, 0, 0);
	tick(w, 4000);

	/* It is known to wait until the look. */
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "kind"), "pcpu-sem:W");
	assert_int_equal(cell_u(&t, 0, "since_ns"), (100 + DELAY_MS) * MS);
	assert_false(cell_at(&t, 0, "since_ns")->approx);
	assert_int_equal(cell_u(&t, 0, "rcu_ns"), (100 + DELAY_MS) * MS);
	assert_int_equal(cell_u(&t, 0, "readers_ns"), 0);
	assert_string_equal(cell_s(&t, 0, "parts"), "RCU grace period 105ms");

	t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "since_ns"), (1100 + DELAY_MS) * MS);
	assert_int_equal(cell_u(&t, 0, "rcu_ns"), 600 * MS);
	assert_int_equal(cell_u(&t, 0, "readers_ns"), (500 + DELAY_MS) * MS);
	assert_string_equal(cell_s(&t, 0, "parts"), "RCU grace period 600ms, readers 505ms");
	assert_string_equal(cell_s(&t, 0, "holder"), "-"); /* it does not wait for itself */

	/* It counts until the last look that saw it. */
	t = rows(w);
	assert_int_equal(t.n_rows, 0);
	t = locks(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), (2000 + DELAY_MS - 900) * MS);
	assert_int_equal(w->rig.engine.model->n_at_least, 1);
	assert_int_equal(cell_u(&t, 0, "rcu_ns"), 600 * MS);
	assert_int_equal(cell_u(&t, 0, "readers_ns"), (2000 + DELAY_MS - 1500) * MS);
}

/* In a loop each look sees another wait, of the same task for the same lock. */
static void another_sleep_is_another_wait(void **state)
{
	struct asked *w = fresh(state);

	look(w, 1000, LOCKSNAP_RCU, 990, 5);
	tick(w, 2000);
	look(w, 2000, LOCKSNAP_RCU, 1980, 9);
	tick(w, 3000);
	/* It has slept more than once since: this is no second part of that wait. */
	look(w, 3000, LOCKSNAP_READERS_PART, 2990, 12);
	tick(w, 4000);

	for (int i = 0; i < 3; i++) {
		struct table t = rows(w);
		assert_int_equal(t.n_rows, 1);
		assert_int_equal(cell_u(&t, 0, "since_ns"),
				 (10 + i * 10 - (i == 2) * 20 + DELAY_MS) * MS);
		/* It may have waited for RCU before it waited for readers. */
		assert_int_equal(cell_at(&t, 0, "since_ns")->approx, i == 2);
		t = locks(w);
		assert_int_equal(cell_u(&t, 0, "contended"), i);
	}
}

/*
 * Between its parts it may wait for another writer. That has events; the wait for RCU ends with the
 * look, as it may have been another one, and the same task may have waited again since.
 */
static void events_end_the_wait_for_rcu(void **state)
{
	struct asked *w = fresh(state);

	look(w, 1000, LOCKSNAP_RCU, 900, 5);
	tick(w, 2000);
	synth_begin(w->rig.synth, 0, AT(2500), PID, WRITER, SEM, PERCPU_W, NULL, 0);
	look(w, 3000, LOCKSNAP_READERS_PART, 2700, 7);
	tick(w, 4000);
	synth_end(w->rig.synth, 0, AT(4500), PID, WRITER, SEM, 0);
	tick(w, 5000);

	(void)rows(w);
	struct table t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "since_ns"), 1500 * MS);
	assert_int_equal(cell_u(&t, 0, "rcu_ns"), 0);
	assert_int_equal(cell_u(&t, 0, "readers_ns"), 1300 * MS);
	t = rows(w);
	assert_int_equal(t.n_rows, 0);
	t = locks(w);
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_int_equal(cell_u(&t, 0, "total_ns"), (2000 + 105) * MS);
	assert_int_equal(cell_u(&t, 0, "rcu_ns"), 105 * MS);
	assert_int_equal(cell_u(&t, 0, "readers_ns"), 1800 * MS);
}

/* fork -> rwsem -> writer, and the writer waits for what nothing names. */
static void readers_hang_below_their_writer(void **state)
{
	struct asked *w = fresh(state);

	synth_begin(w->rig.synth, 0, AT(1700), PID, READER, SEM, PERCPU_R, NULL, 0);
	synth_begin(w->rig.synth, 0, AT(1800), PID, OTHER, SEM, PERCPU_W, NULL, 0);
	look(w, 2000, LOCKSNAP_READERS_PART, 1500, 6);
	tick(w, 3000);

	struct table t = rows(w);
	assert_int_equal(t.n_rows, 3);
	for (size_t i = 0; i < 3; i++) {
		bool is_writer = cell_u(&t, i, "tid") == WRITER;
		const char *holder = cell_s(&t, i, "holder");
		assert_string_equal(holder, is_writer ? "-" : "agent/702 W");
		if (!is_writer)
			assert_string_equal(cell_s(&t, i, "owner_certainty"), "sure");
	}
	const struct query_spec spec = {0};
	struct error err = {0};
	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	assert_string_equal(cell_s(&t, 0, "what"), "readers, not known");
	assert_int_equal(cell_u(&t, 0, "behind"), 3);
	assert_non_null(strstr(cell_s(&t, 2, "what"), "W agent/702"));
	assert_int_equal(cell_u(&t, 2, "behind"), 2);
}

static void mappings_have_a_type_and_a_name(void **state)
{
	const uint64_t lock = vmalock_addr(0xffff888033333300, 0x7f0000001000);
	struct asked *w = fresh(state);
	struct locksnap s = {.head.knows_blocked = 1};
	struct locksnap_queue q = {.addr = lock,
				   .type = LOCKSNAP_VMA_LOCK,
				   .certainty = LOCKSNAP_EVIDENCE,
				   .holder_pid = PID,
				   .holder_tid = READER,
				   .holder_comm = locksnap_add_text(&s, "fault"),
				   .writers_waiting = 1};

	lock_snap_name(&s, lock, LOCKSNAP_VMA, -1, PID, "jvm", "", 0);
	s.names[0].start = 0x7f0000001000;
	s.names[0].past = 0x7f0000003000;
	lock_snap_waiter(&s, 1, PID, WRITER, "jvm", false);
	s.waiters[0].ran_ns = AT(900);
	s.waiters[0].cpu = 1;
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	lock_snap_emit_late(w->rig.synth, &s, AT(1000), AT(1000 + DELAY_MS), COST_MS * MS);
	tick(w, 2000);
	look(w, 2000, LOCKSNAP_NO_PART, 0, 0);
	tick(w, 3000);

	struct table t = rows(w);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "kind"), "vma");
	assert_string_equal(cell_s(&t, 0, "name"), "jvm/700 7f0000001000-7f0000003000");
	assert_string_equal(cell_s(&t, 0, "holder"), "fault/703 R?");
	assert_string_equal(cell_s(&t, 0, "owner_certainty"), "evidence");
	assert_int_equal(cell_u(&t, 0, "since_ns"), (100 + DELAY_MS) * MS);
	assert_string_equal(cell_s(&t, 0, "parts"), "-");
	(void)rows(w);
	assert_int_equal(rig_sum_type(w->rig.engine.model, LOCK_VMA).n, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_writer_waits_in_two_parts),     TEST(another_sleep_is_another_wait),
		TEST(events_end_the_wait_for_rcu),     TEST(readers_hang_below_their_writer),
		TEST(mappings_have_a_type_and_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
