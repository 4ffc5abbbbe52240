// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of a stream that was made in a PID namespace. Perf has no number for tasks outside of it:
 * the trace entry distinguishes these tasks, BPF gives their names, and no number means two tasks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/pidns.h"
#include "kontend/taskid.h"
#include "kontend/taskrec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

static const uint64_t chain[] = {0xffffffff81020010, 0xffffffff81001010, 0xffffffff81004010};

static void begin(struct asked *w, uint32_t cpu, uint64_t ms, int tid)
{
	synth_begin(w->rig.synth, cpu, CANNED_START + ms * MS, tid, tid, LOCK, LCB_F_WRITE, chain,
		    3);
}

static void end(struct asked *w, uint32_t cpu, uint64_t ms, int tid)
{
	synth_end(w->rig.synth, cpu, CANNED_START + ms * MS, tid, tid, LOCK, 0);
}

static struct table play(struct asked *w, enum query_by by)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	return asked_locks(w, (struct query_spec){.by = by});
}

static size_t row_of(const struct table *t, const char *task)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!strcmp(cell_s(t, i, "task"), task))
			return i;
	fail_msg("no row of %s", task);
	return 0;
}

static void numbers_are_shown(void **state)
{
	char buf[TASKID_TEXT];

	(void)state;
	assert_string_equal(taskid_text(buf, 812), "812");
	assert_string_equal(taskid_text(buf, taskid_outside(812)), "812@host");
	assert_string_equal(taskid_text(buf, -1), "-1");
	assert_int_equal(taskid_number(taskid_outside(812)), -812);
	assert_int_equal(taskid_number(812), 812);
	assert_false(taskid_is_outside(1 << 22));
}

static void a_stream_says_where_it_was_made(void **state)
{
	char method[32];

	(void)state;
	pidns_say(method, sizeof(method), "perf ring");
	assert_int_equal(pidns_said(method), pidns_own());
	assert_int_equal(pidns_said("perf ring"), PIDNS_INITIAL);
	assert_int_equal(pidns_said("perf ring in PID ns 4026532201"), 4026532201u);
	assert_int_equal(pidns_said("perf ring in PID ns x"), PIDNS_INITIAL);
	assert_true(pidns_is_ours(method));
	assert_true(pidns_is_ours("perf.data"));
	assert_false(pidns_is_ours("BPF ring in PID ns 7"));
}

/* For perf both are 0: taken for one task, the second wait would end the first. */
static void waits_outside_are_told_apart(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 2);
	synth_set_inside(w->rig.synth, 99);
	begin(w, 0, 10, 812);
	begin(w, 1, 11, 813);
	end(w, 0, 14, 812);
	end(w, 1, 21, 813);
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, row_of(&t, "-/812@host"), "total_ns"), 4 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "-/813@host"), "total_ns"), 10 * MS);
	assert_int_equal(cell_at(&t, row_of(&t, "-/813@host"), "tid")->i, -813);
	assert_int_equal(model_damage(w->rig.engine.model).unmatched_begin, 0);
}

/* 5 inside is not 5 of the host, and the idle task is no task outside. */
static void no_number_means_two_tasks(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 2);
	synth_comm(w->rig.synth, 0, CANNED_START, 5, 5, "ours");
	synth_set_inside(w->rig.synth, 0);
	begin(w, 0, 2, 0);
	end(w, 0, 3, 0);
	synth_set_inside(w->rig.synth, 9);
	begin(w, 0, 10, 5);
	end(w, 0, 14, 5);
	synth_set_inside(w->rig.synth, 4);
	begin(w, 0, 20, 5);
	end(w, 0, 27, 5);
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 3);
	assert_int_equal(cell_u(&t, row_of(&t, "swapper/0"), "total_ns"), 1 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "ours/5"), "total_ns"), 4 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "-/5@host"), "total_ns"), 7 * MS);
}

static void report_task(struct asked *w, uint64_t ms, enum taskrec_what what, int pid, int tid,
			const char *comm)
{
	struct taskrec r = {.magic = TASKREC_MAGIC,
			    .what = what,
			    .pid = taskid_outside(pid),
			    .tid = taskid_outside(tid),
			    .ppid = taskid_outside(811),
			    .ptid = taskid_outside(811)};

	snprintf(r.comm, sizeof(r.comm), "%s", comm);
	synth_output(w->rig.synth, 0, CANNED_START + ms * MS, 0, 0, &r, sizeof(r));
}

