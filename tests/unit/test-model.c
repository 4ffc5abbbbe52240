// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model as a whole: sums, names, budget. And two properties over random streams: how the
 * records were batched does not matter, and folding changes who waited but never how much.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "rig.h"

#define MS 1000000ull

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

enum { TASKS = 40, CPUS = 4 };

/* Random but well-formed: each task begins and ends waits on one of many locks, from many sites. */
static void random_stream(struct synth *s, unsigned events, unsigned locks, unsigned every,
			  uint32_t seed, uint64_t start)
{
	static const uint32_t kinds[] = {LCB_F_READ, LCB_F_WRITE, LCB_F_MUTEX,
					 LCB_F_PERCPU | LCB_F_READ};
	uint64_t held[TASKS] = {0}, t = start;

	for (unsigned i = 0; i < events; i++) {
		unsigned k = rnd(&seed) % TASKS, lock = rnd(&seed) % locks;
		uint64_t chain[3] = {0xffffffff81020010, 0xffffffff81001000 + lock % 64 * 16,
				     0xffffffff81004010};
		t += 1 + rnd(&seed) % 5000;
		if (held[k]) {
			synth_end(s, rnd(&seed) % CPUS, t, 10, 100 + (int)k, held[k], 0);
			held[k] = 0;
		} else {
			held[k] = 0xffff888000000000 + lock * 64;
			synth_begin(s, k % CPUS, t, 10, 100 + (int)k, held[k], kinds[lock % 4],
				    chain, 3);
		}
		if (i % every == every - 1)
			synth_round(s, t);
	}
	synth_round(s, t);
}

static char *dump_of(unsigned every, const struct model_limits *limits)
{
	struct rig r;

	rig_init(&r, CPUS);
	random_stream(r.synth, 20000, 300, every, 99, MS);
	rig_play(&r, limits);
	char *text = rig_dump(r.engine.model);
	assert_int_equal(r.engine.model->damage->unmatched_begin, 0);
	assert_int_equal(r.engine.model->damage->unmatched_end, 0);
	rig_deinit(&r);
	return text;
}

static void batching_does_not_matter(void **state)
{
	char *one = dump_of(1, NULL), *seven = dump_of(7, NULL), *all = dump_of(20000, NULL);

	(void)state;
	assert_true(strlen(one) > 100000);
	assert_string_equal(one, seven);
	assert_string_equal(one, all);
	mem_free(one);
	mem_free(seven);
	mem_free(all);
}

static void folding_keeps_what_was_waited(void **state)
{
	const struct model_limits small = {.held = 32,
					   .blame = 48,
					   .locks = 64,
					   .stacks = 32,
					   .tasks = 64,
					   .cells = 256,
					   .hist_groups = 4096};
	struct rig full, folded;

	(void)state;
	rig_init(&full, CPUS);
	rig_init(&folded, CPUS);
	random_stream(full.synth, 60000, 5000, 50, 5, MS);
	random_stream(folded.synth, 60000, 5000, 50, 5, MS);
	rig_play(&full, NULL);
	rig_play(&folded, &small);
	const struct model *m = folded.engine.model;
	assert_true(m->damage->folded > 0);
	assert_true(m->cells->n <= small.cells);
	assert_true(m->locks->n <= small.locks);
	assert_true(m->stacks->n <= small.stacks);
	for (unsigned t = 0; t < LOCK_TYPES; t++) {
		struct rig_sum a = rig_sum_type(full.engine.model, t);
		struct rig_sum b = rig_sum_type(m, t);
		assert_int_equal(a.n, b.n);
		assert_int_equal(a.total_ns, b.total_ns);
		assert_int_equal(a.min_ns, b.min_ns);
		assert_int_equal(a.max_ns, b.max_ns);
		assert_int_equal(a.n, m->types[t].contended);
	}
	assert_true(m->blame->folded > 0 && m->blame->n <= small.blame);
	assert_int_equal(rig_blamed_ns(m), rig_waited_ns(m));
	rig_deinit(&full);
	rig_deinit(&folded);
}

static void memory_stays_within_the_budget(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, CPUS);
	random_stream(r.synth, 400000, 60000, 500, 17, MS);
	rig_play(&r, NULL);
	assert_true(r.engine.model->damage->folded > 0);
	assert_true(model_bytes(r.engine.model) < 40u << 20);
	rig_deinit(&r);
}

