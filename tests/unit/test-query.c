// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of streams whose truth is known: sums are computed here from the added records, not from
 * the content of the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/names/names.h"
#include "../../src/query/rows.h"
#include "asked.h"
#include "canned.h"
#include "kontend/query-overview.h"
#include "synth-profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void every_dimension_has_the_same_sums(void **state)
{
	struct asked *w = *state;
	/* A second: writers 1..10 ms, spins 2.0..2.9 us, 5 readers 3 ms, the pipe 80 us. */
	const uint64_t total = 3 * (55 * CANNED_MS + 24500 + 15 * CANNED_MS + 80000);

	for (int by = 0; by < QUERY_BYS; by++) {
		struct table t =
			asked_locks(w, (struct query_spec){.by = (enum query_by)by, .ended = true});
		assert_int_equal(column_sum(&t, "contended"), 78);
		assert_int_equal(column_sum(&t, "total_ns"), total);
		assert_int_equal(column_sum(&t, "waiting"), 2);
		assert_int_equal(column_sum(&t, "failed"), 1);
		assert_int_equal(t.n_total, t.n_rows);
	}
}

static void locks_say_what_was_waited(void **state)
{
	struct asked *w = *state;
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK, .ended = true});

	assert_int_equal(t.n_rows, 4);
	assert_string_equal(t.columns[t.sort_col].key, "wait_ns_per_s");
	assert_string_equal(cell_s(&t, 0, "kind"), "rwsem:W");
	assert_string_equal(cell_s(&t, 0, "type"), "rwsem");
	assert_string_equal(cell_s(&t, 0, "mode"), "W");
	assert_true(cell_u(&t, 0, "lock") == CANNED_MMAP_LOCK);
	assert_int_equal(cell_u(&t, 0, "contended"), 30);
	assert_int_equal(cell_u(&t, 0, "total_ns"), 165 * CANNED_MS);
	assert_int_equal(cell_u(&t, 0, "avg_ns"), 5500000);
	assert_int_equal(cell_u(&t, 0, "min_ns"), CANNED_MS);
	assert_int_equal(cell_u(&t, 0, "max_ns"), 10 * CANNED_MS);
	assert_int_equal(cell_u(&t, 0, "waiting"), 1);
	/* The latest one began 2541 ms after the start, 10 ms long. */
	assert_int_equal(cell_u(&t, 0, "last_ns"), (3000 - 2541 - 10) * CANNED_MS);
	assert_string_equal(cell_s(&t, 0, "caller"), "vm_mmap_pgoff");
	assert_true(cell_at(&t, 0, "caller")->approx);
	assert_false(cell_at(&t, 1, "caller")->approx);
	assert_string_equal(cell_s(&t, 2, "name"), "pipe_read …543210");
	assert_string_equal(cell_s(&t, 3, "name"), "tasklist_lock");
}

static void both_modes_have_one_name(void **state)
{
	struct asked *w = *state;
	struct table t = asked_locks(w, (struct query_spec){.filter = "rwsem"});

	assert_int_equal(t.n_rows, 2);
	assert_string_equal(cell_s(&t, 0, "name"), "vm_mmap_pgoff …345678");
	assert_string_equal(cell_s(&t, 1, "name"), "vm_mmap_pgoff …345678");
	assert_true(t.ids[0] != t.ids[1]);
}

static void rates_are_of_the_closed_bucket_or_of_all(void **state)
{
	struct asked *w = *state;
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	double last = 55e6 + 400e6, all = (165e6 + 400e6) / 3;

	assert_true(cell_at(&t, 0, "wait_ns_per_s")->d == last);
	assert_true(cell_at(&t, 0, "cont_per_s")->d == 10);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK, .average = true});
	assert_true(cell_at(&t, 0, "wait_ns_per_s")->d > all - 1);
	assert_true(cell_at(&t, 0, "wait_ns_per_s")->d < all + 1);
	assert_true(cell_at(&t, 0, "cont_per_s")->d == 10);
	assert_string_equal(t.columns[t.sort_col].key, "total_ns");
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Within the width of a bucket of the true value at that rank. */
static void near(uint64_t got, uint64_t want)
{
	double off = (double)got / (double)want - 1;

	if (off < -0.13 || off > 0.13)
		fail_msg("%llu is not near %llu", (unsigned long long)got,
			 (unsigned long long)want);
}

