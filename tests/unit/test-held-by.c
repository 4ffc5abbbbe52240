// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holder of the lock of a wait, from each kind of record: the record of the begin, a record of
 * a holder, the end of another wait. Waits keep it when they end; chains say the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/holdrec.h"
#include "kontend/query-chains.h"
#include "kontend/query-lock.h"
#include "kontend/query-wait.h"
#include "kontend/stack.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { HOLDER = 901, STEALER = 902 };

static void begin(struct asked *w, uint64_t t, int tid, uint32_t flags, int owner,
		  enum waitrec_owner is)
{
	const struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
					.lock = LOCK,
					.flags = flags,
					.tid = tid,
					.owner = is,
					.owner_pid = owner,
					.owner_tid = owner};

	synth_wait_begin(w->rig.synth, 0, CANNED_START + t, 700, tid, &b);
}

static void end(struct asked *w, uint64_t t, int tid)
{
	const struct waitrec_end e = {.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = tid};

	synth_wait_end(w->rig.synth, 0, CANNED_START + t, 700, tid, &e);
}

static void reported(struct asked *w, uint64_t t, int tid, enum holdrec_what what, bool reads)
{
	const struct holdrec r = {.magic = HOLDREC_MAGIC,
				  .lock = LOCK,
				  .pid = tid,
				  .tid = tid,
				  .what = what,
				  .state = HOLDREC_RUNNING,
				  .hint = reads,
				  .comm = "stealer"};

	synth_holder(w->rig.synth, 0, CANNED_START + t, &r);
}

static void seen(struct asked *w, uint64_t t, int tid)
{
	reported(w, t, tid, HOLDREC_SEEN, false);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

/* All waits, those that have ended among them. */
static struct table play(struct asked *w)
{
	struct query_spec spec = {0};
	struct table t;

	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_wait_rows(&w->q, &spec, NULL, &t, NULL), 0);
	return t;
}

static size_t row_of(const struct table *t, int tid)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (cell_at(t, i, "tid")->i == tid)
			return i;
	fail_msg("no row of %d", tid);
	return 0;
}

static void check(const struct table *t, int tid, int owner, const char *certainty)
{
	size_t row = row_of(t, tid);

	assert_string_equal(cell_s(t, row, "owner_certainty"), certainty);
	if (owner)
		assert_int_equal(cell_at(t, row, "owner_tid")->i, owner);
	else
		assert_false(cell_at(t, row, "owner_tid")->known);
}

static void begins_say_it(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	struct table t = play(w);
	check(&t, 701, HOLDER, "sure");
	assert_non_null(strstr(cell_s(&t, 0, "holder"), "/901 W"));
}

static void a_reader_is_never_sure(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_READ);
	struct table t = play(w);
	check(&t, 701, HOLDER, "hint");
	assert_non_null(strstr(cell_s(&t, 0, "holder"), "/901 R?"));
}

static void a_lock_may_be_handed_over(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX, 0, WAITREC_OWNED);
	struct table t = play(w);
	check(&t, 701, 0, "free");
	assert_string_equal(cell_s(&t, 0, "holder"), "(free)");
}

/* The first in the queue is to take it. It has it when its wait ends. */
static void who_is_to_take_it_is_named(void **state)
{
	struct asked *w = *state;
	struct query_spec spec = {0};
	struct table chains;

	start(w);
	begin(w, 10 * MS, 702, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 11 * MS, 701, LCB_F_WRITE, 702, WAITREC_HANDED);
	struct table t = play(w);
	check(&t, 701, 0, "free");
	check(&t, 702, 0, "free");
	assert_int_equal(cell_at(&t, row_of(&t, 701), "next_tid")->i, 702);
	assert_non_null(strstr(cell_s(&t, row_of(&t, 701), "holder"), "free, to "));
	assert_int_equal(query_chains(&w->q, &spec, &chains, NULL), 0);
	assert_string_equal(cell_s(&chains, 0, "row"), "root");
	assert_string_equal(cell_s(&chains, 0, "certainty"), "free");
	assert_int_equal(cell_at(&chains, 0, "next_tid")->i, 702);
	assert_false(cell_at(&chains, 0, "tid")->known);
	assert_non_null(strstr(cell_s(&chains, 0, "what"), "free, being handed to "));
}

