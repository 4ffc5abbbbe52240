// SPDX-License-Identifier: GPL-2.0-only
/* How evenly tasks use a lock: Jain's index of known times, and the tasks of a story. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "followed.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/query-queued.h"
#include "kontend/query-use.h"
#include "kontend/wait-filter.h"
#include "synth-profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS CANNED_MS

static void expect_near(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12f, not %.12f", a, b);
}

static void the_index_is_jains(void **state)
{
	const uint64_t same[] = {7, 7, 7, 7, 7}, one[] = {0, 9, 0, 0}, ten[] = {10, 1, 1, 1},
		       half[] = {3, 3, 0, 0}, large[] = {UINT64_MAX, UINT64_MAX};

	(void)state;
	expect_near(query_use_jain(same, 5), 1);
	expect_near(query_use_jain(one, 4), 1.0 / 4);
	expect_near(query_use_jain(one + 1, 1), 1);
	expect_near(query_use_jain(ten, 4), 13.0 * 13 / (4 * 103));
	expect_near(query_use_jain(half, 4), 2.0 / 4);
	expect_near(query_use_jain(large, 2), 1);
	expect_near(query_use_jain(one, 1), 0);
	expect_near(query_use_jain(NULL, 0), 0);
}

static void sample_of(struct synth *s, int ms, int tid)
{
	synth_sample(s, 1, CANNED_START + (unsigned)ms * MS, FOLLOWED_PID, tid, 1,
		     (struct synth_chain){.ip = 0x1000});
}

/* 801 is sampled three times, and a reader once; so is a task that does not use the lock. */
static void play_story(struct asked *w, const struct model_limits *limits, bool profile)
{
	char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, followed_symbols);
	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, symbols);
	synth_outputs(w->rig.synth);
	if (profile)
		synth_profile(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	for (int i = 0; profile && i < 5; i++)
		sample_of(w->rig.synth, 30 + 10 * i,
			  i == 3   ? FOLLOWED_ROOT + 1
			  : i == 4 ? FOLLOWED_DD
				   : FOLLOWED_ROOT);
	followed_emit(w->rig.synth, CANNED_START, 3);
	asked_play(w, limits);
	query_begin(&w->q);
}

static uint64_t lock_id(struct asked *w, uint64_t addr)
{
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});

	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_u(&t, i, "lock") == addr)
			return t.ids[i];
	fail_msg("no such lock");
	return 0;
}

/* One task has it 720 ms of each second, while three others wait: both modes are one lock. */
static void one_of_four_has_all_of_it(void **state)
{
	struct asked *w = *state;
	struct query_use u;

	play_story(w, NULL, true);
	assert_int_equal(query_use_lock(&w->q, lock_id(w, FOLLOWED_MMAP_LOCK), &u), 0);
	assert_int_equal(u.n, 1 + FOLLOWED_READERS);
	expect_near(u.jain, 1.0 / (1 + FOLLOWED_READERS));
	assert_int_equal(u.held_ns, 3 * 720 * MS);
	assert_int_equal(u.v[0].held_ns, u.held_ns);
	expect_near(u.v[0].held_pct, 100);
	assert_true(u.has_cpu);
	expect_near(u.v[0].cpu_pct, 75);
	assert_string_equal(query_use_text(&w->q, &u, 0), "mysqld/801 100%, CPU 75.0%");
	assert_true(u.v[1].waited_ns >= u.v[2].waited_ns);
	assert_int_equal(u.v[1].held_ns, 0);
	assert_int_equal(query_use_lock(&w->q, 12345, &u), 0);
	assert_int_equal(u.n, 0);
}

static void without_samples_cpu_time_is_not_known(void **state)
{
	struct asked *w = *state;
	struct query_use u;

	play_story(w, NULL, false);
	assert_int_equal(query_use_lock(&w->q, lock_id(w, FOLLOWED_MMAP_LOCK), &u), 0);
	assert_false(u.has_cpu);
	assert_string_equal(u.no_cpu, "no profile was taken");
	assert_string_equal(query_use_text(&w->q, &u, 0), "mysqld/801 100%");
}

static void a_window_has_its_own(void **state)
{
	struct model_limits limits = model_limits_recent(0);
	struct asked *w = *state;
	struct error err = {0};
	struct query_use u;

	play_story(w, &limits, true);
	uint64_t id = lock_id(w, FOLLOWED_MMAP_LOCK);
	w->q.window_ns = 1000 * MS;
	assert_int_equal(query_use_lock(&w->q, id, &u), 0);
	assert_int_equal(u.held_ns, 720 * MS);
	assert_false(u.has_cpu); /* all samples are older */
	w->q.window_ns = 0;
	/* Blame has no task of a filter. */
	assert_int_equal(wait_filter_set(&w->q, "tid=801", &err), 0);
	assert_int_equal(query_use_lock(&w->q, id, &u), 0);
	assert_int_equal(u.n, 0);
	wait_filter_end(&w->q);
}

/* A frame asks about each lock that it shows: their tasks take memory, and not all that there are.
 */
static void many_locks_take_the_memory_of_one(void **state)
{
	enum { TASKS = 4000, LOCKS = 100, LEAST = 8 * TASKS };
	struct asked *w = *state;
	struct query_uses all;
	struct query_use u;

	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, NULL);
	synth_outputs(w->rig.synth);
	synth_profile(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	for (int i = 0; i < TASKS; i++)
		synth_comm(w->rig.synth, 0, CANNED_START, 10000 + i, 10000 + i, "many");
	sample_of(w->rig.synth, 30, FOLLOWED_ROOT);
	followed_emit(w->rig.synth, CANNED_START, 3);
	asked_play(w, NULL);
	query_begin(&w->q);
	uint32_t lock = lock_by_id(w->q.model->locks, lock_id(w, FOLLOWED_MMAP_LOCK));
	size_t first = w->q.arena.used_bytes;
	assert_int_equal(query_use_all(&w->q, UINT32_MAX, &all), 0);
	assert_true(w->q.arena.used_bytes - first >= LEAST);
	first = w->q.arena.used_bytes;
	for (int i = 0; i < LOCKS; i++) {
		assert_int_equal(query_use_of(&w->q, &all, lock, &u), 0);
		assert_true(u.has_cpu);
	}
	assert_true(w->q.arena.used_bytes - first < LEAST * 2);
}

static void queues_have_it_of_each_lock(void **state)
{
	struct query_spec spec = {0};
	struct asked *w = *state;
	struct error err = {0};
	struct table t;

	play_story(w, NULL, true);
	assert_int_equal(query_queued(&w->q, &spec, &t, &err), 0);
	assert_true(t.n_rows > 0);
	for (size_t i = 0; i < t.n_rows; i++) {
		struct query_use u;
		uint64_t id = lock_id(w, cell_u(&t, i, "lock"));
		assert_int_equal(query_use_lock(&w->q, id, &u), 0);
		assert_int_equal(cell_at(&t, i, "use_jain")->known, u.held_ns != 0);
		if (!u.held_ns)
			continue;
		expect_near(cell_at(&t, i, "use_jain")->d, u.jain);
		assert_int_equal(cell_u(&t, i, "use_tasks"), u.n);
		const char *first = query_use_text(&w->q, &u, 0);
		assert_memory_equal(cell_s(&t, i, "use"), first, strlen(first));
	}
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_is_jains),
		ON_STREAM(one_of_four_has_all_of_it),
		ON_STREAM(without_samples_cpu_time_is_not_known),
		ON_STREAM(a_window_has_its_own),
		ON_STREAM(queues_have_it_of_each_lock),
		ON_STREAM(many_locks_take_the_memory_of_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
