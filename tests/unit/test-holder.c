// SPDX-License-Identifier: GPL-2.0-only
/*
 * States of lock holders while others wait: decoded from the records of the BPF program; records
 * that make no sense are counted as bad, tasks are named by them, and each has a line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/damage.h"
#include "kontend/decode.h"
#include "kontend/script.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/wait.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { FRAMES = 3 };

static struct holdrec holder(enum holdrec_what what, enum holdrec_state state)
{
	return (struct holdrec){.magic = HOLDREC_MAGIC,
				.lock = LOCK,
				.pid = 700,
				.tid = 701,
				.what = what,
				.state = state,
				.comm = "holder"};
}

static struct holdrec by_reader(enum holdrec_what what, enum holdrec_state state)
{
	struct holdrec r = holder(what, state);

	r.hint = 1;
	return r;
}

static struct holdrec with_other(struct holdrec r)
{
	r.other_pid = r.other_tid = 801;
	memcpy(r.other_comm, "other", 6);
	return r;
}

static struct holdrec with_frames(struct holdrec r)
{
	r.n_frames = FRAMES;
	r.frames[0] = synth_addr(SYNTH_MUTEX_LOCK);
	r.frames[1] = synth_addr(SYNTH_PIPE_READ);
	r.frames[2] = synth_addr(SYNTH_VFS_READ);
	return r;
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void report_holder(struct asked *w, uint64_t t, struct holdrec r)
{
	synth_holder(w->rig.synth, 0, CANNED_START + t, &r);
}

/* One record of each kind, as they come. */
static void tell_story(struct asked *w)
{
	struct holdrec reader = holder(HOLDREC_SEEN, HOLDREC_RUNNING);
	struct holdrec begun = {.magic = HOLDREC_MAGIC, .what = HOLDREC_BEGUN};
	struct holdrec stopped = {.magic = HOLDREC_MAGIC, .what = HOLDREC_STOPPED, .missed = 7};

	reader.hint = 1;
	reader.pid = reader.tid = 702 | TASKID_OUTSIDE;
	memcpy(reader.comm, "\x1b[31mred", 9);
	start(w);
	report_holder(w, 1 * MS, begun);
	report_holder(w, 2 * MS, reader);
	report_holder(w, 3 * MS, with_other(holder(HOLDREC_OFF, HOLDREC_RUNNABLE)));
	report_holder(w, 4 * MS, holder(HOLDREC_ON, HOLDREC_RUNNING));
	report_holder(w, 5 * MS, with_frames(with_other(holder(HOLDREC_OFF, HOLDREC_ASLEEP))));
	report_holder(w, 6 * MS, with_other(holder(HOLDREC_WOKEN, HOLDREC_RUNNABLE)));
	report_holder(w, 7 * MS, holder(HOLDREC_ON, HOLDREC_RUNNING));
	report_holder(w, 8 * MS, with_frames(holder(HOLDREC_OFF, HOLDREC_IO)));
	report_holder(w, 9 * MS, holder(HOLDREC_SEEN, HOLDREC_UNKNOWN));
	report_holder(w, 10 * MS, by_reader(HOLDREC_GOT, HOLDREC_RUNNING));
	report_holder(w, 11 * MS, by_reader(HOLDREC_GONE, HOLDREC_UNKNOWN));
	report_holder(w, 12 * MS, holder(HOLDREC_RELEASED, HOLDREC_RUNNING));
	report_holder(w, 13 * MS, stopped);
	synth_round(w->rig.synth, CANNED_START + 20 * MS);
}

struct seen {
	struct engine_watch watch;
	struct event events[16];
	size_t n;
};

static int take_event(struct engine_watch *watch, const struct event *ev, struct error *err)
{
	struct seen *s = (struct seen *)watch;

	(void)err;
	if (ev->kind == EVENT_HOLDER && s->n < 16) {
		assert_true(ev->holder.n_frames == 0 ||
			    ev->holder.frames[1] == synth_addr(SYNTH_PIPE_READ));
		s->events[s->n++] = *ev;
	}
	return 0;
}

static void events_say_what_records_do(void **state)
{
	struct seen s = {.watch.event = take_event};
	struct asked *w = *state;

	tell_story(w);
	rig_play_ticks(&w->rig, NULL, 0);
	w->rig.engine.watch = &s.watch;
	rig_play(&w->rig, NULL);
	assert_int_equal(s.n, 13);
	assert_int_equal(s.events[0].holder.what, HOLDREC_BEGUN);
	assert_int_equal(s.events[0].tid, 0);
	assert_true(s.events[1].holder.hint);
	assert_int_equal(s.events[1].tid, 702 | TASKID_OUTSIDE);
	assert_int_equal(s.events[2].time, CANNED_START + 3 * MS);
	assert_int_equal(s.events[2].pid, 700);
	assert_int_equal(s.events[2].tid, 701);
	assert_int_equal(s.events[2].holder.lock, LOCK);
	assert_int_equal(s.events[2].holder.state, HOLDREC_RUNNABLE);
	assert_int_equal(s.events[2].holder.other_tid, 801);
	assert_int_equal(s.events[4].holder.n_frames, FRAMES);
	assert_int_equal(s.events[7].holder.state, HOLDREC_IO);
	assert_int_equal(s.events[11].holder.what, HOLDREC_RELEASED);
	assert_int_equal(s.events[12].holder.missed, 7);
}

