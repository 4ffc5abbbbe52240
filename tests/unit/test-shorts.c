// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that the kernel has summed up, and those reported late: counts and totals are those of the
 * whole stream, and impossible figures in a file are counted as lost.
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
#include "kontend/model.h"
#include "kontend/query-shorts.h"
#include "kontend/series.h"
#include "kontend/shortsnap.h"
#include "kontend/stack.h"
#include "kontend/wait.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { FRAMES = 3, ROWS = 4 };

static const uint64_t frames[FRAMES] = {0xffffffff81000100ull, 0xffffffff81000200ull,
					0xffffffff81000300ull};

struct body {
	struct record_snapshot head;
	struct shortsnap_head shorts;
	struct shortsnap_row rows[ROWS];
};

static struct shortsnap_row row(uint32_t flags, uint64_t n, uint64_t ns)
{
	struct shortsnap_row r = {.n = n, .ns = ns, .flags = flags, .n_frames = FRAMES};

	memcpy(r.frames, frames, sizeof(frames));
	return r;
}

static struct body body(uint64_t t, uint32_t n_rows)
{
	return (struct body){.head = {.kind = SNAPSHOT_SHORT,
				      .version = SHORTSNAP_VERSION,
				      .time_ns = CANNED_START + t},
			     .shorts = {.from_ns = CANNED_START,
					.threshold_ns = 10000,
					.most_ns = 10000,
					.level = SHORTSNAP_THRESHOLD,
					.n_rows = n_rows}};
}

static void put_shorts(struct asked *w, const struct body *b, uint32_t rows)
{
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, b,
		     offsetof(struct body, rows) + rows * sizeof(b->rows[0]));
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void play(struct asked *w)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, NULL);
}

static void tell_late(struct asked *w, uint64_t t, uint64_t since, uint32_t n_frames)
{
	struct waitrec_late l = {.magic = WAITREC_LATE_MAGIC,
				 .lock = LOCK,
				 .flags = LCB_F_WRITE,
				 .tid = 701,
				 .n_frames = n_frames,
				 .begin_ns = CANNED_START + since};
	const size_t before = sizeof(l.size);
	const uint32_t there = n_frames < WAITREC_FRAMES ? n_frames : WAITREC_FRAMES;

	for (uint32_t i = 0; i < FRAMES; i++)
		l.frames[i] = frames[i];
	synth_output(w->rig.synth, 0, CANNED_START + t, 700, 701, (const uint8_t *)&l + before,
		     offsetof(struct waitrec_late, frames) + there * sizeof(l.frames[0]) - before);
}

static void report_end(struct asked *w, uint64_t t)
{
	struct waitrec_end e = {.magic = WAITREC_END_MAGIC, .lock = LOCK, .tid = 701};

	synth_wait_end(w->rig.synth, 0, CANNED_START + t, 700, 701, &e);
}

static void check_one(struct asked *w, uint64_t ns)
{
	const struct model *m = w->rig.engine.model;
	const struct model_damage d = model_damage(m);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), ns);
	assert_int_equal(d.unmatched + d.late + d.bad + d.no_stack + d.doubtful, 0);
	assert_int_equal(m->waits->in_flight, 0);
	assert_int_equal(m->cells->n, 1);
	assert_int_equal(m->stacks->stacks[m->cells->cells[0].stack].n, FRAMES);
}

static void told_at_its_end(void **state)
{
	struct asked *w = *state;

	start(w);
	tell_late(w, 30 * MS, 10 * MS, FRAMES);
	report_end(w, 30 * MS + 1);
	play(w);
	check_one(w, 20 * MS + 1);
}

static void told_while_it_goes_on(void **state)
{
	struct asked *w = *state;

	start(w);
	tell_late(w, 50 * MS, 10 * MS, 0);
	tell_late(w, 90 * MS, 10 * MS, FRAMES);
	report_end(w, 90 * MS + 1);
	play(w);
	check_one(w, 80 * MS + 1);
}

static void it_is_seen_while_it_goes_on(void **state)
{
	struct asked *w = *state;

	start(w);
	tell_late(w, 50 * MS, 10 * MS, 0);
	play(w);
	assert_int_equal(w->rig.engine.model->waits->in_flight, 1);
	assert_int_equal(w->rig.engine.model->waits->waits[1].begin_ns, CANNED_START + 10 * MS);
}

