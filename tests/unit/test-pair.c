// SPDX-License-Identifier: GPL-2.0-only
/* Pairing: each test states a stream of begins and ends, and what must have been waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/series.h"
#include "kontend/task.h"
#include "kontend/untracked.h"
#include "kontend/wait.h"
#include "rig.h"

#define MS 1000000ull

enum { A = 0x1000, B = 0x2000, C = 0x3000 };

static const uint64_t chain_a[] = {0xffffffff81020010, 0xffffffff81022010, 0xffffffff81001010,
				   0xffffffff81004010};
/* Inside the slow path of chain_a: its outer frames follow after schedule(). */
static const uint64_t chain_in_a[] = {0xffffffff81024010, 0xffffffff8102a010, 0xffffffff81020abc,
				      0xffffffff81022010, 0xffffffff81001010, 0xffffffff81004010};
static const uint64_t chain_other[] = {0xffffffff81024010, 0xffffffff81008010, 0xffffffff8100a010};

static struct rig r;

static int setup(void **state)
{
	(void)state;
	rig_init(&r, 4);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_deinit(&r);
	return 0;
}

static void begin(uint32_t cpu, uint64_t ms, int tid, uint64_t lock, uint32_t flags)
{
	synth_begin(r.synth, cpu, ms * MS, 100, tid, lock, flags, chain_a, 4);
}

static void end(uint32_t cpu, uint64_t ms, int tid, uint64_t lock)
{
	synth_end(r.synth, cpu, ms * MS, 100, tid, lock, 0);
}

static const struct model *play(void)
{
	rig_play(&r, NULL);
	return r.engine.model;
}

static void expect(enum lock_type type, uint64_t n, uint64_t total_ms)
{
	struct rig_sum s = rig_sum_type(r.engine.model, type);

	assert_int_equal(s.n, n);
	assert_int_equal(s.total_ns, total_ms * MS);
}

static void a_wait_begins_and_ends_on_different_cpus(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	end(3, 17, 101, A);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 1, 7);
	assert_int_equal(m->damage->unmatched_begin + m->damage->unmatched_end, 0);
	assert_int_equal(m->waits->in_flight, 0);
}

static void readers_and_writers_are_two_rows(void **state)
{
	(void)state;
	begin(0, 1, 101, A, LCB_F_WRITE);
	begin(1, 2, 102, A, LCB_F_READ);
	end(0, 4, 101, A);
	end(1, 5, 102, A);
	play();
	expect(LOCK_RWSEM_W, 1, 3);
	expect(LOCK_RWSEM_R, 1, 3);
}

static void a_mutex_spins_then_sleeps_and_is_one_wait(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_MUTEX | LCB_F_SPIN);
	begin(0, 12, 101, A, LCB_F_MUTEX);
	begin(0, 15, 101, A, LCB_F_MUTEX | LCB_F_SPIN);
	begin(0, 16, 101, A, LCB_F_MUTEX);
	end(1, 20, 101, A);
	const struct model *m = play();
	expect(LOCK_MUTEX, 1, 10);
	assert_int_equal(m->damage->unmatched_begin, 0);
}

static void a_spinlock_nests_in_a_sleeping_wait(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	begin(0, 11, 101, B, LCB_F_SPIN);
	end(0, 12, 101, B);
	end(0, 20, 101, A);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 1, 10);
	expect(LOCK_SPINLOCK, 1, 1);
	assert_int_equal(m->damage->unmatched_begin, 0);
}

static void sleeping_waits_nest_when_the_chain_says_so(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_begin(r.synth, 0, 11 * MS, 100, 101, B, LCB_F_MUTEX, chain_in_a, 6);
	end(0, 13, 101, B);
	end(0, 20, 101, A);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 1, 10);
	expect(LOCK_MUTEX, 1, 2);
	assert_int_equal(m->damage->unmatched_begin, 0);
}