static void percentiles_are_near_the_truth(void **state)
{
	struct asked *w = *state;
	enum { N = 1000 };
	uint64_t v[N], t0 = CANNED_START, x = 88172645463325252ull;
	uint64_t frame = synth_addr(SYNTH_PIPE_READ);

	rig_init(&w->rig, 1);
	for (unsigned i = 0; i < N; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		v[i] = 1000 + (x & 0xfffff) * (1 + (i % 7 == 0) * 50);
		/* Many tasks, so that the row is the sum of many histograms. */
		synth_begin(w->rig.synth, 0, t0, 100, 100 + (int)i % 10, 0xffff888000001000, 0,
			    &frame, 1);
		synth_end(w->rig.synth, 0, t0 += v[i], 100, 100 + (int)i % 10, 0xffff888000001000,
			  0);
		t0 += 1000;
	}
	synth_tick(w->rig.synth, t0);
	asked_play(w, NULL);
	qsort(v, N, sizeof(v[0]), by_size);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 1);
	near(cell_u(&t, 0, "p50_ns"), v[N / 2]);
	near(cell_u(&t, 0, "p90_ns"), v[N * 9 / 10]);
	near(cell_u(&t, 0, "p99_ns"), v[N * 99 / 100]);
	assert_int_equal(cell_u(&t, 0, "min_ns"), v[0]);
	assert_int_equal(cell_u(&t, 0, "max_ns"), v[N - 1]);
}

static void a_wait_in_flight_is_a_row_of_its_own(void **state)
{
	struct asked *w = *state;
	uint64_t frame = synth_addr(SYNTH_PIPE_WRITE);
	struct table t;

	rig_init(&w->rig, 1);
	synth_begin(w->rig.synth, 0, CANNED_START, 5, 6, 0xffff888000001000, LCB_F_READ, &frame, 1);
	synth_round(w->rig.synth, CANNED_START + 2000 * CANNED_MS);
	asked_play(w, NULL);
	for (int by = 0; by < QUERY_BYS; by++) {
		t = asked_locks(w, (struct query_spec){.by = (enum query_by)by});
		assert_int_equal(t.n_rows, 1);
		assert_int_equal(cell_u(&t, 0, "waiting"), 1);
		assert_int_equal(cell_u(&t, 0, "contended"), 0);
		assert_int_equal(cell_u(&t, 0, "avg_ns"), 2000 * CANNED_MS);
		assert_int_equal(cell_u(&t, 0, "p99_ns"), 2000 * CANNED_MS);
		assert_true(cell_at(&t, 0, "max_ns")->at_least);
		assert_false(cell_at(&t, 0, "min_ns")->known);
		assert_false(cell_at(&t, 0, "last_ns")->known);
		assert_false(cell_at(&t, 0, "wait_ns_per_s")->known); /* no bucket was closed */
		assert_string_equal(cell_s(&t, 0, "name"), "pipe_write …001000");
	}
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(cell_u(&t, 0, "since_ns"), 2000 * CANNED_MS);
}

static void waiters_are_rwsem_first_then_the_longest(void **state)
{
	static const int order[] = {3, 2, 1, 4};
	struct asked *w = *state;
	struct table t;

	rig_init(&w->rig, 1);
	synth_comm(w->rig.synth, 0, 0, 1, 1, "one");
	synth_begin(w->rig.synth, 0, CANNED_START + 1, 1, 1, 0xffff888000001000, LCB_F_MUTEX, NULL,
		    0);
	synth_begin(w->rig.synth, 0, CANNED_START + 2, 1, 3, 0xffff888000002000, LCB_F_WRITE, NULL,
		    0);
	synth_begin(w->rig.synth, 0, CANNED_START + 3, 1, 2, 0xffff888000002000, LCB_F_READ, NULL,
		    0);
	synth_begin(w->rig.synth, 0, CANNED_START + 4, 1, 4, 0xffff888000003000,
		    LCB_F_MUTEX | LCB_F_SPIN, NULL, 0);
	synth_round(w->rig.synth, CANNED_START + 100);
	asked_play(w, NULL);
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(cell_at(&t, i, "tid")->i, order[i]);
	assert_string_equal(cell_s(&t, 2, "task"), "one/1");
	assert_string_equal(cell_s(&t, 2, "phase"), "asleep");
	assert_string_equal(cell_s(&t, 3, "phase"), "spinning");
	assert_string_equal(cell_s(&t, 3, "task"), "-/4");
	assert_string_equal(cell_s(&t, 3, "caller"), "-");
	assert_string_equal(cell_s(&t, 3, "name"), "0xffff888000003000");
	t = asked_waiters(w, (struct query_spec){.sort = "since_ns", .limit = 1});
	assert_int_equal(cell_at(&t, 0, "tid")->i, 1);
	assert_int_equal(t.n_match, 4);
	/* By its title as well. */
	t = asked_waiters(w, (struct query_spec){.sort = "Since", .reverse = true});
	assert_int_equal(cell_at(&t, 0, "tid")->i, 4);
}

