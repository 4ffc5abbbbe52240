// SPDX-License-Identifier: GPL-2.0-only
/*
 * The phases of waits for mutexes: what they spin and what they sleep, over all of the stream, in
 * windows of it, in waits that are reported late or only summed up, and by lock and caller.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/limits.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/recent.h"
#include "kontend/shortsnap.h"
#include "kontend/waitrec.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull

enum { SPINS = LCB_F_MUTEX | LCB_F_SPIN, SLEEPS = LCB_F_MUTEX, TID = 701 };

static const uint64_t frames[] = {0xffffffff81000100ull, 0xffffffff81000200ull};

static void phase(struct asked *w, uint64_t ms, uint64_t lock, uint32_t flags)
{
	synth_begin(w->rig.synth, 0, CANNED_START + ms * MS, 700, TID, lock, flags, frames, 2);
}

static void end(struct asked *w, uint64_t ms, uint64_t lock, int ret)
{
	synth_end(w->rig.synth, 0, CANNED_START + ms * MS, 700, TID, lock, ret);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static void play(struct asked *w)
{
	const struct model_limits with_log = model_limits_recent(64 << 20);

	asked_play(w, &with_log);
}

/* The row of the lock, in ms. */
static void check_in(struct asked *w, const struct query_spec *s, uint64_t spin, uint64_t block)
{
	struct table t = asked_locks(w, *s);

	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "spin_ns"), spin * MS);
	assert_int_equal(cell_u(&t, 0, "block_ns"), block * MS);
}

static void check(struct asked *w, uint64_t spin, uint64_t block)
{
	static const enum query_by all[] = {BY_LOCK, BY_CALLER, BY_TASK, BY_TYPE, BY_STACK};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		check_in(w, &(struct query_spec){.by = all[i], .average = true}, spin, block);
}

/* 3 + 2 ms of spinning, 5 + 1 of sleep. */
static void wait_in_phases(struct asked *w, uint64_t ms, int ret)
{
	phase(w, ms, LOCK, SPINS);
	phase(w, ms + 3, LOCK, SLEEPS);
	phase(w, ms + 8, LOCK, SPINS);
	phase(w, ms + 10, LOCK, SLEEPS);
	end(w, ms + 11, LOCK, ret);
}

static void phases_add_up(void **state)
{
	struct asked *w = *state;

	start(w);
	wait_in_phases(w, 10, 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 5, 6);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(cell_u(&t, 0, "total_ns"), 11 * MS);
	assert_false(cell_at(&t, 0, "spin_ns")->at_least);
	assert_true(cell_at(&t, 0, "spin_ns_per_s")->d == 5e7);
}

static void several_waits_add_up(void **state)
{
	struct asked *w = *state;

	start(w);
	for (uint64_t i = 0; i < 3; i++)
		wait_in_phases(w, 10 + 20 * i, i == 1 ? -4 : 0);
	phase(w, 80, LOCK, SPINS);
	end(w, 84, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 19, 18);
}

static void a_wait_in_flight_counts_so_far(void **state)
{
	struct asked *w = *state;

	start(w);
	phase(w, 10, LOCK, SPINS);
	phase(w, 30, LOCK, SLEEPS);
	phase(w, 60, LOCK, SPINS);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check(w, 60, 30);
}

