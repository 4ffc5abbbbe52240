// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that BPF reports, in place of perf's events: decoded, paired and summed up like those;
 * records that could not be written are counted as lost, invalid ones as bad.
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
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/model-cpu.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { FRAMES = 3 };

static const uint64_t frames[FRAMES] = {0xffffffff81000100ull, 0xffffffff81000200ull,
					0xffffffff81000300ull};

static struct waitrec_begin begin(uint32_t flags)
{
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
				  .lock = LOCK,
				  .cgroup = 5,
				  .flags = flags,
				  .tid = 701,
				  .n_frames = FRAMES};

	for (int i = 0; i < FRAMES; i++)
		b.frames[i] = frames[i];
	return b;
}

static struct waitrec_end end(int ret)
{
	return (struct waitrec_end){
		.magic = WAITREC_END_MAGIC, .lock = LOCK, .ret = ret, .tid = 701};
}

static struct waitrec_release release(void)
{
	return (struct waitrec_release){.magic = WAITREC_RELEASE_MAGIC, .lock = LOCK, .tid = 702};
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void report_begin(struct asked *w, uint64_t t, int tid, struct waitrec_begin b)
{
	synth_wait_begin(w->rig.synth, 0, CANNED_START + t, 700, tid, &b);
}

static void report_end(struct asked *w, uint64_t t, int tid, struct waitrec_end e)
{
	synth_wait_end(w->rig.synth, 0, CANNED_START + t, 700, tid, &e);
}

static struct table play(struct asked *w)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
	return asked_locks(w, (struct query_spec){.by = BY_LOCK});
}

static void waits_are_paired(void **state)
{
	struct asked *w = *state;

	start(w);
	report_begin(w, 10 * MS, 701, begin(LCB_F_WRITE));
	report_end(w, 13 * MS, 701, end(0));
	report_begin(w, 20 * MS, 702, begin(LCB_F_WRITE));
	report_end(w, 25 * MS, 702, end(-4));
	struct table t = play(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 3 * MS);
	assert_int_equal(cell_u(&t, 0, "failed"), 1);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->n_events, 4);
	assert_int_equal(model_damage(m).no_stack, 0);
	assert_int_equal(m->stacks->stacks[1].n, FRAMES);
	assert_memory_equal(stack_frames(m->stacks, 1), frames, sizeof(frames));
}

static void releases_end_holds(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;
	struct waitrec_release r = release();

	start(w);
	report_begin(w, 10 * MS, 701, begin(LCB_F_WRITE));
	synth_wait_release(w->rig.synth, 0, CANNED_START + 12 * MS, 700, 702, &r);
	report_end(w, 13 * MS, 701, end(0));
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, &limits);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->holds->releases, 1);
	assert_int_equal(m->holds->exact, 1);
	assert_int_equal(m->held->n, 1);
	assert_int_equal(m->held->cells[0].total_ns, 2 * MS);
	assert_int_equal(m->handed->n, 1);
	assert_int_equal(m->handed->cells[0].total_ns, 1 * MS);
	assert_int_equal(m->n_events, 2);
}

/* A task past its exit has no number for perf, which the program still knows. */
static void the_program_knows_who_exits(void **state)
{
	struct asked *w = *state;

	start(w);
	report_begin(w, 10 * MS, -1, begin(LCB_F_READ));
	report_end(w, 12 * MS, -1, end(0));
	struct table t = play(w);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 2 * MS);
	assert_non_null(map64_get(&w->rig.engine.model->tasks->by_tid, 701));
}

static void what_could_not_be_written_is_lost(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE);
	struct asked *w = *state;

	b.missed = 3;
	start(w);
	report_begin(w, 10 * MS, 701, b);
	report_end(w, 12 * MS, 701, end(0));
	play(w);
	assert_int_equal(model_damage(w->rig.engine.model).lost, 3);
	assert_int_equal(w->rig.engine.model->cpus[0].lost, 3);
}

/* 0.1.0 wrote only how many are missing before a begin, not whether there was no room for them. */
static void what_older_recordings_miss_is_a_gap(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE), missed = b;
	struct asked *w = *state;

	b.lock += 64;
	missed.missed = 3;
	start(w);
	report_begin(w, 10 * MS, 702, b);
	report_begin(w, 11 * MS, 701, missed);
	report_end(w, 12 * MS, 701, end(0));
	play(w);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->waits->in_flight, 1);
	assert_true(m->waits->waits[1].used && m->waits->waits[1].doubtful);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).n, 1);
}

static void what_an_interrupt_waited_for_is_no_gap(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE), missed = b;
	struct asked *w = *state;

	b.lock += 64;
	missed.missed = 2;
	start(w);
	synth_set_misc(w->rig.synth, WAITREC_REPORTS_GAPS);
	report_begin(w, 10 * MS, 702, b);
	report_begin(w, 11 * MS, 701, missed);
	play(w);
	assert_int_equal(w->rig.engine.model->cpus[0].lost, 2);
	assert_false(w->rig.engine.model->waits->waits[1].doubtful);
}

static void no_chain_is_said(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE);
	struct asked *w = *state;

	b.n_frames = 0;
	start(w);
	report_begin(w, 10 * MS, 701, b);
	report_end(w, 12 * MS, 701, end(0));
	play(w);
	assert_int_equal(model_damage(w->rig.engine.model).no_stack, 1);
}

static void bad_records_are_counted(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE);
	const unsigned int magics[] = {WAITREC_BEGIN_MAGIC, WAITREC_END_MAGIC,
				       WAITREC_RELEASE_MAGIC, 77};
	struct asked *w = *state;

	start(w);
	b.n_frames = WAITREC_FRAMES + 1;
	report_begin(w, 10 * MS, 701, b);
	b.n_frames = FRAMES; /* and fewer bytes than that */
	synth_output(w->rig.synth, 0, CANNED_START + 11 * MS, 700, 701, &b.magic,
		     offsetof(struct waitrec_begin, frames) - sizeof(b.size) + 16);
	for (size_t i = 0; i < 4; i++)
		synth_output(w->rig.synth, 0, CANNED_START + 12 * MS + i, 700, 701, &magics[i],
			     sizeof(magics[i]));
	play(w);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 5);
	assert_int_equal(w->rig.engine.model->n_events, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits_are_paired),
		TEST(releases_end_holds),
		TEST(the_program_knows_who_exits),
		TEST(what_could_not_be_written_is_lost),
		TEST(what_older_recordings_miss_is_a_gap),
		TEST(what_an_interrupt_waited_for_is_no_gap),
		TEST(no_chain_is_said),
		TEST(bad_records_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
