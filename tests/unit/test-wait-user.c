// SPDX-License-Identifier: GPL-2.0-only
/* Calls of programs that wait, as looks have read them from their stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/blame.h"
#include "kontend/cell.h"
#include "kontend/profile.h"
#include "kontend/query-blocked.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"
#include "synth-profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(ms) (CANNED_START + (uint64_t)(ms)*CANNED_MS)
#define LOCK 0xffff888011111100ull
#define CODE 0x400000ull

enum { PID = 700, TID = 702, LEFT_OUT = 3 };

static const uint64_t kernel[] = {0xffffffff81001010ull, 0xffffffff81002020ull};

static struct asked *map_app(struct asked *w)
{
	synth_profile(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	synth_mmap(w->rig.synth, 0, AT(1), PID, CODE, 0x10000, 0, "/usr/bin/app");
	return w;
}

static struct asked *fresh(void **state)
{
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	return map_app(w);
}

static void begin(struct asked *w, uint64_t ms)
{
	synth_begin(w->rig.synth, 0, AT(ms), PID, TID, LOCK, LCB_F_WRITE, kernel, 2);
}

/* Of the stack that is added next. */
static void call(struct locksnap *s, uint64_t ip)
{
	assert_int_equal(locksnap_add_call(s, &(struct locksnap_call){.ip = ip}), 0);
}

static void script(struct locksnap *s, const char *function, uint32_t line)
{
	const struct locksnap_call c = {.function = locksnap_add_text(s, function),
					.file = locksnap_add_text(s, "/srv/db.py"),
					.line = line};

	assert_int_equal(locksnap_add_call(s, &c), 0);
}

/* A look at @ms, in which @tid has the calls that were added. */
static void look(struct asked *w, struct locksnap *s, uint64_t ms, int tid, uint32_t end)
{
	const struct locksnap_stack t = {
		.pid = PID, .tid = tid, .n_calls = (uint32_t)s->n_calls, .end = end};

	assert_int_equal(locksnap_add_stack(s, &t), 0);
	lock_snap_emit_late(w->rig.synth, s, AT(ms), AT(ms), CANNED_MS);
	synth_tick(w->rig.synth, AT(ms + 10));
}

/* The chain of the wait in flight. */
static uint32_t chain(struct asked *w)
{
	const struct model *m = w->rig.engine.model;
	uint32_t found = 0;

	for (uint32_t i = 1; i < m->waits->high; i++)
		if (m->waits->waits[i].used)
			found = i;
	assert_true(found);
	return m->waits->waits[found].stack;
}

static uint32_t frames_of(struct asked *w, uint32_t stack, const uint64_t **ret)
{
	const struct model *m = w->rig.engine.model;

	*ret = stack_frames(m->stacks, stack);
	return m->stacks->stacks[stack].n;
}

static void is_place(uint64_t frame, uint64_t offset)
{
	assert_true(map_frame_object(frame) && !map_frame_is_mark(frame));
	assert_int_equal(map_frame_offset(frame), offset);
}

static void a_wait_in_flight_gets_its_calls(void **state)
{
	struct asked *w = fresh(state);
	struct locksnap s = {0};
	const uint64_t *frames;

	begin(w, 100);
	call(&s, CODE + 0x123);
	script(&s, "commit", 412);
	call(&s, CODE + 0x456);
	look(w, &s, 200, TID, 0);
	rig_play(&w->rig, NULL);
	assert_int_equal(frames_of(w, chain(w), &frames), 5);
	assert_memory_equal(frames, kernel, sizeof(kernel));
	is_place(frames[2], 0x123);
	const struct code *c = codes_get(w->rig.engine.model->profile->codes, frames[3]);
	assert_string_equal(c->function, "commit");
	assert_string_equal(c->file, "/srv/db.py");
	assert_int_equal(map_code_line(frames[3]), 412);
	is_place(frames[4], 0x456);
}

/* When it ends, its time is that of the chain with these calls, and so is what is charged for it.
 */