static void other_locks_have_none(void **state)
{
	struct asked *w = *state;

	start(w);
	phase(w, 10, LOCK, LCB_F_WRITE);
	end(w, 20, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_false(cell_at(&t, 0, "spin_ns")->known);
	assert_false(cell_at(&t, 0, "spin_ns_per_s")->known);
	assert_int_equal(cell_u(&t, 0, "block_ns"), 10 * MS);
}

static void spinlocks_only_spin(void **state)
{
	struct asked *w = *state;

	start(w);
	phase(w, 10, LOCK, LCB_F_SPIN);
	end(w, 20, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check_in(w, &(struct query_spec){.average = true}, 10, 0);
}

/* A window has the part within it, also of a wait that began before it and continues. */
static void windows_have_their_part(void **state)
{
	struct asked *w = *state;

	start(w);
	phase(w, 10, LOCK, SPINS);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	phase(w, 1300, LOCK, SLEEPS);
	phase(w, 1900, LOCK, SPINS);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	end(w, 2200, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 3000 * MS);
	play(w);
	check(w, 1590, 600);
	w->q.window_ns = 1000 * MS;
	check_in(w, &(struct query_spec){0}, 200, 0);
	w->q.window_ns = 2000 * MS;
	check_in(w, &(struct query_spec){0}, 600, 600);
	w->q.window_ns = 3000 * MS;
	check_in(w, &(struct query_spec){0}, 1590, 600);
	struct table t = asked_locks(w, (struct query_spec){0});
	assert_true(cell_at(&t, 0, "spin_ns_per_s")->d == 53e7);
	w->q.window_ns = 0;
}

/* Many of them in one tick are packed; the sums stay. */
static void a_storm_is_packed(void **state)
{
	struct asked *w = *state;

	start(w);
	for (uint64_t i = 0; i < 3000; i++)
		wait_in_phases(w, 20 * i, 0);
	synth_tick(w->rig.synth, CANNED_START + 60000 * MS);
	play(w);
	w->q.window_ns = 60000 * MS;
	check_in(w, &(struct query_spec){0}, 15000, 18000);
	w->q.window_ns = 0;
}

/* Sums that begin in a wait have the part after it. */
static void sums_may_begin_within(void **state)
{
	struct asked *w = *state;
	struct model *m;

	start(w);
	phase(w, 10, LOCK, SPINS);
	phase(w, 40, LOCK, SLEEPS);
	phase(w, 50, LOCK, SPINS);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	m = w->rig.engine.model;
	check(w, 80, 10);
	model_zero(m);
	m->now_ns += 25 * MS;
	check(w, 25, 0);
}

static void report_late(struct asked *w, uint64_t ms, uint64_t since, uint32_t n_frames,
			uint64_t spun_ms)
{
	struct waitrec_late l = {.magic = WAITREC_LATE_MAGIC,
				 .lock = LOCK,
				 .flags = SLEEPS,
				 .tid = TID,
				 .n_frames = n_frames,
				 .spun = spun_ms ? waitrec_age(spun_ms * MS) : 0,
				 .begin_ns = CANNED_START + since * MS};
	const size_t before = sizeof(l.size);

	memcpy(l.frames, frames, sizeof(frames));
	synth_output(
		w->rig.synth, 0, CANNED_START + ms * MS, 700, TID, (const uint8_t *)&l + before,
		offsetof(struct waitrec_late, frames) + n_frames * sizeof(l.frames[0]) - before);
}

static void a_late_one_has_it_in_sum(void **state)
{
	struct asked *w = *state;

	start(w);
	report_late(w, 50, 10, 0, 8);
	synth_tick(w->rig.synth, CANNED_START + 60 * MS);
	report_late(w, 90, 10, 2, 9);
	end(w, 90, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 120 * MS);
	play(w);
	check(w, 9, 71);
	w->q.window_ns = 60 * MS;
	check_in(w, &(struct query_spec){0}, 1, 29);
	w->q.window_ns = 0;
}

/* Recordings of before have it not. */
static void without_it_it_is_at_least(void **state)
{
	struct asked *w = *state;

	start(w);
	report_late(w, 90, 10, 2, 0);
	end(w, 90, LOCK, 0);
	synth_tick(w->rig.synth, CANNED_START + 120 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(cell_u(&t, 0, "spin_ns"), 0);
	assert_true(cell_at(&t, 0, "spin_ns")->at_least);
	assert_true(cell_at(&t, 0, "block_ns")->approx);
}

struct sums {
	struct record_snapshot head;
	struct shortsnap_head shorts;
	struct shortsnap_row rows[2];
	uint64_t spun[2];
};

static void put_sums(struct asked *w, uint64_t ms, uint64_t n, bool is_split)
{
	struct sums b = {.head = {.kind = SNAPSHOT_SHORT,
				  .version = SHORTSNAP_VERSION,
				  .time_ns = CANNED_START + ms * MS},
			 .shorts = {.from_ns = CANNED_START,
				    .threshold_ns = MS,
				    .level = SHORTSNAP_THRESHOLD,
				    .n_rows = 2}};

	for (int i = 0; i < 2; i++) {
		b.rows[i] = (struct shortsnap_row){
			.n = n, .ns = 10 * n * MS, .flags = SLEEPS, .n_frames = 2};
		b.rows[i].frames[0] = frames[0];
		b.rows[i].frames[1] = frames[1] + 4 * (uint64_t)i;
		b.spun[i] = 4 * n * MS;
	}
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &b,
		     is_split ? sizeof(b) : offsetof(struct sums, spun));
}

static void sums_have_it_behind_the_rows(void **state)
{
	struct asked *w = *state;

	start(w);
	put_sums(w, 0, 0, true);
	put_sums(w, 100, 10, true);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	check_in(w, &(struct query_spec){.average = true}, 80, 120);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_false(cell_at(&t, 0, "spin_ns")->at_least);
}

static void sums_without_it_are_at_least(void **state)
{
	struct asked *w = *state;

	start(w);
	put_sums(w, 0, 0, false);
	put_sums(w, 100, 10, false);
	synth_tick(w->rig.synth, CANNED_START + 100 * MS);
	play(w);
	struct table t = asked_locks(w, (struct query_spec){.average = true});
	assert_int_equal(cell_u(&t, 0, "spin_ns"), 0);
	assert_true(cell_at(&t, 0, "spin_ns")->at_least);
}

/* Two parts that meet between two snapshots have the whole. */
static void parts_of_sums_add_up(void **state)
{
	const size_t rows = offsetof(struct sums, shorts);
	struct sums a = {.shorts.n_rows = 2}, b = {.shorts.n_rows = 2};
	struct shortsnap_pair p = {.before_ns = 0, .now_ns = 1000};
	struct shortsnap at;
	uint64_t spun[2];
	size_t len;
	void *held;

	(void)state;
	for (int i = 0; i < 2; i++) {
		a.rows[i] = (struct shortsnap_row){.n = 10, .ns = 1000, .flags = SLEEPS};
		b.rows[i] = (struct shortsnap_row){.n = 30, .ns = 3000, .flags = SLEEPS};
		a.spun[i] = 100;
		b.spun[i] = 900;
	}
	assert_true(shortsnap_decode(&a.shorts, sizeof(a) - rows, &p.before));
	assert_true(shortsnap_decode(&b.shorts, sizeof(b) - rows, &p.now));
	assert_int_equal(shortsnap_at(&p, 250, &held, &len), 0);
	assert_true(shortsnap_decode(held, len, &at));
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(shortsnap_part_since(&at, &p.before, i, SHORTSNAP_SPUN, &spun[0]));
		assert_true(shortsnap_part_since(&p.now, &at, i, SHORTSNAP_SPUN, &spun[1]));
		assert_int_equal(spun[0] + spun[1], 800);
		assert_in_range(spun[0], 150, 250);
	}
	mem_free(held);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(phases_add_up),
		TEST(several_waits_add_up),
		TEST(a_wait_in_flight_counts_so_far),
		TEST(other_locks_have_none),
		TEST(spinlocks_only_spin),
		TEST(windows_have_their_part),
		TEST(a_storm_is_packed),
		TEST(sums_may_begin_within),
		TEST(a_late_one_has_it_in_sum),
		TEST(without_it_it_is_at_least),
		TEST(sums_have_it_behind_the_rows),
		TEST(sums_without_it_are_at_least),
		cmocka_unit_test(parts_of_sums_add_up),
	};
#undef TEST
	return cmocka_run_group_tests(tests, NULL, NULL);
}