/*
 * Where the record of a free lock names no task, the next one is the first of the latest snapshot
 * that waits still: not one that has ended its wait, nor one that came back after the snapshot.
 */
static void the_first_in_the_queue_is_to_take_it(void **state)
{
	struct asked *w = *state;
	struct locksnap snap = {0};
	struct locksnap_queue q = {.addr = LOCK, .type = LOCKSNAP_RWSEM, .writers_waiting = 4};

	start(w);
	for (int tid = 701; tid <= 704; tid++) {
		begin(w, (uint64_t)(tid - 691) * MS, tid, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
		lock_snap_waiter(&snap, (uint32_t)(tid - 700), 700, tid, "dd", false);
	}
	assert_int_equal(locksnap_add_queue(&snap, &q), 0);
	lock_snap_emit(w->rig.synth, &snap, CANNED_START + 100 * MS);
	end(w, 110 * MS, 701);
	end(w, 120 * MS, 702);
	begin(w, 130 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 140 * MS, 705, LCB_F_WRITE, 0, WAITREC_OWNED);
	struct table t = play(w);
	for (int tid = 703; tid <= 705; tid++) {
		check(&t, tid, 0, "free");
		assert_int_equal(cell_at(&t, row_of(&t, tid), "next_tid")->i, 703);
	}
}

/* @holder: 0: the snapshot sees no task that has the lock. */
static void queue_of(struct asked *w, uint64_t t, int from, int to, int holder)
{
	struct locksnap snap = {0};
	struct locksnap_queue q = {.addr = LOCK,
				   .type = LOCKSNAP_RWSEM,
				   .certainty = holder ? LOCKSNAP_HINT : LOCKSNAP_NOBODY,
				   .readers = holder ? 2 : 0,
				   .holder_pid = holder,
				   .holder_tid = holder,
				   .writers_waiting = (uint32_t)(to - from + 1)};

	for (int tid = from; tid <= to; tid++)
		lock_snap_waiter(&snap, (uint32_t)(tid - from + 1), 700, tid, "dd", false);
	assert_int_equal(locksnap_add_queue(&snap, &q), 0);
	lock_snap_emit(w->rig.synth, &snap, CANNED_START + t);
}

/* It is newer than the records, which name the last holder. */
static void a_snapshot_sees_a_free_lock(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_READ, HOLDER, WAITREC_READ);
	begin(w, 11 * MS, 702, LCB_F_WRITE, HOLDER, WAITREC_READ);
	queue_of(w, 990 * MS, 701, 702, 0);
	struct table t = play(w);
	for (int tid = 701; tid <= 702; tid++) {
		check(&t, tid, 0, "free");
		assert_int_equal(cell_at(&t, row_of(&t, tid), "next_tid")->i, 701);
	}
}

/*
 * Reader 701 was let in: the snapshot has it in no queue, and as the last reader of the lock. It is
 * the root, as it takes the lock when it has a CPU.
 */
static void a_reader_was_let_in_and_has_no_cpu(void **state)
{
	struct asked *w = *state;
	struct query_spec spec = {0};
	struct table chains;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_READ, HOLDER, WAITREC_OWNED);
	begin(w, 11 * MS, 702, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 12 * MS, 703, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	queue_of(w, 990 * MS, 702, 703, 701);
	struct table t = play(w);
	check(&t, 701, 0, "free");
	assert_int_equal(cell_at(&t, row_of(&t, 701), "next_tid")->i, 701);
	check(&t, 702, 701, "hint");
	assert_int_equal(query_chains(&w->q, &spec, &chains, NULL), 0);
	assert_string_equal(cell_s(&chains, 0, "row"), "root");
	assert_int_equal(cell_at(&chains, 0, "next_tid")->i, 701);
}

static void a_lock_is_handed_over_while_a_task_waits(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX, HOLDER, WAITREC_OWNED);
	begin(w, 11 * MS, 702, LCB_F_MUTEX, HOLDER, WAITREC_OWNED);
	reported(w, 20 * MS, 701, HOLDREC_HANDED, false);
	struct table t = play(w);
	check(&t, 702, 0, "free");
	assert_int_equal(cell_at(&t, row_of(&t, 702), "next_tid")->i, 701);
}