static void its_time_goes_there(void **state)
{
	struct asked *w = fresh(state);
	const struct locksnap_queue q = {.addr = LOCK,
					 .type = LOCKSNAP_RWSEM,
					 .certainty = LOCKSNAP_SURE,
					 .holder_pid = PID,
					 .holder_tid = TID + 5,
					 .writers_waiting = 1};
	struct locksnap s = {0};
	const uint64_t *frames;

	begin(w, 100);
	call(&s, CODE + 0x123);
	lock_snap_waiter(&s, 1, PID, TID, "app", false);
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	look(w, &s, 200, TID, 0);
	synth_end(w->rig.synth, 0, AT(400), PID, TID, LOCK, 0);
	synth_tick(w->rig.synth, AT(500));
	asked_play(w, NULL);
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->cells->n, 1);
	assert_int_equal(frames_of(w, m->cells->cells[0].stack, &frames), 3);
	is_place(frames[2], 0x123);
	assert_int_equal(m->blame->n, 1);
	assert_int_equal(m->blame->cells[0].key.stack, m->cells->cells[0].stack);
}

static void others_keep_theirs(void **state)
{
	static const struct {
		uint64_t begin_ms;
		int tid;
		uint64_t ip;
	} of[LEFT_OUT] = {
		{250, TID, CODE},      /* the look was before it */
		{100, TID + 1, CODE},  /* another thread */
		{100, TID, CODE / 16}, /* in no mapping that is known */
	};

	for (int i = 0; i < LEFT_OUT; i++) {
		struct asked *w = fresh(state);
		struct locksnap s = {0};
		const uint64_t *frames;
		if (of[i].begin_ms < 200)
			begin(w, of[i].begin_ms);
		call(&s, of[i].ip);
		const struct locksnap_stack t = {.pid = PID, .tid = of[i].tid, .n_calls = 1};
		assert_int_equal(locksnap_add_stack(&s, &t), 0);
		/* It belongs to the tick, but is read later. */
		lock_snap_emit_late(w->rig.synth, &s, AT(200), AT(240), 20 * CANNED_MS);
		if (of[i].begin_ms >= 200)
			begin(w, of[i].begin_ms);
		synth_tick(w->rig.synth, AT(300));
		rig_play(&w->rig, NULL);
		assert_int_equal(frames_of(w, chain(w), &frames), 2);
		if (i + 1 < LEFT_OUT)
			rig_deinit(&w->rig);
	}
}

/* It was reported in progress without calls; at its end the kernel's part comes. */
static void a_late_wait_gets_the_kernel_s_calls(void **state)
{
	struct asked *w = *state;
	struct waitrec_late l = {.magic = WAITREC_LATE_MAGIC,
				 .lock = LOCK,
				 .flags = LCB_F_WRITE,
				 .tid = TID,
				 .begin_ns = AT(100)};
	const size_t size = offsetof(struct waitrec_late, frames) - sizeof(l.size);
	struct locksnap s = {0};
	const uint64_t *frames;

	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	map_app(w);
	synth_output(w->rig.synth, 0, AT(150), PID, TID, (const uint8_t *)&l + sizeof(l.size),
		     size);
	call(&s, CODE + 0x123);
	look(w, &s, 200, TID, 0);
	l.n_frames = 2;
	memcpy(l.frames, kernel, sizeof(kernel));
	synth_output(w->rig.synth, 0, AT(300), PID, TID, (const uint8_t *)&l + sizeof(l.size),
		     size + sizeof(kernel));
	rig_play(&w->rig, NULL);
	const uint32_t stack = chain(w);
	assert_int_equal(stack_kernel_frames(w->rig.engine.model->stacks, stack), 2);
	frames_of(w, stack, &frames);
	assert_memory_equal(frames, kernel, sizeof(kernel));
}

/* One that ends early has a mark at its end. */
static void a_cut_chain_says_why(void **state)
{
	struct asked *w = fresh(state);
	struct locksnap s = {0};
	const uint64_t *frames;

	begin(w, 100);
	call(&s, CODE + 0x123);
	look(w, &s, 200, TID, 2);
	rig_play(&w->rig, NULL);
	assert_int_equal(frames_of(w, chain(w), &frames), 4);
	is_place(frames[2], 0x123);
	assert_int_equal(frames[3], map_frame_mark(2));
}