static void tasks_have_names_and_cgroups(void **state)
{
	struct rig r;
	const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};

	(void)state;
	rig_init(&r, 2);
	synth_cgroup(r.synth, 0, 1, 42, "/system.slice/db");
	synth_comm(r.synth, 0, 2, 10, 10, "db");
	synth_comm(r.synth, 0, 3, 10, 11, "db-writer");
	synth_set_cgroup(r.synth, 42);
	synth_begin(r.synth, 1, 5 * MS, 10, 11, 0x1000, LCB_F_WRITE, chain, 2);
	rig_play(&r, NULL);
	const struct model *m = r.engine.model;
	const struct task *t = &m->tasks->tasks[m->waits->waits[1].task];
	assert_int_equal(t->pid, 10);
	assert_int_equal(t->tid, 11);
	assert_string_equal(t->comm, "db-writer");
	assert_string_equal(task_cgroup_path(m->tasks, t->cgroup), "/system.slice/db");
	assert_null(task_cgroup_path(m->tasks, 43));
	rig_deinit(&r);
}

static void zero_forgets_sums_but_not_waiters(void **state)
{
	struct rig r;
	const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};

	(void)state;
	rig_init(&r, 2);
	synth_begin(r.synth, 0, 1 * MS, 10, 11, 0x1000, LCB_F_WRITE, chain, 2);
	synth_end(r.synth, 0, 2 * MS, 10, 11, 0x1000, 0);
	synth_begin(r.synth, 0, 3 * MS, 10, 11, 0x1000, LCB_F_WRITE, chain, 2);
	synth_tick(r.synth, 10 * MS);
	synth_end(r.synth, 0, 12 * MS, 10, 11, 0x1000, 0);
	rig_play_ticks(&r, NULL, 1);
	struct model *m = r.engine.model;
	uint64_t generation = m->generation;
	model_zero(m);
	assert_true(m->generation > generation);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).n, 0);
	assert_int_equal(m->waits->in_flight, 1);
	rig_play(&r, NULL);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).n, 1);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).total_ns, 9 * MS);
	assert_int_equal(m->types[LOCK_RWSEM_W].contended, 1);
	rig_deinit(&r);
}

static void rates_are_those_of_the_closed_bucket(void **state)
{
	struct rig r;
	const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010};

	(void)state;
	rig_init(&r, 2);
	synth_round(r.synth, 1000 * MS);
	for (unsigned i = 0; i < 10; i++) {
		synth_begin(r.synth, 1, (1100 + i * 10) * MS, 10, 11, 0x1000, LCB_F_SPIN, chain, 2);
		synth_end(r.synth, 1, (1104 + i * 10) * MS, 10, 11, 0x1000, 0);
	}
	synth_tick(r.synth, 1500 * MS);
	rig_play(&r, NULL);
	const struct model *m = r.engine.model;
	assert_int_equal(m->rate_ns, 500 * MS);
	assert_int_equal(m->rate_n, 10);
	assert_int_equal(m->cpus[1].rate_n, 10);
	assert_int_equal(m->cpus[1].rate_wait_ns, 40 * MS);
	assert_int_equal(m->cpus[1].rate_spin_ns, 40 * MS);
	assert_int_equal(m->types[LOCK_SPINLOCK].rate_wait_ns, 40 * MS);
	rig_deinit(&r);
}

/* A model that runs out of memory at any place counts the event as dropped and goes on. */
static void lack_of_memory_never_breaks_it(void **state)
{
	(void)state;
	for (long k = 0; k < 300; k += 1 + k / 20) {
		struct rig r;
		rig_init(&r, CPUS);
		random_stream(r.synth, 2000, 100, 100, 3, MS);
		rig_play_ticks(&r, NULL, 0); /* sets the engine up */
		mem_fail_after(k);
		struct error err = {0};
		int e;
		while ((e = engine_pump(&r.engine, 0, &err)) != ENGINE_END && e >= 0)
			;
		mem_fail_after(-1);
		assert_true(e == ENGINE_END || e == -ENOMEM);
		rig_deinit(&r);
	}
}