static void who_steals_it_is_named(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX, 701, WAITREC_HANDED);
	seen(w, 11 * MS, STEALER);
	reported(w, 30 * MS, 701, HOLDREC_HANDED, false);
	end(w, 40 * MS, 701);
	struct table t = play(w);
	check(&t, 701, STEALER, "sure"); /* it has ended */
}

/* A task that released the lock before the wait began has not held it up. */
static void a_holder_of_before_is_not_named(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 20 * MS, 702, LCB_F_WRITE, 702, WAITREC_HANDED);
	end(w, 30 * MS, 702);
	struct table t = play(w);
	check(&t, 702, 0, "free");
	assert_int_equal(cell_at(&t, row_of(&t, 702), "next_tid")->i, 702);
	check(&t, 701, 702, "sure");
}

/* The word of the lock names the last reader that came, also when it waits for the lock again. */
static void a_reader_that_waits_is_no_holder(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_READ);
	begin(w, 11 * MS, 702, LCB_F_WRITE, STEALER, WAITREC_READ);
	begin(w, 12 * MS, STEALER, LCB_F_READ, STEALER, WAITREC_READ);
	reported(w, 13 * MS, STEALER, HOLDREC_SEEN, true);
	struct table t = play(w);
	check(&t, 701, HOLDER, "hint");
	check(&t, 702, HOLDER, "hint");
	check(&t, STEALER, HOLDER, "hint");
}

static void the_last_reader_that_waits_leaves_none(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 12 * MS, STEALER, LCB_F_READ, 0, WAITREC_NOT_SAID);
	reported(w, 13 * MS, STEALER, HOLDREC_SEEN, true);
	struct table t = play(w);
	check(&t, 701, 0, "-"); /* readers have it, not the writer of before */
}

static void a_spinlock_says_nothing(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_SPIN, 0, WAITREC_NOT_SAID);
	struct table t = play(w);
	check(&t, 701, 0, "-");
}

static void who_waited_and_got_it_is_next(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 11 * MS, 702, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	end(w, 20 * MS, 701);
	struct table t = play(w);
	check(&t, 701, HOLDER, "sure"); /* it has ended */
	check(&t, 702, 701, "sure");
}

static void who_takes_it_unseen_is_read_again(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX, HOLDER, WAITREC_OWNED);
	seen(w, 30 * MS, STEALER);
	struct table t = play(w);
	check(&t, 701, STEALER, "sure");
}

/* A percpu-rwsem names its writer for a part of the time only. */
static void the_writer_of_a_percpu_rwsem_is_evidence(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_PERCPU | LCB_F_READ, HOLDER, WAITREC_OWNED);
	struct table t = play(w);
	check(&t, 701, HOLDER, "evidence");
	assert_non_null(strstr(cell_s(&t, row_of(&t, 701), "holder"), " W?"));
}

/* In a queue the last holder is a waiter that got the lock a moment before. */
static void an_ended_wait_keeps_the_holder_of_its_begin(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX, HOLDER, WAITREC_OWNED);
	seen(w, 30 * MS, STEALER);
	end(w, 40 * MS, 701);
	struct table t = play(w);
	check(&t, 701, HOLDER, "sure");
}

/* No task has waited in between, so it may have been free. */
static void it_is_forgotten_when_no_task_waits(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	end(w, 20 * MS, 701);
	begin(w, 30 * MS, 702, LCB_F_WRITE, 0, WAITREC_NOT_SAID);
	struct table t = play(w);
	check(&t, 702, 0, "-");
}

/* A mutex begins again before it sleeps: by then the lock has been handed over. */
static void a_mutex_is_asked_about_again(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_MUTEX | LCB_F_SPIN, 0, WAITREC_OWNED);
	begin(w, 12 * MS, 701, LCB_F_MUTEX, HOLDER, WAITREC_OWNED);
	end(w, 20 * MS, 701);
	struct table t = play(w);
	check(&t, 701, HOLDER, "sure");
}

static void sums_are_by_owner_on_request_only(void **state)
{
	struct asked *w = *state;
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
				  .lock = LOCK,
				  .flags = LCB_F_MUTEX,
				  .owner = WAITREC_OWNED,
				  .owner_pid = HOLDER,
				  .owner_tid = HOLDER};

	start(w);
	synth_wait_begin(w->rig.synth, 0, CANNED_START + 10 * MS, 700, 701, &b);
	end(w, 20 * MS, 701);
	b.owner_asked = 1;
	synth_wait_begin(w->rig.synth, 0, CANNED_START + 30 * MS, 700, 701, &b);
	end(w, 40 * MS, 701);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_OWNER});
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(w->rig.engine.model->cells->n, 2);
}