static void a_wait_that_has_moved_on_is_unmatched(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE); /* its end is missing */
	/* A longer chain elsewhere: those of this length are not cut ones. */
	synth_begin(r.synth, 1, 10 * MS, 100, 102, C, LCB_F_READ, chain_in_a, 6);
	synth_end(r.synth, 1, 11 * MS, 100, 102, C, 0);
	synth_begin(r.synth, 0, 30 * MS, 100, 101, B, LCB_F_MUTEX, chain_other, 3);
	end(0, 31, 101, B);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 0, 0);
	expect(LOCK_MUTEX, 1, 1);
	assert_int_equal(m->damage->unmatched_begin, 1);
	assert_int_equal(m->waits->in_flight, 0);
}

static void an_interrupt_spins_on_top_of_a_spinner(void **state)
{
	(void)state;
	begin(2, 10, 101, A, LCB_F_SPIN);
	begin(2, 11, 101, B, LCB_F_SPIN);
	end(2, 12, 101, B);
	end(2, 15, 101, A);
	play();
	expect(LOCK_SPINLOCK, 2, 6);
}

static void swapper_spins_on_two_cpus_at_once(void **state)
{
	(void)state;
	synth_begin(r.synth, 0, 10 * MS, 0, 0, A, LCB_F_SPIN, chain_a, 4);
	synth_begin(r.synth, 1, 11 * MS, 0, 0, A, LCB_F_SPIN, chain_a, 4);
	synth_end(r.synth, 0, 12 * MS, 0, 0, A, 0);
	synth_end(r.synth, 1, 20 * MS, 0, 0, A, 0);
	const struct model *m = play();
	expect(LOCK_SPINLOCK, 2, 11);
	assert_int_equal(m->damage->unmatched_end, 0);
}

static void a_spin_wait_of_a_task_that_left_the_cpu_is_unmatched(void **state)
{
	(void)state;
	begin(2, 10, 101, A, LCB_F_SPIN);
	begin(2, 20, 102, B, LCB_F_SPIN);
	end(2, 21, 102, B);
	const struct model *m = play();
	expect(LOCK_SPINLOCK, 1, 1);
	assert_int_equal(m->damage->unmatched_begin, 1);
}

static void a_failed_acquisition_counts_apart(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_end(r.synth, 0, 20 * MS, 100, 101, A, -4);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 0, 0);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).failed, 1);
	assert_int_equal(m->n_failed, 1);
}

static void an_end_without_begin_is_unmatched(void **state)
{
	(void)state;
	end(0, 10, 101, A);
	begin(0, 11, 101, B, LCB_F_READ);
	end(0, 12, 101, A); /* of another lock */
	end(0, 13, 101, B);
	const struct model *m = play();
	expect(LOCK_RWSEM_R, 1, 2);
	assert_int_equal(m->damage->unmatched_end, 2);
}

static void the_same_lock_anew_means_a_lost_end(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	begin(0, 50, 101, A, LCB_F_WRITE);
	end(0, 53, 101, A);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 1, 3);
	assert_int_equal(m->damage->unmatched_begin, 1);
}

static void loss_makes_waits_in_flight_doubtful(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_lost(r.synth, 1, 20 * MS, 7);
	begin(0, 25, 102, B, LCB_F_READ); /* begun after the loss: trusted */
	end(0, 30, 101, A);
	end(0, 31, 102, B);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 0, 0);
	expect(LOCK_RWSEM_R, 1, 6);
	assert_int_equal(m->damage->doubtful, 1);
	assert_int_equal(m->damage->lost, 7);
	assert_int_equal(m->cpus[1].lost, 7);
}

/* The gap of CPU 1 begins at 12 ms: what ended within it on another CPU may have been two waits. */
static void a_gap_begins_at_the_record_before_it(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_comm(r.synth, 1, 12 * MS, 100, 102, "before");
	end(0, 15, 101, A);
	begin(0, 16, 101, B, LCB_F_WRITE);
	end(0, 17, 101, B);
	synth_lost(r.synth, 1, 20 * MS, 7);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 0, 0);
	assert_int_equal(m->damage->doubtful, 2);
	assert_int_equal(m->damage->late, 0);
}