/* A wait during which records were lost is left out: so the sums of its lock are lower bounds. */
static void rows_with_waits_left_out_are_at_least(void **state)
{
	const uint64_t whole = 0xffff888000001000, lossy = 0xffff888000002000;
	struct asked *w = *state;
	char buf[32];

	rig_init(&w->rig, 1);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t t = CANNED_START + i * 1000, lock = i < 2 ? whole : lossy;
		synth_begin(w->rig.synth, 0, t, 1, 1, lock, LCB_F_READ, NULL, 0);
		if (i == 3)
			synth_lost(w->rig.synth, 0, t + 100, 9);
		synth_end(w->rig.synth, 0, t + 500, 1, 1, lock, 0);
	}
	synth_round(w->rig.synth, CANNED_START + 5000);
	asked_play(w, NULL);
	struct table t = asked_locks(w, (struct query_spec){.sort = "contended", .average = true});
	assert_int_equal(t.n_rows, 2);
	for (size_t row = 0; row < 2; row++) {
		bool is_lossy = cell_u(&t, row, "lock") == lossy;
		const struct value *n = cell_at(&t, row, "contended");
		assert_int_equal(n->u, is_lossy ? 1 : 2);
		assert_int_equal(n->at_least, is_lossy);
		assert_int_equal(cell_at(&t, row, "wait_ns_per_s")->at_least, is_lossy);
		assert_false(cell_at(&t, row, "avg_ns")->at_least);
		const struct column *c = &t.columns[table_column(&t, "contended")];
		assert_string_equal(table_format(c, n, false, buf, sizeof(buf)),
				    is_lossy ? "≥1" : "2");
		assert_string_equal(table_format(c, n, true, buf, sizeof(buf)),
				    is_lossy ? ">1" : "2");
	}
}

static void check_losses(struct asked *w, bool of_locks)
{
	const uint64_t lock = 0xffff888000001000;
	struct query_overview o;

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t t = CANNED_START + i * 1000;
		synth_begin(w->rig.synth, 0, t, 1, 1, lock, LCB_F_READ, NULL, 0);
		synth_end(w->rig.synth, 0, t + 500, 1, 1, lock, 0);
	}
	synth_profile_throttle(w->rig.synth, 0, CANNED_START + 4000);
	synth_profile_lost(w->rig.synth, 0, 100);
	if (of_locks)
		synth_lost_samples(w->rig.synth, 0, 0, 7);
	synth_round(w->rig.synth, CANNED_START + 5000);
	asked_play(w, NULL);
	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.damage.throttled, 1);
	assert_int_equal(o.damage.lost, of_locks ? 107 : 100);
	assert_int_equal(o.loss.missing_most, of_locks ? 7 : 0);
	assert_true(o.loss.counted && o.loss.at_least);
	assert_true(o.loss.lost_pct > 90);
	assert_int_equal(o.loss.waits_lost_pct > 0, of_locks);
}

/* Lost samples and throttling of a profile are no missing waits; those of lock events are. */
static void losses_of_a_profile_are_no_waits(void **state)
{
	check_losses(*state, false);
}

static void losses_of_lock_events_are(void **state)
{
	check_losses(*state, true);
}

static void waits_that_may_have_ended_are_marked(void **state)
{
	struct asked *w = *state;
	struct query_overview o;
	struct table t;

	rig_init(&w->rig, 1);
	synth_begin(w->rig.synth, 0, CANNED_START, 1, 1, 0xffff888000001000, LCB_F_READ, NULL, 0);
	synth_lost(w->rig.synth, 0, CANNED_START + 1000, 9);
	synth_round(w->rig.synth, CANNED_START + 5000);
	asked_play(w, NULL);
	t = asked_waiters(w, (struct query_spec){0});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(cell_u(&t, 0, "doubtful"), 1);
	assert_true(cell_at(&t, 0, "since_ns")->approx);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.waiting, 1);
	assert_false(o.any_longest);
	assert_int_equal(o.damage.lost, 9);
}

static void sorting_is_exact_and_deterministic(void **state)
{
	struct asked *w = *state;
	struct table t = asked_locks(w, (struct query_spec){.sort = "kind"});

	assert_string_equal(cell_s(&t, 0, "kind"), "mutex"); /* text from a to z */
	assert_string_equal(cell_s(&t, 3, "kind"), "spinlock");
	t = asked_locks(w, (struct query_spec){.sort = "kind", .reverse = true, .limit = 2});
	assert_string_equal(cell_s(&t, 0, "kind"), "spinlock");
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(t.n_match, 4);
	t = asked_locks(w, (struct query_spec){.by = BY_TASK, .sort = "tid"});
	for (size_t i = 1; i < t.n_rows; i++)
		assert_true(cell_at(&t, i - 1, "tid")->i < cell_at(&t, i, "tid")->i);
	/* rwsem:W and spinlock both 30 times: the smaller id first, in either direction. */
	t = asked_locks(w, (struct query_spec){.sort = "contended"});
	assert_int_equal(cell_u(&t, 0, "contended"), cell_u(&t, 1, "contended"));
	assert_true(t.ids[0] < t.ids[1]);
	/* Not known goes last, in either direction. */
	t = asked_locks(w, (struct query_spec){.by = BY_PROCESS, .sort = "mode", .reverse = true});
	assert_false(cell_at(&t, t.n_rows - 1, "mode")->known);
}