/* A copy made in the middle and played to the end equals the original played to the end. */
static void a_copy_goes_on_like_the_original(void **state)
{
	const struct model_limits small = {.held = 32,
					   .blame = 48,
					   .locks = 200,
					   .stacks = 64,
					   .tasks = 64,
					   .cells = 1024,
					   .hist_groups = 8192};
	struct rig r, half;
	struct model middle;

	(void)state;
	rig_init(&r, CPUS);
	random_stream(r.synth, 10000, 300, 40, 8, MS);
	synth_tick(r.synth, 100 * MS);
	random_stream(r.synth, 10000, 2000, 40, 9, 101 * MS);
	synth_tick(r.synth, 200 * MS);
	rig_play_ticks(&r, &small, 1);
	assert_int_equal(model_copy(&middle, r.engine.model), 0);
	char *then = rig_dump(&middle), *now = rig_dump(r.engine.model);
	assert_string_equal(then, now);
	/* Going on with the original does not touch the copy. */
	rig_play(&r, &small);
	char *later = rig_dump(&middle), *last = rig_dump(r.engine.model);
	assert_string_equal(then, later);
	assert_string_not_equal(later, last);
	/* The copy, given the second half by an engine of its own, ends where the original did. */
	rig_init(&half, CPUS);
	random_stream(half.synth, 10000, 2000, 40, 9, 101 * MS);
	synth_tick(half.synth, 200 * MS);
	rig_play_ticks(&half, &small, 0);
	model_deinit(half.engine.model);
	*half.engine.model = middle;
	rig_play(&half, &small);
	char *again = rig_dump(half.engine.model);
	assert_string_equal(again, last);
	rig_deinit(&half);
	rig_deinit(&r);
	char *texts[] = {then, now, later, last, again};
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		mem_free(texts[i]);
}

static void a_copy_without_memory_is_empty(void **state)
{
	struct rig r;
	struct model copy;
	unsigned failed = 0;

	(void)state;
	rig_init(&r, CPUS);
	random_stream(r.synth, 3000, 100, 40, 8, MS);
	synth_tick(r.synth, 100 * MS);
	rig_play(&r, NULL);
	for (long k = 0; k < 200; k++) {
		mem_fail_after(k);
		int e = model_copy(&copy, r.engine.model);
		mem_fail_after(-1);
		failed += e == -ENOMEM;
		if (!e)
			model_deinit(&copy);
	}
	assert_true(failed > 10 && failed < 200);
	rig_deinit(&r);
}

static void state_of_cpu(struct synth *s, uint32_t cpu, enum record_cpu_state online)
{
	struct record_cpu state = {.cpu = cpu, .online = online};

	synth_record(s, RECORD_CPU, cpu, &state, sizeof(state));
}

/* Events on a CPU between its coming up and our opening it again were not seen. */
static void a_cpu_that_comes_back_makes_waits_doubtful(void **state)
{
	uint64_t chain[] = {0xffffffff81001000};
	struct rig r;

	(void)state;
	rig_init(&r, CPUS);
	synth_begin(r.synth, 1, MS, 10, 10, 0xffff888000000100, LCB_F_MUTEX, chain, 1);
	synth_begin(r.synth, 2, MS, 11, 11, 0xffff888000000200, LCB_F_MUTEX, chain, 1);
	synth_round(r.synth, 2 * MS);
	state_of_cpu(r.synth, 2, RECORD_CPU_OFFLINE);
	synth_end(r.synth, 1, 3 * MS, 10, 10, 0xffff888000000100, 0);
	synth_tick(r.synth, 4 * MS);
	state_of_cpu(r.synth, 2, RECORD_CPU_ONLINE);
	synth_end(r.synth, 1, 5 * MS, 11, 11, 0xffff888000000200, 0);
	synth_tick(r.synth, 6 * MS);
	rig_play_ticks(&r, NULL, 1);
	assert_true(r.engine.model->cpus[2].offline);
	assert_int_equal(r.engine.model->damage->doubtful, 0);
	rig_play(&r, NULL);
	assert_false(r.engine.model->cpus[2].offline);
	assert_int_equal(rig_sum_type(r.engine.model, LOCK_MUTEX).n, 1);
	assert_int_equal(r.engine.model->damage->doubtful, 1);
	rig_deinit(&r);
}