static void assert_comm(const struct model *m, uint32_t tid, const char *comm)
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, tid);

	assert_non_null(t);
	assert_string_equal(t ? m->tasks->tasks[*t].comm : NULL, comm);
}

/* A task without any other event. */
static void tasks_have_their_names(void **state)
{
	struct asked *w = *state;

	tell_story(w);
	asked_play(w, NULL);
	assert_comm(w->rig.engine.model, 701, "holder");
	assert_comm(w->rig.engine.model, 801, "other");
	assert_int_equal(model_damage(w->rig.engine.model).bad, 0);
}

static enum model_function is_first_frame(struct model_tracing *ask, uint64_t addr)
{
	(void)ask;
	return addr == synth_addr(SYNTH_MUTEX_LOCK) ? MODEL_FUNCTION_TRACING : MODEL_FUNCTION_OTHER;
}

/* The frame is in a chain if another program traces the scheduler, too. */
static void frames_of_the_tracing_are_left_out(void **state)
{
	struct model_tracing tracing = {.function = is_first_frame};
	struct asked *w = *state;

	tell_story(w);
	rig_play_ticks(&w->rig, NULL, 0);
	w->rig.engine.model->tracing = &tracing;
	rig_play(&w->rig, NULL);
	const struct stack_table *t = w->rig.engine.model->stacks;
	assert_int_equal(t->stacks[1].n, FRAMES - 1);
	assert_int_equal(stack_frames(t, 1)[0], synth_addr(SYNTH_PIPE_READ));
	w->rig.engine.model->tracing = NULL;
}

static void bad_records_are_counted(void **state)
{
	struct holdrec good = with_frames(holder(HOLDREC_OFF, HOLDREC_ASLEEP)), bad[8];
	const size_t before = sizeof(good.size), head = offsetof(struct holdrec, frames) - before;
	const unsigned int magic = HOLDREC_MAGIC;
	struct asked *w = *state;

	for (int i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].what = HOLDREC_WHATS;
	bad[1].state = HOLDREC_STATES;
	bad[2].hint = 2;
	bad[3].tid = 0;
	bad[4].n_frames = HOLDREC_FRAMES + 1;
	bad[5].n_frames = UINT32_MAX;
	memset(bad[6].comm, 'x', sizeof(bad[6].comm));
	memset(bad[7].other_comm, 'x', sizeof(bad[7].other_comm));
	start(w);
	for (int i = 0; i < 8; i++)
		report_holder(w, 5 * MS, bad[i]);
	/* Frames that are not there, a head that is cut, and nothing but whose record it is. */
	synth_output(w->rig.synth, 0, CANNED_START + 6 * MS, 1, 1, &good.magic, head + 16);
	synth_output(w->rig.synth, 0, CANNED_START + 6 * MS, 1, 1, &good.magic, head - 4);
	synth_output(w->rig.synth, 0, CANNED_START + 6 * MS, 1, 1, &magic, sizeof(magic));
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 11);
	assert_null(map64_get(&w->rig.engine.model->tasks->by_tid, 701));
}

/* It may be the first that is written after others found no room. */
static void one_behind_a_gap_tells_of_it(void **state)
{
	struct asked *w = *state;

	start(w);
	synth_begin(w->rig.synth, 0, CANNED_START + MS, 700, 701, LOCK, LCB_F_WRITE, NULL, 0);
	synth_set_misc(w->rig.synth, WAITREC_REPORTS_GAPS | WAITREC_AFTER_GAP);
	report_holder(w, 2 * MS, holder(HOLDREC_SEEN, HOLDREC_RUNNING));
	asked_play(w, NULL);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->waits->in_flight, 1);
	assert_true(m->waits->waits[1].used && m->waits->waits[1].doubtful);
}

static char *lines(struct asked *w, bool json)
{
	struct script *s;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	tell_story(w);
	rig_play_ticks(&w->rig, NULL, 0);
	assert_int_equal(script_new(&s, &w->rig.engine, f, json), 0);
	w->rig.engine.watch = script_watch(s);
	rig_play(&w->rig, NULL);
	script_free(s);
	fclose(f);
	return text;
}

static void each_has_a_line(void **state)
{
	char *text = lines(*state, false);

	golden_check(text, "script-holder-text");
	free(text);
}

static void each_has_an_object(void **state)
{
	char *text = lines(*state, true);

	golden_check(text, "script-holder-json");
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(events_say_what_records_do),
		TEST(tasks_have_their_names),
		TEST(bad_records_are_counted),
		TEST(one_behind_a_gap_tells_of_it),
		TEST(frames_of_the_tracing_are_left_out),
		TEST(each_has_a_line),
		TEST(each_has_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