static void chains_have_the_same_root(void **state)
{
	struct asked *w = *state;
	struct query_spec spec = {0};
	struct table t;

	start(w);
	begin(w, 10 * MS, 701, LCB_F_WRITE, HOLDER, WAITREC_OWNED);
	begin(w, 11 * MS, 702, LCB_F_READ, HOLDER, WAITREC_OWNED);
	play(w);
	assert_int_equal(query_chains(&w->q, &spec, &t, NULL), 0);
	assert_string_equal(cell_s(&t, 0, "row"), "root");
	assert_string_equal(cell_s(&t, 0, "certainty"), "sure");
	assert_int_equal(cell_at(&t, 0, "tid")->i, HOLDER);
	assert_int_equal(cell_u(&t, 0, "behind"), 2);
}

/* Records of 1.0.0 have their frames where the owner is now. */
static void older_records_are_read(void **state)
{
	struct asked *w = *state;
	const size_t before = sizeof(unsigned int),
		     head = offsetof(struct waitrec_begin, owner_pid);
	struct waitrec_begin b = {.magic = WAITREC_BEGIN1_MAGIC,
				  .lock = LOCK,
				  .flags = LCB_F_WRITE,
				  .tid = 701,
				  .n_frames = 2};
	const uint64_t frames[] = {0xffffffff81000100ull, 0xffffffff81000200ull};
	uint8_t raw[sizeof(b)];

	start(w);
	memcpy(raw, (const uint8_t *)&b + before, head - before);
	memcpy(raw + head - before, frames, sizeof(frames));
	synth_output(w->rig.synth, 0, CANNED_START + 10 * MS, 700, 701, raw,
		     head - before + sizeof(frames));
	struct table t = play(w);
	check(&t, 701, 0, "-");
	const struct model *m = w->rig.engine.model;
	assert_int_equal(model_damage(m).bad, 0);
	assert_int_equal(m->stacks->stacks[m->waits->waits[1].stack].n, 2);
}

/* Writers that never waited: their rate is since the first wait of a reader, not since the start.
 */
static void writers_are_counted_since_a_reader_waits(void **state)
{
	const uint32_t reads = LCB_F_PERCPU | LCB_F_READ;
	struct query_lock_writer writer;
	struct asked *w = *state;

	start(w);
	reported(w, 0, 0, HOLDREC_BEGUN, false);
	begin(w, 500 * MS, 701, reads, 0, WAITREC_NOT_SAID);
	for (uint64_t t = 510; t < 610; t += 20)
		reported(w, t * MS, HOLDER, HOLDREC_RELEASED, false);
	(void)play(w);
	assert_true(query_lock_writer(&w->q, LOCK, &writer));
	assert_true(writer.per_s > 9.9 && writer.per_s < 10.1); /* 5 in half a second */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(begins_say_it),
		TEST(writers_are_counted_since_a_reader_waits),
		TEST(a_reader_is_never_sure),
		TEST(a_lock_may_be_handed_over),
		TEST(the_first_in_the_queue_is_to_take_it),
		TEST(a_snapshot_sees_a_free_lock),
		TEST(a_reader_was_let_in_and_has_no_cpu),
		TEST(who_is_to_take_it_is_named),
		TEST(a_lock_is_handed_over_while_a_task_waits),
		TEST(who_steals_it_is_named),
		TEST(a_holder_of_before_is_not_named),
		TEST(a_reader_that_waits_is_no_holder),
		TEST(the_last_reader_that_waits_leaves_none),
		TEST(a_spinlock_says_nothing),
		TEST(who_waited_and_got_it_is_next),
		TEST(who_takes_it_unseen_is_read_again),
		TEST(the_writer_of_a_percpu_rwsem_is_evidence),
		TEST(an_ended_wait_keeps_the_holder_of_its_begin),
		TEST(it_is_forgotten_when_no_task_waits),
		TEST(a_mutex_is_asked_about_again),
		TEST(sums_are_by_owner_on_request_only),
		TEST(chains_have_the_same_root),
		TEST(older_records_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