static void a_gap_of_another_cpu_is_nothing_to_who_spins(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_SPIN);
	begin(1, 10, 102, B, LCB_F_SPIN);
	synth_lost(r.synth, 1, 20 * MS, 7);
	end(0, 21, 101, A);
	end(1, 21, 102, B);
	const struct model *m = play();
	expect(LOCK_SPINLOCK, 1, 11);
	assert_int_equal(m->damage->doubtful, 1);
}

/* Its first begin may have been lost: from the second on it would be too short. */
static void a_mutex_is_sure_only_of_who_was_heard_of_since(void **state)
{
	(void)state;
	synth_lost(r.synth, 1, 5 * MS, 7);
	begin(0, 10, 101, A, LCB_F_MUTEX);
	end(0, 12, 101, A);
	begin(0, 20, 101, A, LCB_F_MUTEX | LCB_F_SPIN);
	end(0, 23, 101, A);
	synth_fork(r.synth, 0, 30 * MS, 100, 103, 100, 102);
	begin(0, 31, 103, A, LCB_F_MUTEX | LCB_F_SPIN);
	end(0, 32, 103, A);
	const struct model *m = play();
	expect(LOCK_MUTEX, 2, 4);
	assert_int_equal(m->damage->doubtful, 1);
}

/* The queue has dropped a run between two of CPU 1, and reports it before either is applied. */
static void what_is_dropped_makes_later_waits_doubtful(void **state)
{
	const struct record_drop drop = {.records = 2};

	(void)state;
	synth_comm(r.synth, 0, 1 * MS, 100, 101, "it");
	synth_round(r.synth, 2 * MS);
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_record(r.synth, RECORD_DROP, 1, &drop, sizeof(drop));
	synth_round(r.synth, 3 * MS);
	end(0, 20, 101, A);
	synth_round(r.synth, 15 * MS);
	synth_round(r.synth, 25 * MS);
	begin(0, 30, 101, A, LCB_F_WRITE);
	end(0, 34, 101, A);
	const struct model *m = play();
	expect(LOCK_RWSEM_W, 1, 4);
	assert_int_equal(m->damage->doubtful, 1);
}

/* perf record writes at the end how many each event has lost, mostly a second time. */
static void the_tally_of_losses_adds_what_was_not_told(void **state)
{
	(void)state;
	synth_lost(r.synth, 1, 5 * MS, 7);
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_lost_samples(r.synth, 1, 0, 7);
	synth_round(r.synth, 20 * MS);
	synth_lost_samples(r.synth, 0, 0, 2);
	const struct model *m = play();
	assert_int_equal(m->damage->lost, 9);
	assert_true(m->waits->in_flight == 1 && m->waits->waits[1].doubtful);
}

/* With another tracer chains begin with who calls both: @traced. */
static char *spin_in_spin(bool traced)
{
	const uint64_t outer[] = {synth_addr(SYNTH_TRACEITER_BEGIN),
				  synth_addr(SYNTH_QSPIN_SLOWPATH), synth_addr(SYNTH_RAW_SPIN_LOCK),
				  synth_addr(SYNTH_PIPE_READ)};
	const uint64_t inner[] = {synth_addr(SYNTH_TRACEITER_BEGIN),
				  synth_addr(SYNTH_QSPIN_SLOWPATH) + 8,
				  synth_addr(SYNTH_QSPIN_SLOWPATH) + 16,
				  synth_addr(SYNTH_RAW_SPIN_LOCK), synth_addr(SYNTH_PIPE_READ)};
	const uint64_t longer[8] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH)};
	uint32_t skip = traced ? 0 : 1;
	struct rig w;

	rig_init(&w, 2);
	synth_round(w.synth, 1 * MS);
	synth_begin(w.synth, 1, 1 * MS, 100, 103, C, LCB_F_READ, longer, 8);
	synth_end(w.synth, 1, 2 * MS, 100, 103, C, 0);
	synth_begin(w.synth, 0, 10 * MS, 100, 101, A, LCB_F_SPIN | LCB_F_WRITE, outer + skip,
		    4 - skip);
	synth_begin(w.synth, 0, 11 * MS, 100, 101, B, LCB_F_SPIN, inner + skip, 5 - skip);
	synth_end(w.synth, 0, 12 * MS, 100, 101, B, 0);
	synth_end(w.synth, 0, 15 * MS, 100, 101, A, 0);
	rig_play(&w, NULL);
	assert_int_equal(rig_sum_type(w.engine.model, LOCK_RWLOCK_W).total_ns, 5 * MS);
	assert_int_equal(rig_sum_type(w.engine.model, LOCK_SPINLOCK).total_ns, 1 * MS);
	char *dump = rig_dump(w.engine.model);
	rig_deinit(&w);
	return dump;
}