static void tasks_outside_have_names_and_ends(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_comm(w->rig.synth, 0, CANNED_START, taskid_outside(811), taskid_outside(811), "old");
	synth_set_inside(w->rig.synth, 99);
	begin(w, 0, 1, 811);
	end(w, 0, 2, 811);
	report_task(w, 3, TASKREC_FORK, 811, 812, "");
	begin(w, 0, 4, 812);
	end(w, 0, 6, 812);
	report_task(w, 7, TASKREC_COMM, 811, 812, "new");
	begin(w, 0, 10, 812);
	report_task(w, 12, TASKREC_EXIT, 811, 812, "");
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, row_of(&t, "old/811@host"), "total_ns"), 1 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "new/812@host"), "total_ns"), 2 * MS);
	assert_int_equal(cell_at(&t, row_of(&t, "new/812@host"), "pid")->i, -811);
	assert_int_equal(model_damage(w->rig.engine.model).unmatched_begin, 1);
}

/* Records of perf about tasks outside are of no known task; least of all of the idle task. */
static void records_of_nobody_are_passed_over(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	begin(w, 0, 1, 0);
	end(w, 0, 2, 0);
	synth_comm(w->rig.synth, 0, CANNED_START + 3 * MS, 0, 0, "outside");
	synth_fork(w->rig.synth, 0, CANNED_START + 4 * MS, 0, 0, 0, 0);
	synth_exit(w->rig.synth, 0, CANNED_START + 5 * MS, 0, 0);
	synth_fork(w->rig.synth, 0, CANNED_START + 6 * MS, 7, 7, 0, 0);
	synth_set_inside(w->rig.synth, 99);
	begin(w, 0, 8, 7);
	end(w, 0, 9, 7);
	struct table t = play(w, BY_TASK);
	assert_int_equal(cell_u(&t, row_of(&t, "swapper/0"), "total_ns"), 1 * MS);
	assert_int_equal(cell_u(&t, row_of(&t, "-/7"), "total_ns"), 1 * MS);
}

enum { TASKS = 12, WAITS = 400 };

/* A story of waits, as recorded within a namespace in which tasks up to @inside are; 0: from the
 * initial one. Its result, with the task's number in the initial one. */
static void totals(int inside, uint32_t seed, uint64_t ret[TASKS])
{
	bool waits[TASKS] = {0};
	void *state;

	assert_int_equal(asked_setup_empty(&state), 0);
	struct asked *w = state;
	rig_init(&w->rig, 2);
	synth_set_inside(w->rig.synth, inside);
	for (uint64_t ms = 1; ms < WAITS; ms++) {
		seed = seed * 1664525 + 1013904223;
		uint32_t i = (seed >> 8) % TASKS;
		if (waits[i])
			end(w, 0, ms, (int)i + 1);
		else
			begin(w, 0, ms, (int)i + 1);
		waits[i] = !waits[i];
	}
	struct table t = play(w, BY_TASK);
	assert_int_equal(t.n_rows, TASKS);
	for (size_t i = 0; i < t.n_rows; i++) {
		int64_t tid = cell_at(&t, i, "tid")->i;
		assert_true(inside ? tid < 0 ? -tid > inside : tid <= inside : tid > 0);
		ret[llabs(tid) - 1] = cell_u(&t, i, "total_ns");
	}
	asked_teardown(&state);
}

static void the_same_is_seen_from_everywhere(void **state)
{
	uint64_t outside[TASKS], inside[TASKS];

	(void)state;
	for (uint32_t seed = 1; seed < 40; seed++) {
		totals(0, seed, outside);
		totals(1 + (int)seed % TASKS, seed, inside);
		assert_memory_equal(outside, inside, sizeof(outside));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_shown),
		cmocka_unit_test(a_stream_says_where_it_was_made),
		cmocka_unit_test(the_same_is_seen_from_everywhere),
		TEST(waits_outside_are_told_apart),
		TEST(no_number_means_two_tasks),
		TEST(tasks_outside_have_names_and_ends),
		TEST(records_of_nobody_are_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
