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
#include "kontend/inoderec.h"
#include "kontend/limits.h"
#include "kontend/maps.h"
#include "kontend/model-cpu.h"
#include "kontend/query-tree.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "synth-profile.h"

#include <string.h>

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

#define PROGRAM 0x400000ull
#define OTHER 0x7f0000000000ull
#define PATH "/usr/bin/program"

enum { PROGRAM_BYTES = 0x10000 };

/* With frames of the program, of which each is an address. */
static struct waitrec_begin with_user(enum waitrec_user is, const uint64_t *user, int n)
{
	struct waitrec_begin b = begin(LCB_F_WRITE);

	for (int i = 0; i < n; i++)
		b.frames[FRAMES + i] = user[i];
	b.n_user = (uint16_t)n;
	b.user = (uint8_t)is;
	return b;
}

static void wait_once(struct asked *w, uint64_t t, const struct waitrec_begin *b)
{
	report_begin(w, t, 701, *b);
	report_end(w, t + MS, 701, end(0));
}

/* The chain of a wait with this part of the program: its frames after those of the kernel. */
static uint32_t user_part(struct asked *w, enum waitrec_user is, const uint64_t *user, int n,
			  const uint64_t **ret)
{
	const struct waitrec_begin b = with_user(is, user, n);

	start(w);
	synth_mmap(w->rig.synth, 0, CANNED_START + MS, 700, PROGRAM, PROGRAM_BYTES, 0x1000, PATH);
	wait_once(w, 10 * MS, &b);
	play(w);
	const struct model *m = w->rig.engine.model;
	*ret = stack_frames(m->stacks, 1) + FRAMES;
	assert_int_equal(stack_kernel_frames(m->stacks, 1), FRAMES);
	assert_memory_equal(stack_frames(m->stacks, 1), frames, sizeof(frames));
	return m->stacks->stacks[1].n - FRAMES;
}

static uint64_t place(uint64_t object, uint64_t offset)
{
	return object << MAP_OFFSET_BITS | offset;
}

static void frames_of_programs_are_places(void **state)
{
	const uint64_t user[] = {PROGRAM + 0x10, PROGRAM + 0x234};
	const uint64_t *part;

	assert_int_equal(user_part(*state, WAITREC_USER_WHOLE, user, 2, &part), 2);
	assert_int_equal(part[0], place(1, 0x1010));
	assert_int_equal(part[1], place(1, 0x1234));
	assert_true(map_frame_is_user(part[0]));
}

/* And it is the caller's frame that is not known: one that is in no mapping is none. */
static void a_chain_ends_at_what_is_no_code(void **state)
{
	const uint64_t user[] = {PROGRAM + 0x10, OTHER, PROGRAM + 0x234};
	const uint64_t *part;

	assert_int_equal(user_part(*state, WAITREC_USER_WHOLE, user, 3, &part), 2);
	assert_int_equal(part[0], place(1, 0x1010));
	assert_int_equal(part[1], map_frame_mark(MAP_MARK_UNMAPPED));
}

static void why_a_chain_ends_is_in_it(void **state)
{
	static const struct {
		enum waitrec_user is;
		uint32_t mark;
	} of[] = {
		{WAITREC_USER_ENDS, MAP_MARK_UNMAPPED},
		{WAITREC_USER_MOST, MAP_MARK_MOST},
		{WAITREC_USER_SAVED, MAP_MARK_SAVED},
		{WAITREC_USER_SOON, MAP_MARK_SOON},
	};
	enum { CASES = sizeof(of) / sizeof(of[0]) };
	const uint64_t user = PROGRAM + 0x10;
	struct asked *w = *state;

	start(w);
	synth_mmap(w->rig.synth, 0, CANNED_START + MS, 700, PROGRAM, PROGRAM_BYTES, 0, PATH);
	for (size_t i = 0; i < CASES; i++) {
		struct waitrec_begin b = with_user(of[i].is, &user, of[i].is != WAITREC_USER_SAVED);
		wait_once(w, (10 + i) * MS, &b);
	}
	play(w);
	const struct stack_table *t = w->rig.engine.model->stacks;
	for (uint32_t i = 0; i < CASES; i++) {
		uint32_t n = t->stacks[i + 1].n;
		assert_int_equal(n, FRAMES + (of[i].is != WAITREC_USER_SAVED) + 1);
		assert_int_equal(stack_frames(t, i + 1)[n - 1], map_frame_mark(of[i].mark));
	}
}

