// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits in flight are in MAX, AVG, percentiles and totals with the time that they have lasted so
 * far. Over random streams: MAX of a row is at least the longest wait in flight of that row, and
 * totals of all tables agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/query-hist.h"
#include "kontend/query-overview.h"
#include "kontend/query-tree.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 40 };

static const enum query_by all_by[] = {BY_LOCK, BY_CALLER, BY_TASK,  BY_PROCESS,
				       BY_TYPE, BY_CGROUP, BY_STACK, BY_OWNER};

static uint64_t known_u(const struct table *t, size_t row, const char *key)
{
	const struct value *v = cell_at(t, row, key);

	return v->known ? v->u : 0;
}

/* The row of @wait, by the value of column @id of waiters. */
static void check_wait(const struct table *waits, size_t wait, const struct table *t,
		       const char *id)
{
	size_t row = table_row(t, cell_u(waits, wait, id));
	uint64_t since = cell_u(waits, wait, "since_ns");

	assert_true(row != SIZE_MAX);
	assert_true(cell_u(t, row, "max_ns") >= since);
	assert_true(cell_u(t, row, "total_ns") >= since);
	assert_true(cell_at(t, row, "total_ns")->at_least);
	assert_true(cell_at(t, row, "avg_ns")->at_least);
	assert_true(cell_at(t, row, "p99_ns")->at_least);
}

static void check_rows(const struct table *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		uint64_t p50 = known_u(t, i, "p50_ns"), p90 = known_u(t, i, "p90_ns"),
			 p99 = known_u(t, i, "p99_ns"), max = known_u(t, i, "max_ns");

		assert_true(p50 <= p90 && p90 <= p99 && p99 <= max);
		assert_true(known_u(t, i, "avg_ns") <= max);
		assert_true(known_u(t, i, "total_ns") >= max);
		/* Nothing goes on, so nothing may get longer. */
		if (!known_u(t, i, "waiting"))
			assert_false(cell_at(t, i, "max_ns")->at_least);
	}
}

static void check_waits(struct asked *w)
{
	struct table waits = asked_waiters(w, (struct query_spec){0});
	struct table locks = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	struct table tasks = asked_locks(w, (struct query_spec){.by = BY_TASK});
	struct table callers = asked_locks(w, (struct query_spec){.by = BY_CALLER});

	for (size_t i = 0; i < waits.n_rows; i++) {
		if (cell_u(&waits, i, "doubtful") || cell_u(&waits, i, "ended"))
			continue;
		check_wait(&waits, i, &locks, "lock_id");
		check_wait(&waits, i, &tasks, "task_id");
		check_wait(&waits, i, &callers, "caller_id");
	}
}

static void check_totals(struct asked *w)
{
	struct query_overview o;
	struct query_hist h;
	struct query_tree tree;

	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &o), 0);
	for (size_t i = 0; i < sizeof(all_by) / sizeof(all_by[0]); i++) {
		struct table t = asked_locks(w, (struct query_spec){.by = all_by[i]});

		assert_int_equal(column_sum(&t, "total_ns"), o.total_ns + o.inflight_ns);
		check_rows(&t);
		t = asked_locks(w, (struct query_spec){.by = all_by[i], .ended = true});
		assert_int_equal(column_sum(&t, "total_ns"), o.total_ns);
	}
	assert_int_equal(query_hist_now(&w->q, NULL, &h), 0);
	assert_int_equal(h.total_ns, o.total_ns + o.inflight_ns);
	assert_int_equal(query_tree(&w->q, NULL, false, false, &tree), 0);
	assert_int_equal(tree.total_ns, h.total_ns);
	assert_int_equal(tree.n_waits, h.n_waits + h.n_inflight);
}

static void max_and_totals_have_what_goes_on(void **state)
{
	size_t longer = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		const struct random_plan plan = {
			.events = 400, .locks = 6, .seed = seed, .has_tail = seed & 1};
		struct asked *w;
		void *one;

		assert_int_equal(asked_setup_empty(&one), 0);
		w = one;
		random_stream(&w->rig, &plan);
		asked_play(w, NULL);
		check_waits(w);
		check_totals(w);
		struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
		for (size_t i = 0; i < t.n_rows; i++)
			longer += cell_at(&t, i, "max_ns")->at_least;
		assert_int_equal(asked_teardown(&one), 0);
	}
	/* Some of these streams end while the longest wait of a lock goes on. */
	assert_true(longer > 0);
}

/* A wait of 2.11 s that is not over, and one of 167 us that has ended. */
static void a_wait_in_flight_is_the_longest(void **state)
{
	const struct record_host host = {.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1};
	const uint64_t lock = 0xffff888011111100ull, end = CANNED_START + 3000 * CANNED_MS;
	struct asked *w = *state;
	struct synth *y;
	char buf[64];

	rig_init(&w->rig, 1);
	y = w->rig.synth;
	synth_record(y, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(y, CANNED_START);
	synth_begin(y, 0, CANNED_START + 1000, 700, 701, lock, LCB_F_MUTEX, NULL, 0);
	synth_end(y, 0, CANNED_START + 168000, 700, 701, lock, 0);
	synth_begin(y, 0, end - 2110 * CANNED_MS, 700, 702, lock, LCB_F_MUTEX, NULL, 0);
	synth_tick(y, end);
	asked_play(w, NULL);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	size_t max = table_column(&t, "max_ns");
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(
		table_format(&t.columns[max], table_value(&t, 0, max), false, buf, sizeof(buf)),
		"≥2.11s");
	assert_string_equal(
		table_format(&t.columns[max], table_value(&t, 0, max), true, buf, sizeof(buf)),
		">2.11s");
	assert_int_equal(cell_u(&t, 0, "contended"), 1);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 2110 * CANNED_MS + 167000);
	assert_int_equal(cell_u(&t, 0, "avg_ns"), (2110 * CANNED_MS + 167000) / 2);
	struct report_spec s = {.format = REPORT_JSON, .views = REPORT_LOCKS};
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "\"max_ns\": 2110000000"));
	assert_non_null(strstr(text, "\"lower_bound\": [\"avg_ns\", \"p50_ns\", \"p99_ns\", "
				     "\"max_ns\", \"total_ns\", \"p90_ns\"]"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(max_and_totals_have_what_goes_on),
		cmocka_unit_test_setup_teardown(a_wait_in_flight_is_the_longest, asked_setup_empty,
						asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