static void wrong_sort_keys_are_named(void **state)
{
	static const char *const wrong[] = {"nope", "tid", "task_id"};
	struct asked *w = *state;
	struct table t;

	for (size_t i = 0; i < 3; i++) {
		struct error err = {0};
		struct query_spec spec = {.sort = wrong[i]};
		assert_int_equal(query_locks(&w->q, &spec, &t, &err), -EINVAL);
		assert_non_null(strstr(err.text, wrong[i]));
		assert_int_equal(
			query_waiters(&w->q, &(struct query_spec){.sort = "task_id"}, &t, NULL),
			-EINVAL);
	}
}

static void dimensions_are_parsed(void **state)
{
	enum query_by by;

	(void)state;
	for (int i = 0; i < QUERY_BYS; i++) {
		assert_int_equal(query_by_parse(query_by_name((enum query_by)i), &by), 0);
		assert_int_equal(by, i);
	}
	assert_int_equal(query_by_parse("memcg", &by), 0);
	assert_int_equal(by, BY_CGROUP);
	assert_int_equal(query_by_parse("holder", &by), -EINVAL);
	assert_int_equal(query_by_parse("", &by), -EINVAL);
	assert_string_equal(query_by_name(QUERY_BYS), "?");
}

static void zeroing_empties_the_tables(void **state)
{
	struct asked *w = *state;
	struct table t;

	asked_locks(w, (struct query_spec){.by = BY_LOCK});
	model_zero(w->rig.engine.model);
	query_begin(&w->q);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_int_equal(t.n_rows, 2); /* those waited for now */
	assert_int_equal(column_sum(&t, "contended"), 0);
	assert_int_equal(column_sum(&t, "waiting"), 2);
}

/* In a row, names have become old: the functions of other rows stay until the table is filled. */
static void fill_old(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct query *q = ctx;
	uint64_t renewed = q->cache->n_renewed;

	(void)want;
	*v = (struct value){.u = row, .known = true};
	q->cache->valid = false;
	assert_int_equal(query_sync(q), 0);
	assert_int_equal(q->cache->n_renewed, renewed);
}

static void rank_old(void *ctx, size_t row, struct row_rank *ret)
{
	(void)ctx;
	*ret = (struct row_rank){.order = row, .id = row};
}

static void functions_stay_while_a_table_is_filled(void **state)
{
	struct asked *w = *state;
	struct query *q = &w->q;
	const struct column columns[] = {{.key = "row", .title = "ROW", .type = COLUMN_COUNT}};
	const struct table_kind kind = {"old", columns, 1, fill_old, rank_old};
	const struct query_spec spec = {.limit = 0};
	struct row_source src = {.kind = &kind, .n = 3, .ctx = q};
	struct error err;
	struct table t;

	query_begin(q);
	assert_int_equal(query_sync(q), 0);
	uint64_t renewed = q->cache->n_renewed;
	assert_int_equal(rows_answer(q, &spec, &src, &t, &err), 0);
	assert_int_equal(t.n_rows, 3);
	assert_int_equal(query_sync(q), 0);
	assert_int_equal(q->cache->n_renewed, renewed + 1);
}

#define WITH(f, s) cmocka_unit_test_setup_teardown(f, s, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(every_dimension_has_the_same_sums, asked_setup),
		WITH(locks_say_what_was_waited, asked_setup),
		WITH(both_modes_have_one_name, asked_setup),
		WITH(rates_are_of_the_closed_bucket_or_of_all, asked_setup),
		WITH(percentiles_are_near_the_truth, asked_setup_empty),
		WITH(a_wait_in_flight_is_a_row_of_its_own, asked_setup_empty),
		WITH(waiters_are_rwsem_first_then_the_longest, asked_setup_empty),
		WITH(losses_of_a_profile_are_no_waits, asked_setup_empty),
		WITH(losses_of_lock_events_are, asked_setup_empty),
		WITH(waits_that_may_have_ended_are_marked, asked_setup_empty),
		WITH(rows_with_waits_left_out_are_at_least, asked_setup_empty),
		WITH(sorting_is_exact_and_deterministic, asked_setup),
		WITH(wrong_sort_keys_are_named, asked_setup),
		cmocka_unit_test(dimensions_are_parsed),
		WITH(zeroing_empties_the_tables, asked_setup),
		WITH(functions_stay_while_a_table_is_filled, asked_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