/* Waits of two places in a program are two chains, and one tree from the same call site. */
static void the_tree_goes_on_in_the_program(void **state)
{
	const uint64_t first[] = {PROGRAM + 0x10}, second[] = {PROGRAM + 0x20};
	const struct waitrec_begin a = with_user(WAITREC_USER_WHOLE, first, 1),
				   b = with_user(WAITREC_USER_WHOLE, second, 1);
	struct query_tree tree;
	struct asked *w = *state;

	start(w);
	synth_mmap(w->rig.synth, 0, CANNED_START + MS, 700, PROGRAM, PROGRAM_BYTES, 0, PATH);
	wait_once(w, 10 * MS, &a);
	wait_once(w, 20 * MS, &b);
	wait_once(w, 30 * MS, &a);
	play(w);
	assert_int_equal(query_tree_named(&w->q, &(struct query_scope){0}, false, false, &tree), 0);
	assert_int_equal(tree.n, FRAMES + 2);
	assert_int_equal(tree.nodes[FRAMES - 1].n, 3);
	assert_int_equal(tree.nodes[FRAMES].n, 2);
	assert_string_equal(tree.nodes[FRAMES].name, "program+0x10");
	assert_int_equal(tree.nodes[FRAMES + 1].n, 1);
}

/* Perf reports the wait, and a record that follows the part of the program. */
static void frames_follow_an_event_of_perf(void **state)
{
	struct waitrec_frames f = {.magic = WAITREC_FRAMES_MAGIC,
				   .lock = LOCK,
				   .n_user = 1,
				   .user = WAITREC_USER_WHOLE,
				   .has_on = 1,
				   .frames = {PROGRAM + 0x20, WAITREC_ON_HEAP}};
	const size_t before = sizeof(f.size), size = offsetof(struct waitrec_frames, frames[3]);
	struct waitrec_frames other = f, bad = f;
	struct asked *w = *state;

	other.lock = LOCK + 64;
	bad.n_user = 2;
	start(w);
	synth_mmap(w->rig.synth, 0, CANNED_START + MS, 700, PROGRAM, PROGRAM_BYTES, 0, PATH);
	synth_begin(w->rig.synth, 0, CANNED_START + 10 * MS, 700, 701, LOCK, LCB_F_WRITE, frames,
		    FRAMES);
	synth_output(w->rig.synth, 0, CANNED_START + 10 * MS + 1, 700, 701, &other.magic,
		     size - before);
	synth_output(w->rig.synth, 0, CANNED_START + 10 * MS + 2, 700, 701, &bad.magic,
		     size - before);
	synth_output(w->rig.synth, 0, CANNED_START + 10 * MS + 3, 700, 701, &f.magic,
		     size - before);
	synth_end(w->rig.synth, 0, CANNED_START + 12 * MS, 700, 701, LOCK, 0);
	struct table t = play(w);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 2 * MS);
	assert_string_equal(cell_s(&t, 0, "on"), "[heap]");
	const struct model *m = w->rig.engine.model;
	assert_int_equal(m->cells->n, 1);
	uint32_t stack = m->cells->cells[0].stack;
	assert_int_equal(m->stacks->stacks[stack].n, FRAMES + 1);
	assert_int_equal(stack_frames(m->stacks, stack)[FRAMES], place(1, 0x20));
	assert_int_equal(w->rig.engine.decode.n_bad, 1);
}

#define DEV (8u << 20 | 1)

/* A begin with @n frames of the program, and after them on what its system call is. */
static struct waitrec_begin with_on(struct waitrec_on on)
{
	const uint64_t user = PROGRAM + 0x10;
	struct waitrec_begin b = with_user(WAITREC_USER_WHOLE, &user, 1);

	memcpy(&b.frames[FRAMES + 1], &on, sizeof(on));
	b.owner_asked = WAITREC_HAS_ON;
	return b;
}

static const char *on_of(struct asked *w, struct waitrec_on on, const char **ret_why)
{
	const struct waitrec_begin b = with_on(on);

	start(w);
	synth_comm(w->rig.synth, 0, CANNED_START + MS, 812, 812, "sshd");
	wait_once(w, 10 * MS, &b);
	struct table t = play(w);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(w->rig.engine.decode.n_bad, 0);
	*ret_why = cell_at(&t, 0, "on_reason")->known ? cell_s(&t, 0, "on_reason") : NULL;
	return cell_at(&t, 0, "on")->known ? cell_s(&t, 0, "on") : NULL;
}