/* A wait in a bucket that was closed before its report is counted in that bucket. */
static void buckets_have_all_of_it(void **state)
{
	struct asked *w = *state;
	uint64_t sum = 0;

	start(w);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	tell_late(w, 130 * MS, 60 * MS, 0);
	synth_tick(w->rig.synth, CANNED_START + 200 * MS);
	tell_late(w, 230 * MS, 60 * MS, FRAMES);
	report_end(w, 230 * MS);
	play(w);
	const struct series *s = w->rig.engine.model->wait_series;
	for (unsigned i = 0; i < 3; i++)
		sum += series_at(s, w->rig.engine.model->n_ticks, 2 - i);
	assert_int_equal(sum, 170 * MS);
}

static void a_time_to_come_is_bad(void **state)
{
	struct asked *w = *state;

	start(w);
	tell_late(w, 30 * MS, 31 * MS, FRAMES);
	tell_late(w, 30 * MS, 10 * MS, WAITREC_FRAMES + 1);
	play(w);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 2);
}

static void sums_are_differences(void **state)
{
	struct body none = body(0, 0), one = body(10 * MS, 1), two = body(20 * MS, 2);
	struct asked *w = *state;

	one.rows[0] = row(LCB_F_SPIN, 5, 5000);
	two.rows[0] = row(LCB_F_SPIN, 7, 8000);
	two.rows[1] = row(LCB_F_WRITE, 1, 9000);
	two.shorts.counted[LCB_F_SPIN] = 11;
	start(w);
	put_shorts(w, &none, 0);
	put_shorts(w, &one, 1);
	put_shorts(w, &two, 2);
	tell_late(w, 50 * MS, 10 * MS, FRAMES);
	report_end(w, 50 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_TYPE});
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:W");
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 40 * MS + 9000);
	assert_int_equal(cell_u(&t, 1, "contended"), 7);
	assert_int_equal(cell_u(&t, 1, "total_ns"), 8000);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 1, "name"), "short");
	t = asked_locks(w, (struct query_spec){.by = BY_CALLER});
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, 0, "contended"), 2);
	t = asked_locks(w, (struct query_spec){.by = BY_CPU});
	assert_int_equal(t.n_rows, 2);
	struct query_shorts s = query_shorts(&w->q);
	assert_int_equal(s.n, 8);
	assert_int_equal(s.total_ns, 17000);
	assert_int_equal(s.counted, 11);
}

/* Of a part of a recording the first one has what was before it. */
/* Their flags are those of a spinlock, their chain is not. */
static void sums_of_resilient_spinlocks_are_theirs(void **state)
{
	struct asked *w = *state;

	start(w);
	struct body none = body(0, 0), b = body(100 * MS, 2);
	b.rows[0] = row(LCB_F_SPIN, 10, 50000);
	b.rows[1] = row(LCB_F_SPIN, 3, 9000);
	b.rows[1].frames[0] = synth_addr(SYNTH_TRACEITER_BEGIN);
	b.rows[1].frames[1] = synth_addr(SYNTH_RESILIENT_SLOWPATH);
	put_shorts(w, &none, 0);
	put_shorts(w, &b, 2);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_TYPE});
	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "kind"), "spinlock");
	assert_int_equal(cell_u(&t, 0, "contended"), 10);
	assert_string_equal(cell_s(&t, 1, "kind"), "rqspinlock");
	assert_int_equal(cell_u(&t, 1, "contended"), 3);
	assert_int_equal(cell_u(&t, 1, "total_ns"), 9000);
}

static void a_part_begins_with_what_was(void **state)
{
	struct body one = body(10 * MS, 1), two = body(20 * MS, 1);
	struct asked *w = *state;

	one.rows[0] = row(LCB_F_SPIN, 5, 5000);
	two.rows[0] = row(LCB_F_SPIN, 7, 8000);
	start(w);
	put_shorts(w, &one, 1);
	put_shorts(w, &two, 1);
	play(w);
	assert_int_equal(query_shorts(&w->q).n, 2);
	assert_int_equal(query_shorts(&w->q).total_ns, 3000);
}