static void another_tracer_changes_nothing(void **state)
{
	char *alone = spin_in_spin(false), *beside = spin_in_spin(true);

	(void)state;
	assert_string_equal(alone, beside);
	mem_free(alone);
	mem_free(beside);
}

/* More tasks wait at once than the table of tasks has room for. */
static void who_has_no_entry_is_in_all_sums(void **state)
{
	const struct model_limits limits = {
		.locks = 64, .stacks = 64, .tasks = 3, .cells = 64, .hist_groups = 64};
	enum { TASKS = 20 };

	(void)state;
	for (int i = 0; i < TASKS; i++) {
		begin(0, 10 + (uint64_t)i, 101 + i, A, LCB_F_WRITE);
		begin(0, 10 + (uint64_t)i, 201 + i, B, LCB_F_MUTEX | LCB_F_SPIN);
	}
	begin(0, 39, 205, B, LCB_F_MUTEX);
	synth_exit(r.synth, 0, 40 * MS, 100, 201);
	for (int i = 0; i < TASKS; i++) {
		end(1, 40 + 2 * (uint64_t)i, 101 + i, A);
		end(1, 40 + (uint64_t)i, 201 + i, B);
	}
	rig_play(&r, &limits);
	const struct model *m = r.engine.model;
	expect(LOCK_RWSEM_W, TASKS, TASKS * 30 + TASKS * (TASKS - 1) / 2);
	expect(LOCK_MUTEX, TASKS - 1, (TASKS - 1) * 30);
	assert_int_equal(m->damage->deep, 0);
	assert_int_equal(m->damage->unmatched_begin, 1);
	assert_int_equal(m->waits->in_flight, 0);
	assert_int_equal(m->untracked->in_use, 0);
}

static void who_sleeps_spins_no_more(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_SPIN); /* its end is missing */
	begin(0, 20, 102, B, LCB_F_WRITE);
	synth_tick(r.synth, 1000 * MS);
	const struct model *m = play();
	assert_int_equal(m->waits->in_flight, 1);
	assert_int_equal(m->damage->unmatched_begin, 1);
	assert_int_equal(rig_sum_type(m, LOCK_SPINLOCK).rate_wait_ns, 0);
}

static void an_exit_ends_what_the_task_waited_for(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_WRITE);
	synth_exit(r.synth, 0, 20 * MS, 100, 101);
	const struct model *m = play();
	assert_int_equal(m->waits->in_flight, 0);
	assert_int_equal(m->damage->unmatched_begin, 1);
}

static void a_tid_used_again_is_a_new_task(void **state)
{
	(void)state;
	synth_comm(r.synth, 0, 1 * MS, 100, 101, "old");
	begin(0, 10, 101, A, LCB_F_WRITE);
	end(0, 12, 101, A);
	synth_exit(r.synth, 0, 13 * MS, 100, 101);
	synth_comm(r.synth, 1, 1 * MS, 100, 100, "parent");
	synth_fork(r.synth, 1, 14 * MS, 100, 101, 100, 100);
	begin(1, 15, 101, A, LCB_F_WRITE);
	end(1, 18, 101, A);
	const struct model *m = play();
	assert_int_equal(m->cells->n, 2);
	assert_string_equal(m->tasks->tasks[m->cells->cells[0].task].comm, "old");
	assert_string_equal(m->tasks->tasks[m->cells->cells[1].task].comm, "parent");
	assert_int_not_equal(m->tasks->tasks[m->cells->cells[0].task].serial,
			     m->tasks->tasks[m->cells->cells[1].task].serial);
}