static void what_a_system_call_is_on_has_words(void **state)
{
	static const struct {
		struct waitrec_on on;
		const char *text, *why;
	} of[] = {
		{{WAITREC_ON_FILE, DEV, 77}, "inode 77 (8:1)", NULL},
		{{WAITREC_ON_TASK, 0, 812}, "sshd/812", NULL},
		{{WAITREC_ON_TASK, 0, 813}, "process 813", NULL},
		{{WAITREC_ON_TASK, 0, (uint64_t)-9}, "process group 9", NULL},
		{{WAITREC_ON_TASK, 0, 0}, NULL, "the system call names no single process"},
		{{WAITREC_ON_HEAP, 0, 0x1000}, "[heap]", NULL},
		{{WAITREC_ON_STACK, 0, 0x1000}, "[stack]", NULL},
		{{WAITREC_ON_ANONYMOUS, 0, 0x1000}, "anon 0x1000", NULL},
		{{WAITREC_ON_MEMORY, 0, 0x1000}, "0x1000", NULL},
		{{WAITREC_ON_NOTHING, 0, 0}, NULL, "the system call has no argument for one"},
		{{WAITREC_ON_PATH, 0, 0}, NULL, "its path is in the memory of the process"},
		{{WAITREC_ON_UNKNOWN, 0, 0},
		 NULL,
		 "it was not read: no system call, a wait that spins, or one too many"},
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const char *why, *text = on_of(*state, of[i].on, &why);
		assert_true(!text == !of[i].text && !why == !of[i].why);
		if (text)
			assert_string_equal(text, of[i].text);
		else
			assert_string_equal(why, of[i].why);
		asked_teardown(state);
		asked_setup_empty(state);
	}
	start(*state); /* for the end of the test */
	play(*state);
}

/* The name of the file comes in a record of its own, as that of a lock. */
static void files_that_calls_are_on_have_names(void **state)
{
	const struct waitrec_begin b = with_on((struct waitrec_on){WAITREC_ON_FILE, DEV, 77});
	struct inoderec name = {.magic = INODEREC_MAGIC,
				.lock = waitrec_on_addr(DEV, 77),
				.ino = 77,
				.dev = DEV,
				.which = INODEREC_ON,
				.flags = INODEREC_NAMED | INODEREC_SEEN,
				.n_bytes = 8,
				.fs = "ext4",
				.names = "log\0var"};
	struct asked *w = *state;

	start(w);
	report_begin(w, 10 * MS, 701, b);
	synth_inode(w->rig.synth, 0, CANNED_START + 10 * MS + 1, &name);
	report_end(w, 11 * MS, 701, end(0));
	struct table t = play(w);
	assert_string_equal(cell_s(&t, 0, "on"), "/var/log");
	assert_false(cell_at(&t, 0, "on")->approx);
}

/* Most of the time was waited on one of them. */
static void a_row_has_what_most_is_waited_on(void **state)
{
	const struct waitrec_begin few = with_on((struct waitrec_on){WAITREC_ON_STACK, 0, 1}),
				   most = with_on((struct waitrec_on){WAITREC_ON_HEAP, 0, 2});
	struct asked *w = *state;

	start(w);
	wait_once(w, 10 * MS, &few);
	wait_once(w, 20 * MS, &most);
	wait_once(w, 30 * MS, &most);
	struct table t = play(w);
	assert_string_equal(cell_at(&t, 0, "on")->s, "[heap]");
	assert_true(cell_at(&t, 0, "on")->approx);
}

static void bad_objects_are_bad(void **state)
{
	struct asked *w = *state;

	start(w);
	report_begin(w, 10 * MS, 701, with_on((struct waitrec_on){WAITREC_ON_KINDS, 0, 0}));
	struct waitrec_begin b = begin(LCB_F_WRITE);
	b.owner_asked = 8;
	report_begin(w, 11 * MS, 701, b);
	play(w);
	assert_int_equal(w->rig.engine.decode.n_bad, 2);
}

/* Its frames would be beyond the record. */
static void too_many_frames_are_bad(void **state)
{
	struct waitrec_begin b = begin(LCB_F_WRITE), unknown = b;
	struct asked *w = *state;

	b.n_user = WAITREC_USER + 1;
	unknown.user = WAITREC_USERS;
	start(w);
	report_begin(w, 10 * MS, 701, b);
	report_begin(w, 11 * MS, 701, unknown);
	play(w);
	assert_int_equal(w->rig.engine.decode.n_bad, 2);
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
		TEST(frames_of_programs_are_places),
		TEST(a_chain_ends_at_what_is_no_code),
		TEST(why_a_chain_ends_is_in_it),
		TEST(the_tree_goes_on_in_the_program),
		TEST(frames_follow_an_event_of_perf),
		TEST(too_many_frames_are_bad),
		TEST(what_a_system_call_is_on_has_words),
		TEST(files_that_calls_are_on_have_names),
		TEST(a_row_has_what_most_is_waited_on),
		TEST(bad_objects_are_bad),
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