/* Functions of scripts have names and lines like others. */
static void they_are_shown(void **state)
{
	const struct report_spec spec = {.views = REPORT_TREE};
	struct asked *w = fresh(state);
	struct locksnap s = {0};

	begin(w, 100);
	script(&s, "commit", 412);
	script(&s, "<mod\x1bule>", 9);
	look(w, &s, 200, TID, 0);
	asked_play(w, NULL);
	char *text = asked_report(&w->q, &spec);
	assert_non_null(strstr(text, " commit\n"));
	assert_non_null(strstr(text, " <mod?ule>\n"));
	free(text);
}

static struct asked *fresh_with_sleeps(void **state)
{
	struct asked *w = *state;
	char symbols[16384];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	return map_app(w);
}

static void blocked(struct locksnap *s, int tid)
{
	const struct locksnap_blocked b = {.pid = PID, .tid = tid, .state = LOCKSNAP_BLOCKED_D};

	lock_snap_blocked(s, b, "app", LOCK_SNAP_LOG, AT(10));
}

/* A task in state D waits for no lock: the look alone has its calls. */
static void blocked_tasks_have_their_calls(void **state)
{
	const struct query_spec spec = {.by = BY_TASK, .sort = "tid"};
	struct asked *w = fresh_with_sleeps(state);
	struct locksnap s = {.head = {.knows_blocked = 1}};
	struct table t;

	blocked(&s, TID);
	blocked(&s, TID + 1);
	script(&s, "commit", 412);
	call(&s, CODE + 0x456);
	look(w, &s, 200, TID, 2);
	asked_play(w, NULL);
	assert_int_equal(query_blocked(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 2);
	size_t with = cell_u(&t, 0, "tid") == TID ? 0 : 1;
	assert_string_equal(cell_s(&t, with, "at"), "db.py:412 commit");
	assert_false(cell_at(&t, with, "at_reason")->known);
	const char *stack = cell_s(&t, with, "stack");
	assert_memory_equal(stack, "jbd2_log_wait_commit\next4_sync_file\ncommit\n",
			    strlen("jbd2_log_wait_commit\next4_sync_file\ncommit\n"));
	assert_non_null(strstr(stack, "\n["));
	assert_memory_equal(query_blocked_calls(&w->q, BY_TASK, t.ids[with]),
			    "jbd2_log_wait_commit < ext4_sync_file < commit < ", 49);
	assert_string_equal(query_blocked_at(&w->q, BY_TASK, t.ids[with]), "db.py:412 commit");
	assert_null(query_blocked_at(&w->q, BY_TASK, t.ids[!with]));
	assert_false(cell_at(&t, !with, "at")->known);
	assert_string_equal(cell_s(&t, !with, "at_reason"), "no snapshot has read its stack");
	assert_string_equal(cell_s(&t, !with, "stack"), "jbd2_log_wait_commit\next4_sync_file");
}

/* Those that one look has read are not shown of the next one. */
static void calls_are_of_the_latest_look(void **state)
{
	const struct query_spec spec = {.by = BY_TASK};
	struct asked *w = fresh_with_sleeps(state);
	struct locksnap s = {.head = {.knows_blocked = 1}}, next = {.head = {.knows_blocked = 1}};
	struct table t;

	blocked(&s, TID);
	call(&s, CODE + 0x456);
	look(w, &s, 200, TID, 0);
	blocked(&next, TID);
	lock_snap_emit(w->rig.synth, &next, AT(400));
	synth_tick(w->rig.synth, AT(410));
	asked_play(w, NULL);
	assert_int_equal(query_blocked(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "at_reason"), "no snapshot has read its stack");
}

#define ASKED(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED(a_wait_in_flight_gets_its_calls),
		ASKED(its_time_goes_there),
		ASKED(others_keep_theirs),
		ASKED(a_late_wait_gets_the_kernel_s_calls),
		ASKED(a_cut_chain_says_why),
		ASKED(they_are_shown),
		ASKED(blocked_tasks_have_their_calls),
		ASKED(calls_are_of_the_latest_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