/* One wait of each of two tasks goes on meanwhile, and one begins when the CPU is back. */
static void play_return(enum record_cpu_state how, uint64_t *ret_sure, uint64_t *ret_doubtful)
{
	uint64_t chain[] = {0xffffffff81001000};
	struct rig r;

	rig_init(&r, CPUS);
	synth_begin(r.synth, 1, MS, 10, 10, 0xffff888000000100, LCB_F_WRITE, chain, 1);
	synth_begin(r.synth, 1, MS + 1, 12, 12, 0xffff888000000300, LCB_F_SPIN, chain, 1);
	state_of_cpu(r.synth, 2, RECORD_CPU_OFFLINE);
	synth_round(r.synth, 2 * MS);
	if (how == RECORD_CPU_REPORTED)
		synth_lost(r.synth, 2, 3 * MS, 0);
	state_of_cpu(r.synth, 2, how);
	synth_end(r.synth, 1, 4 * MS - 1, 12, 12, 0xffff888000000300, 0);
	synth_end(r.synth, 1, 4 * MS, 10, 10, 0xffff888000000100, 0);
	synth_begin(r.synth, 2, 4 * MS, 11, 11, 0xffff888000000200, LCB_F_WRITE, chain, 1);
	synth_end(r.synth, 1, 5 * MS, 11, 11, 0xffff888000000200, 0);
	synth_tick(r.synth, 6 * MS);
	rig_play(&r, NULL);
	assert_false(r.engine.model->cpus[2].offline);
	*ret_sure = rig_sum_type(r.engine.model, LOCK_RWSEM_W).n +
		    rig_sum_type(r.engine.model, LOCK_SPINLOCK).n;
	*ret_doubtful = r.engine.model->damage->doubtful;
	rig_deinit(&r);
}

/* Only while records are missing, if it is known until when; never if all waits are reported. */
static void doubt_about_a_cpu_lasts_as_long_as_what_is_missing(void **state)
{
	uint64_t sure, doubtful;

	(void)state;
	play_return(RECORD_CPU_ONLINE, &sure, &doubtful);
	assert_int_equal(sure, 0);
	assert_int_equal(doubtful, 3);
	play_return(RECORD_CPU_REPORTED, &sure, &doubtful);
	assert_int_equal(sure, 2);
	assert_int_equal(doubtful, 1);
	play_return(RECORD_CPU_WAITS_WHOLE, &sure, &doubtful);
	assert_int_equal(sure, 3);
	assert_int_equal(doubtful, 0);
}

/* The time to open and to read existing state is not part of the time that rates are taken over. */
static void time_counts_from_the_start(void **state)
{
	const uint64_t start = 500 * MS;
	struct rig r;

	(void)state;
	rig_init(&r, CPUS);
	synth_tick(r.synth, 100 * MS);
	synth_record(r.synth, RECORD_START, 0, &start, sizeof(start));
	synth_tick(r.synth, 800 * MS);
	rig_play_ticks(&r, NULL, 1);
	assert_int_equal(r.engine.model->now_ns, 100 * MS);
	rig_play(&r, NULL);
	assert_int_equal(r.engine.model->start_ns, start);
	assert_int_equal(r.engine.model->zero_ns, start);
	assert_int_equal(r.engine.model->rate_ns, 300 * MS);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batching_does_not_matter),
		cmocka_unit_test(folding_keeps_what_was_waited),
		cmocka_unit_test(memory_stays_within_the_budget),
		cmocka_unit_test(tasks_have_names_and_cgroups),
		cmocka_unit_test(zero_forgets_sums_but_not_waiters),
		cmocka_unit_test(rates_are_those_of_the_closed_bucket),
		cmocka_unit_test(a_cpu_that_comes_back_makes_waits_doubtful),
		cmocka_unit_test(doubt_about_a_cpu_lasts_as_long_as_what_is_missing),
		cmocka_unit_test(time_counts_from_the_start),
		cmocka_unit_test(lack_of_memory_never_breaks_it),
		cmocka_unit_test(a_copy_goes_on_like_the_original),
		cmocka_unit_test(a_copy_without_memory_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