/* A part that begins between two snapshots has the part of their difference that lies in it. */
static void what_was_before_the_part_is_not_in_it(void **state)
{
	struct body one = body(0, 2), two = body(1000 * MS, 2);
	struct asked *w = *state;
	const uint64_t from = CANNED_START + 750 * MS;
	char text[QUERY_SHORTS_TEXT];

	one.head.time_ns = CANNED_START;
	two.rows[0] = row(LCB_F_SPIN, 402, 402000);
	two.rows[1] = row(LCB_F_SPIN, 2, 8000);
	two.rows[1].frames[0]++;
	one.rows[0] = row(LCB_F_SPIN, 2, 2000);
	one.rows[1] = row(LCB_F_SPIN, 0, 0);
	one.rows[1].frames[0]++;
	one.shorts.spent_ns[SHORTSNAP_THRESHOLD] = 36000 * MS;
	two.shorts.spent_ns[SHORTSNAP_THRESHOLD] = 37000 * MS;
	two.shorts.counted[LCB_F_MUTEX] = 100;
	start(w);
	synth_record(w->rig.synth, RECORD_START, 0, &from, sizeof(from));
	put_shorts(w, &one, 2);
	put_shorts(w, &two, 2);
	play(w);
	struct query_shorts s = query_shorts(&w->q);
	assert_int_equal(s.n, 101); /* a quarter of 402, rounded */
	assert_int_equal(s.total_ns, 100000 + 4000);
	assert_int_equal(s.counted, 25);
	assert_int_equal(s.summed_ns, 250 * MS);
	assert_int_equal(s.estimated_ns, 250 * MS);
	assert_non_null(strstr(query_shorts_text(&s, text, sizeof(text)),
			       "101 of 104us, those of 250ms estimated"));
}

static void what_cannot_be_is_lost(void **state)
{
	struct body b = body(10 * MS, ROWS);
	struct asked *w = *state;

	start(w);
	put_shorts(w, &b, ROWS - 1); /* a row is missing */
	b.shorts.n_rows = UINT32_MAX;
	put_shorts(w, &b, ROWS);
	b = body(10 * MS, 1);
	b.rows[0].n_frames = SHORTSNAP_FRAMES + 1;
	put_shorts(w, &b, 1);
	b = body(10 * MS, 0);
	b.shorts.level = SHORTSNAP_LEVELS;
	put_shorts(w, &b, 0);
	play(w);
	assert_int_equal(model_damage(w->rig.engine.model).snapshot_lost, 4);
	assert_false(query_shorts(&w->q).known);
}

/* Sums that go back are no waits. */
static void sums_never_go_back(void **state)
{
	struct body none = body(0, 0), one = body(10 * MS, 1), two = body(20 * MS, 1);
	struct asked *w = *state;

	one.rows[0] = row(LCB_F_SPIN, 5, 5000);
	two.rows[0] = row(LCB_F_SPIN, 4, 6000);
	start(w);
	put_shorts(w, &none, 0);
	put_shorts(w, &one, 1);
	put_shorts(w, &two, 1);
	play(w);
	assert_int_equal(query_shorts(&w->q).n, 5);
}

static void it_is_said(void **state)
{
	struct body none = body(0, 0), one = body(10 * MS, 1);
	struct asked *w = *state;
	char text[QUERY_SHORTS_TEXT];

	one.rows[0] = row(LCB_F_SPIN, 1200, 3000000);
	start(w);
	put_shorts(w, &none, 0);
	put_shorts(w, &one, 1);
	play(w);
	struct query_shorts s = query_shorts(&w->q);
	assert_string_equal(query_shorts_text(&s, text, sizeof(text)),
			    "waits shorter than 10.0us are in sums by type and caller alone: 1.20k "
			    "of 3.00ms");
	assert_string_equal(query_shorts_mark(&s, text, sizeof(text)), "<10.0us summed");
	s.level = "counts";
	s.governed = true;
	s.max_pct = 1;
	s.now_pct = 0.5;
	s.counted = 5;
	assert_string_equal(query_shorts_mark(&s, text, sizeof(text)), "counts only");
	assert_non_null(strstr(query_shorts_text(&s, text, sizeof(text)),
			       "at most 1.0% of all CPUs: 0.5% now, level counts"));
	assert_non_null(strstr(text, "5 were only counted and are in no sum of time"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(told_at_its_end),
		TEST(told_while_it_goes_on),
		TEST(it_is_seen_while_it_goes_on),
		TEST(buckets_have_all_of_it),
		TEST(a_time_to_come_is_bad),
		TEST(sums_are_differences),
		TEST(sums_of_resilient_spinlocks_are_theirs),
		TEST(a_part_begins_with_what_was),
		TEST(what_was_before_the_part_is_not_in_it),
		TEST(what_cannot_be_is_lost),
		TEST(sums_never_go_back),
		TEST(it_is_said),
	};
#undef TEST
	return cmocka_run_group_tests(tests, NULL, NULL);
}