static void an_unfinished_wait_is_there_and_counts_in_its_buckets(void **state)
{
	(void)state;
	synth_round(r.synth, 1 * MS);
	begin(0, 500, 101, A, LCB_F_WRITE);
	synth_tick(r.synth, 1000 * MS);
	synth_tick(r.synth, 2000 * MS);
	end(0, 2250, 101, A);
	synth_tick(r.synth, 3000 * MS);
	const struct model *m;
	static const uint64_t want[] = {500, 1000, 250};
	for (unsigned i = 0; i < 3; i++) {
		rig_play_ticks(&r, NULL, 1);
		m = r.engine.model;
		assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).rate_wait_ns, want[i] * MS);
		assert_int_equal(series_at(m->wait_series, m->n_ticks, 0), want[i] * MS);
		assert_int_equal(m->waits->in_flight, i < 2);
	}
	expect(LOCK_RWSEM_W, 1, 1750);
	assert_int_equal(series_at(m->wait_series, m->n_ticks, 2), 500 * MS);
}

/* On PREEMPT_RT the rt-mutex in a lock is reported as well, within the wait of a reader. */
static void a_reader_of_preempt_rt_waits_once(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_RT | LCB_F_READ);
	begin(0, 11, 101, A + 8, LCB_F_RT);
	begin(1, 12, 102, A + 8, LCB_F_RT); /* a writer */
	end(0, 15, 101, A + 8);
	end(1, 16, 102, A + 8);
	end(0, 20, 101, A);
	const struct model *m = play();
	expect(LOCK_RWLOCK_RT_R, 1, 10);
	expect(LOCK_RT_MUTEX, 1, 4);
	assert_int_equal(m->damage->unmatched_begin + m->damage->unmatched_end, 0);
	assert_int_equal(m->waits->in_flight, 0);
}

/* Another rt-mutex is another wait, and so is that of a lock for which it is not sure that he
 * waits. */
static void only_the_rt_mutex_of_the_lock_is_left_out(void **state)
{
	(void)state;
	begin(0, 10, 101, A, LCB_F_RT | LCB_F_READ);
	begin(0, 11, 101, A + 16, LCB_F_RT);
	end(0, 15, 101, A + 16);
	end(0, 20, 101, A);
	end(0, 21, 101, A + 8);
	begin(0, 30, 102, A, LCB_F_RT | LCB_F_WRITE);
	begin(0, 31, 102, A + 8, LCB_F_RT);
	end(0, 33, 102, A + 8);
	end(0, 35, 102, A);
	const struct model *m = play();
	expect(LOCK_RWLOCK_RT_R, 1, 10);
	expect(LOCK_RWLOCK_RT_W, 1, 5);
	expect(LOCK_RT_MUTEX, 2, 6);
	assert_int_equal(m->damage->unmatched_end, 1);
}

