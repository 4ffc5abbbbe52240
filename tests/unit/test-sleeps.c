// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps in state D that have a record each: from the record to the lines of script, to the longest
 * of a window and to the page of a row; and sums of windows, which are differences of snapshots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/damage.h"
#include "kontend/limits.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-blocked.h"
#include "kontend/query-load.h"
#include "kontend/record.h"
#include "kontend/script.h"
#include "kontend/sleeps.h"
#include "kontend/sleptsnap.h"
#include "lock-snaps.h"
#include "synth-profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define CODE 0x400000ull

static struct sleeprec sleep_of(int tid, uint64_t begin, uint64_t length)
{
	struct sleeprec r = {.magic = SLEEPREC_MAGIC,
			     .begin_ns = CANNED_START + begin,
			     .length_ns = length,
			     .pid = 900,
			     .tid = tid,
			     .waker_pid = 300,
			     .waker_tid = 300,
			     .kind = SLEEPREC_IO,
			     .comm = "sqlite",
			     .waker_comm = "jbd2/vda1-8",
			     .n_frames = 2};

	r.frames[0] = synth_addr(SYNTH_PIPE_READ);
	r.frames[1] = synth_addr(SYNTH_VFS_READ);
	return r;
}

/* One that went to sleep at that place in the program. */
static struct sleeprec sleep_at(struct sleeprec r, uint64_t ip)
{
	r.frames[r.n_frames] = ip;
	r.n_user = 1;
	return r;
}

static void report_sleep(struct asked *w, struct sleeprec r)
{
	synth_sleep(w->rig.synth, 0, r.begin_ns + r.length_ns + 1000, &r);
}

