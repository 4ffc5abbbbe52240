// SPDX-License-Identifier: GPL-2.0-only
/* Sums of sleeps in state D: the model knows where its sums begin, queries subtract that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-elsewhere.h"
#include "kontend/record.h"
#include "kontend/sleptsnap.h"
#include "lock-snaps.h"

#include <string.h>

#define MS CANNED_MS

/* @n sleeps of 10 ms of one process, and one of another; in the order of any hash. */
static void emit(struct asked *w, uint64_t t, uint64_t from, uint64_t n)
{
	struct sleptsnap s = {.head = {.time_ns = t, .from_ns = from, .dropped = n / 2}};
	const struct sleptsnap_row many = {.pid = 900,
					   .comm = sleptsnap_add_text(&s, "sqlite"),
					   .kind = LOCKSNAP_IO,
					   .n_frames = 1,
					   .sleeps = n,
					   .total_ns = n * 10 * MS,
					   .max_ns = 11 * MS};
	const struct sleptsnap_row once = {.pid = 70,
					   .comm = sleptsnap_add_text(&s, "make"),
					   .kind = LOCKSNAP_DISK,
					   .frame = 1,
					   .n_frames = 1,
					   .sleeps = 1,
					   .total_ns = 5 * MS,
					   .max_ns = 5 * MS};

	assert_int_equal(sleptsnap_add_frame(&s, 0xffffffff81e00110), 0);
	assert_int_equal(sleptsnap_add_frame(&s, 0xffffffff81e00010), 0);
	assert_int_equal(sleptsnap_add_row(&s, n % 2 ? &once : &many), 0);
	assert_int_equal(sleptsnap_add_row(&s, n % 2 ? &many : &once), 0);
	lock_snap_emit_slept(w->rig.synth, &s);
}

static void begin(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
}

static struct query_elsewhere played(struct asked *w)
{
	struct query_elsewhere e;

	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	asked_play(w, NULL);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	return e;
}

static void sleeps_are_differences(void **state)
{
	struct asked *w = *state;

	begin(w);
	emit(w, CANNED_START + 1 * MS, CANNED_START, 2);
	emit(w, CANNED_START + 501 * MS, CANNED_START, 7);
	emit(w, CANNED_START + 1001 * MS, CANNED_START, 13);
	struct query_elsewhere e = played(w);
	assert_true(e.sums_sleeps);
	assert_int_equal(e.sleeps, 11);
	assert_int_equal(e.slept_ns, 110 * MS);
	assert_int_equal(e.slept_span_ns, 1000 * MS);
	assert_int_equal(e.sleeps_dropped, 5);
	assert_string_equal(query_elsewhere_slept(&w->q, &e),
			    "11 in 1.00s, of 110ms in total, 0.11 tasks on average; "
			    "not in these sums: 5");
	/* When sums begin again, none has ended since. */
	model_zero(w->q.engine->model);
	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	assert_true(e.sums_sleeps);
	assert_int_equal(e.sleeps, 0);
	assert_int_equal(e.slept_ns, 0);
	assert_int_equal(e.sleeps_dropped, 0);
}

/* Another measurement begins its sums itself, as in recordings that were joined. */
static void another_measurement_has_its_own(void **state)
{
	struct asked *w = *state;

	begin(w);
	emit(w, CANNED_START + 1 * MS, CANNED_START, 20);
	emit(w, CANNED_START + 1001 * MS, CANNED_START + 501 * MS, 13);
	struct query_elsewhere e = played(w);
	assert_int_equal(e.sleeps, 14);
	assert_int_equal(e.slept_ns, 135 * MS);
	assert_int_equal(e.slept_span_ns, 500 * MS);
}

/* Nothing is subtracted from the first of a measurement. */
static void the_first_of_a_measurement_counts(void **state)
{
	struct asked *w = *state;
	struct sleptsnap s = {.head = {.time_ns = CANNED_START + 401 * MS,
				       .from_ns = CANNED_START + 1 * MS,
				       .dropped = 3,
				       .is_first = 1}};
	const struct sleptsnap_row row = {
		.pid = 900, .kind = LOCKSNAP_IO, .sleeps = 4, .total_ns = 40 * MS};

	begin(w);
	assert_int_equal(sleptsnap_add_row(&s, &row), 0);
	lock_snap_emit_slept(w->rig.synth, &s);
	struct query_elsewhere e = played(w);
	assert_int_equal(e.sleeps, 4);
	assert_int_equal(e.slept_ns, 40 * MS);
	assert_int_equal(e.slept_span_ns, 400 * MS);
	assert_int_equal(e.sleeps_dropped, 3);
}

static void sleeps_may_not_be_known(void **state)
{
	struct sleptsnap s = {.head.time_ns = CANNED_START + MS};
	struct asked *w = *state;

	begin(w);
	s.head.reason = sleptsnap_add_text(&s, "BPF is switched off");
	lock_snap_emit_slept(w->rig.synth, &s);
	struct query_elsewhere e = played(w);
	assert_false(e.sums_sleeps);
	assert_string_equal(query_elsewhere_slept(&w->q, &e), "not known: BPF is switched off");
}

static void nobody_asked_for_them(void **state)
{
	struct asked *w = *state;

	begin(w);
	struct query_elsewhere e = played(w);
	assert_false(e.sums_sleeps);
	assert_null(query_elsewhere_slept(&w->q, &e));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sleeps_are_differences),
		TEST(another_measurement_has_its_own),
		TEST(the_first_of_a_measurement_counts),
		TEST(sleeps_may_not_be_known),
		TEST(nobody_asked_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