static void a_task_past_its_exit_is_known_by_the_trace_entry(void **state)
{
	(void)state;
	/* perf gives pid and tid -1 for a task that is unhashed; common_pid is still right: synth
	 * writes the given tid to both, so it is spoilt in the record afterwards. */
	begin(0, 10, 101, A, LCB_F_WRITE);
	end(0, 15, 101, A);
	synth_round(r.synth, 20 * MS);
	struct record *rec = synth_at(r.synth, synth_count(r.synth) - 2);
	uint64_t *words = (uint64_t *)(uintptr_t)rec->data;
	assert_int_equal(words[2] >> 32, 101);
	words[2] = UINT64_MAX;
	play();
	expect(LOCK_RWSEM_W, 1, 5);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Flags are those of a spinlock; another program may trace the event as well. */
static void a_resilient_spinlock_is_known_by_its_function(void **state)
{
	const uint64_t chain[] = {synth_addr(SYNTH_TRACEITER_BEGIN),
				  synth_addr(SYNTH_RESILIENT_SLOWPATH),
				  synth_addr(SYNTH_PIPE_WRITE)},
		       others[] = {synth_addr(SYNTH_QSPIN_SLOWPATH),
				   synth_addr(SYNTH_RESILIENT_SLOWPATH)};

	(void)state;
	synth_begin(r.synth, 0, 10 * MS, 100, 101, A, LCB_F_SPIN, chain, 3);
	synth_end(r.synth, 0, 12 * MS, 100, 101, A, 0);
	synth_begin(r.synth, 0, 13 * MS, 100, 101, A, LCB_F_SPIN, chain + 1, 2);
	synth_end(r.synth, 0, 17 * MS, 100, 101, A, 0);
	synth_begin(r.synth, 0, 20 * MS, 100, 101, B, LCB_F_SPIN, others, 2);
	synth_end(r.synth, 0, 21 * MS, 100, 101, B, 0);
	synth_begin(r.synth, 0, 30 * MS, 100, 101, C, LCB_F_SPIN, NULL, 0);
	synth_end(r.synth, 0, 31 * MS, 100, 101, C, 0);
	synth_begin(r.synth, 0, 40 * MS, 100, 101, A, LCB_F_SPIN | LCB_F_WRITE, chain, 3);
	synth_end(r.synth, 0, 41 * MS, 100, 101, A, 0);
	synth_begin(r.synth, 0, 50 * MS, 100, 101, A, LCB_F_SPIN, chain, 3);
	synth_end(r.synth, 0, 55 * MS, 100, 101, A, -35 /* EDEADLK */);
	const struct model *m = play();
	expect(LOCK_RQSPINLOCK, 2, 6);
	expect(LOCK_SPINLOCK, 2, 2);
	expect(LOCK_RWLOCK_W, 1, 1);
	assert_int_equal(m->damage->unmatched_begin + m->damage->unmatched_end, 0);
	assert_int_equal(rig_sum_type(m, LOCK_RQSPINLOCK).failed, 1);
	assert_string_equal(locktype_name(LOCK_RQSPINLOCK), "rqspinlock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_wait_begins_and_ends_on_different_cpus),
		T(readers_and_writers_are_two_rows),
		T(a_mutex_spins_then_sleeps_and_is_one_wait),
		T(a_spinlock_nests_in_a_sleeping_wait),
		T(sleeping_waits_nest_when_the_chain_says_so),
		T(a_wait_that_has_moved_on_is_unmatched),
		T(an_interrupt_spins_on_top_of_a_spinner),
		T(swapper_spins_on_two_cpus_at_once),
		T(a_spin_wait_of_a_task_that_left_the_cpu_is_unmatched),
		T(a_failed_acquisition_counts_apart),
		T(a_resilient_spinlock_is_known_by_its_function),
		T(an_end_without_begin_is_unmatched),
		T(the_same_lock_anew_means_a_lost_end),
		T(loss_makes_waits_in_flight_doubtful),
		T(a_gap_begins_at_the_record_before_it),
		T(a_gap_of_another_cpu_is_nothing_to_who_spins),
		T(a_mutex_is_sure_only_of_who_was_heard_of_since),
		T(what_is_dropped_makes_later_waits_doubtful),
		T(the_tally_of_losses_adds_what_was_not_told),
		T(another_tracer_changes_nothing),
		T(who_has_no_entry_is_in_all_sums),
		T(who_sleeps_spins_no_more),
		T(an_exit_ends_what_the_task_waited_for),
		T(a_tid_used_again_is_a_new_task),
		T(an_unfinished_wait_is_there_and_counts_in_its_buckets),
		T(a_reader_of_preempt_rt_waits_once),
		T(only_the_rt_mutex_of_the_lock_is_left_out),
		T(a_task_past_its_exit_is_known_by_the_trace_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