/* As the programs have it at @t: all sleeps of sqlite until then. */
static void emit_sums(struct asked *w, uint64_t t, uint64_t sleeps, uint64_t total, uint64_t max)
{
	struct sleptsnap s = {.head = {.time_ns = CANNED_START + t,
				       .from_ns = CANNED_START,
				       .min_ns = MS,
				       .now = sleeps / 9,
				       .now_ns = total,
				       .missed = sleeps / 10}};
	struct sleptsnap_row row = {.pid = 900,
				    .kind = LOCKSNAP_IO,
				    .n_frames = 2,
				    .sleeps = sleeps,
				    .total_ns = total,
				    .max_ns = max};

	row.comm = sleptsnap_add_text(&s, "sqlite");
	assert_int_equal(sleptsnap_add_frame(&s, synth_addr(SYNTH_PIPE_READ)), 0);
	assert_int_equal(sleptsnap_add_frame(&s, synth_addr(SYNTH_VFS_READ)), 0);
	assert_int_equal(sleptsnap_add_row(&s, &row), 0);
	lock_snap_emit_slept(w->rig.synth, &s);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_profile(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	synth_mmap(w->rig.synth, 0, CANNED_START + 1, 900, CODE, 0x10000, 0, "/nowhere/sqlite3");
}

static void second(struct asked *w, uint64_t n)
{
	synth_round(w->rig.synth, CANNED_START + n * 1000 * MS);
}

/* Three seconds: 40 sleeps of 2 ms, one of 300 ms; then five of 10 ms; then one of 20 ms. */
static void play(struct asked *w)
{
	struct model_limits limits = model_limits_recent(64 << 20);

	start(w);
	emit_sums(w, 1 * MS, 7, 70 * MS, 500 * MS);
	report_sleep(w, sleep_at(sleep_of(901, 100 * MS, 300 * MS), CODE + 0x123));
	second(w, 1);
	emit_sums(w, 1000 * MS, 48, 450 * MS, 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	for (int i = 0; i < 5; i++)
		report_sleep(w, sleep_of(910 + i, (uint64_t)(1100 + 20 * i) * MS, 10 * MS));
	second(w, 2);
	emit_sums(w, 2000 * MS, 53, 500 * MS, 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	report_sleep(w, sleep_of(920, 2500 * MS, 20 * MS));
	second(w, 3);
	emit_sums(w, 3000 * MS, 54, 520 * MS, 500 * MS);
	synth_tick(w->rig.synth, CANNED_START + 3000 * MS);
	asked_play(w, &limits);
}

static struct table ask(struct asked *w)
{
	const struct query_spec spec = {.by = BY_TYPE};
	struct table t;

	assert_int_equal(query_blocked(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 1);
	return t;
}

static void check_sums(struct asked *w, uint64_t sleeps, uint64_t ns, uint64_t max_ns)
{
	struct table t = ask(w);

	assert_int_equal(cell_u(&t, 0, "sleeps"), sleeps);
	assert_int_equal(cell_u(&t, 0, "slept_ns"), ns);
	assert_int_equal(cell_u(&t, 0, "slept_max_ns"), max_ns);
}

/* The longest sleep was before the sums begin: that of a window has a record. */
static void windows_have_exact_sums(void **state)
{
	struct asked *w = *state;

	play(w);
	check_sums(w, 47, 450 * MS, 300 * MS);
	w->q.window_ns = 1000 * MS;
	check_sums(w, 1, 20 * MS, 20 * MS);
	w->q.window_ns = 2000 * MS;
	check_sums(w, 6, 70 * MS, 20 * MS);
	w->q.window_ns = 0;
	model_zero(w->q.engine->model);
	struct query_sleeps s;
	assert_int_equal(query_blocked_sleeps(&w->q, &s), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.missed, 0);
}

static void the_longest_are_named(void **state)
{
	struct asked *w = *state;
	struct query_sleeps s;
	struct query_blocked_slept of;

	play(w);
	do
		assert_int_equal(query_blocked_sleeps(&w->q, &s), 0);
	while (query_load_again(&w->q));
	assert_true(s.known);
	assert_string_equal(s.level, "all");
	assert_null(s.left_out);
	assert_int_equal(s.min_ns, MS);
	assert_int_equal(s.missed, 5);
	assert_int_equal(s.now, 6);
	assert_int_equal(s.now_ns, 520 * MS);
	assert_int_equal(s.span_ns, 2999 * MS);
	assert_int_equal(s.n, 7);
	assert_int_equal(s.longest[0].tid, 901);
	assert_int_equal(s.longest[0].length_ns, 300 * MS);
	assert_int_equal(s.longest[0].begin_ns, CANNED_START + 100 * MS);
	assert_string_equal(s.longest[0].task, "sqlite/901");
	assert_string_equal(s.longest[0].waker, "jbd2/vda1-8/300");
	assert_string_equal(s.longest[0].sleeps_in, "pipe_read");
	assert_string_equal(s.longest[0].at, "sqlite3+0x123");
	assert_null(s.longest[0].at_why);
	assert_int_equal(s.longest[1].tid, 920);
	assert_null(s.longest[1].at);
	assert_string_equal(s.longest[1].at_why, "the call chain has no user frames");
	struct table t = ask(w);
	assert_int_equal(query_blocked_slept(&w->q, BY_TYPE, t.ids[0], &of), 0);
	assert_true(of.has);
	assert_int_equal(of.longest.tid, 901);
	assert_int_equal(of.last.tid, 920);
	assert_int_equal(of.ago_ns, 480 * MS);
	w->q.window_ns = 2000 * MS;
	assert_int_equal(query_blocked_sleeps(&w->q, &s), 0);
	assert_int_equal(s.n, 6);
	assert_int_equal(s.longest[0].tid, 920);
	assert_int_equal(query_blocked_slept(&w->q, BY_TYPE, 1, &of), 0);
	assert_false(of.has);
}

static char *lines(struct asked *w, bool json)
{
	struct script *s;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	start(w);
	struct sleeprec r = sleep_at(sleep_of(901, 100 * MS, 300 * MS), CODE + 0x123);
	report_sleep(w, r);
	r = sleep_of(902, 500 * MS, 2 * MS);
	r.waker_pid = r.waker_tid = 0;
	r.kind = SLEEPREC_DISK;
	r.n_frames = 0;
	report_sleep(w, r);
	second(w, 1);
	rig_play_ticks(&w->rig, NULL, 0);
	assert_int_equal(script_new(&s, &w->rig.engine, f, json), 0);
	w->rig.engine.watch = script_watch(s);
	rig_play(&w->rig, NULL);
	script_free(s);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void script_has_a_line_for_each(void **state)
{
	struct asked *w = *state;
	char *text = lines(w, false);

	assert_non_null(strstr(text, "sqlite/901"));
	assert_non_null(strstr(text, "slept     io "));
	assert_non_null(strstr(
		text,
		"300ms  -            in pipe_read, woken by jbd2/vda1-8/300, sqlite3+0x123\n"));
	assert_non_null(
		strstr(text, "2.00ms  -            in ?, woken by an interrupt of an idle CPU\n"));
	free(text);
}

static void script_has_an_object_for_each(void **state)
{
	struct asked *w = *state;
	char *text = lines(w, true);

	assert_non_null(strstr(text, "\"event\": \"slept\", \"pid\": 900, \"tid\": 901, \"comm\": "
				     "\"sqlite\", \"type\": \"io\""));
	assert_non_null(strstr(text, "\"wait_ns\": 300000000, \"asleep_in\": \"pipe_read\", "
				     "\"at\": \"sqlite3+0x123\", \"other_pid\": 300, "
				     "\"other_tid\": 300, \"other_comm\": "
				     "\"jbd2/vda1-8\""));
	assert_non_null(strstr(text, "\"asleep_in\": null, \"at\": null, \"other_pid\": 0"));
	free(text);
}

/* Bytes of a recording may be anything. */
static void bad_records_are_counted(void **state)
{
	struct asked *w = *state;
	struct sleeprec r;

	start(w);
	r = sleep_of(901, 10 * MS, 1 * MS);
	r.kind = SLEEPREC_KINDS;
	report_sleep(w, r);
	r = sleep_of(0, 10 * MS, 1 * MS);
	report_sleep(w, r);
	r = sleep_of(901, 10 * MS, 1 * MS);
	memset(r.comm, 'x', sizeof(r.comm));
	report_sleep(w, r);
	r = sleep_of(901, 10 * MS, 1 * MS);
	memset(r.waker_comm, 'x', sizeof(r.waker_comm));
	report_sleep(w, r);
	/* Longer than until now, begun later, and more frames than there are. */
	r = sleep_of(901, 10 * MS, 100 * MS);
	synth_sleep(w->rig.synth, 0, CANNED_START + 20 * MS, &r);
	r = sleep_of(901, 30 * MS, 0);
	synth_sleep(w->rig.synth, 0, CANNED_START + 20 * MS, &r);
	r = sleep_of(901, 10 * MS, 1 * MS);
	r.n_frames = SLEEPREC_FRAMES + 1;
	synth_output(w->rig.synth, 0, CANNED_START + 21 * MS, 1, 1, &r.magic, sizeof(r) - 4);
	r.n_frames = 3;
	synth_output(w->rig.synth, 0, CANNED_START + 22 * MS, 1, 1, &r.magic,
		     offsetof(struct sleeprec, frames) - 4 + 16);
	synth_output(w->rig.synth, 0, CANNED_START + 23 * MS, 1, 1, &r.magic, 40);
	asked_play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 9);
	assert_int_equal(w->rig.engine.model->sleeps->n_kept, 0);
}

/* Tables are bounded, a copy has the same, and memory may end at any moment. */
static void tables_are_bounded(void **state)
{
	struct sleeps s = {0}, copy;
	struct event ev = {.kind = EVENT_SLEEP, .pid = 1, .tid = 1};
	static struct map_spaces spaces; /* no process has any */
	uint64_t frame;

	(void)state;
	ev.sleep.comm = ev.sleep.waker_comm = "x";
	ev.sleep.frames = &frame;
	ev.sleep.n_frames = 1;
	for (int i = 0; i < SLEEPS_CELLS + SLEEPS_STACKS; i++) {
		frame = 4096 + (uint64_t)(i % (2 * SLEEPS_STACKS));
		ev.pid = i + 1;
		ev.sleep.begin_ns = (uint64_t)i * 1000;
		ev.sleep.length_ns = 1 + (uint64_t)i * 7 % 1000;
		assert_int_equal(sleeps_event(&s, &ev, &spaces), 0);
	}
	assert_int_equal(s.n_cells, SLEEPS_CELLS);
	assert_int_equal(s.n_stacks, SLEEPS_STACKS);
	assert_int_equal(s.n_kept, SLEEPS_KEPT);
	assert_int_equal(s.n_longest, SLEEPS_LONGEST);
	assert_true(s.kept_dropped_ns > 0);
	for (uint32_t i = 1; i < s.n_longest; i++)
		assert_true(s.longest[i - 1].length_ns >= s.longest[i].length_ns);
	assert_int_equal(s.longest[0].length_ns, 1000);
	assert_int_equal(sleeps_copy(&copy, &s), 0);
	assert_int_equal(copy.n_kept, s.n_kept);
	assert_memory_equal(copy.kept, s.kept, sizeof(*s.kept) * SLEEPS_KEPT);
	assert_true(sleeps_bytes(&s) > 0);
	sleeps_deinit(&copy);
	for (long n = 0; n < 5; n++) {
		mem_fail_after(n);
		(void)sleeps_copy(&copy, &s);
		mem_fail_after(-1);
		sleeps_deinit(&copy);
	}
	sleeps_deinit(&s);
	mem_fail_after(0);
	assert_int_equal(sleeps_event(&s, &ev, &spaces), -ENOMEM);
	mem_fail_after(-1);
	sleeps_deinit(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_have_exact_sums),	  TEST(the_longest_are_named),
		TEST(script_has_a_line_for_each), TEST(script_has_an_object_for_each),
		TEST(bad_records_are_counted),	  cmocka_unit_test(tables_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
