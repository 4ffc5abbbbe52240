// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest waits that have just ended: of streams of waits the same as of all that there were,
 * sorted; and their rows, folded and not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/longest-recent.h"
#include "kontend/mem.h"
#include "kontend/query-wait.h"

#include <string.h>

enum { WAITS = 20000, SEEDS = 30 };

#define SECOND 1000000000ull
#define LOCK 0xffff888011111100ull
#define MS 1000000ull
#define START (1000 * SECOND)

struct ended {
	uint64_t end_ns, ns;
};

static uint64_t random_below(uint64_t *r, uint64_t n)
{
	*r ^= *r << 13;
	*r ^= *r >> 7;
	*r ^= *r << 17;
	return *r % n;
}

static int longest_first(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	return x->ns < y->ns ? 1 : -(x->ns > y->ns);
}

/* Sum of the lengths, and how many: of the longest of each second that the last 10 s reach into. */
static void by_force(struct ended *all, size_t n, uint64_t now, uint64_t *ret_sum, uint32_t *ret_n)
{
	*ret_sum = *ret_n = 0;
	for (uint64_t s = now / SECOND < 11 ? 0 : now / SECOND - 10; s <= now / SECOND; s++) {
		struct ended *of = calloc(n, sizeof(*of));
		size_t k = 0;

		assert_non_null(of);
		for (size_t i = 0; i < n; i++)
			if (all[i].end_ns / SECOND == s)
				of[k++] = all[i];
		qsort(of, k, sizeof(*of), longest_first);
		for (size_t i = 0; i < k && i < LONGEST_EACH; i++)
			if (of[i].end_ns + LONGEST_NS >= now) {
				*ret_sum += of[i].ns;
				(*ret_n)++;
			}
		free(of);
	}
}

static void the_longest_of_each_second_are_kept(void **state)
{
	struct longest_recent *p = calloc(1, sizeof(*p));
	struct ended *all = calloc(WAITS, sizeof(*all));

	(void)state;
	assert_non_null(p);
	assert_non_null(all);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t r = seed * 0x9e3779b97f4a7c15, now = 0, sum, got = 0;
		uint32_t n;

		longest_recent_clear(p);
		for (size_t i = 0; i < WAITS; i++) {
			now += random_below(&r, seed % 3 ? 2 * MS : 200 * MS);
			all[i] = (struct ended){START + now, random_below(&r, 50 * MS) + 1};
			const struct wait w = {.begin_ns = all[i].end_ns - all[i].ns};
			longest_recent_note(p, &w, all[i].end_ns);
		}
		const struct longest_recent_wait *kept[LONGEST_MOST];
		uint32_t n_kept = longest_recent_list(p, all[WAITS - 1].end_ns, kept);
		for (uint32_t i = 0; i < n_kept; i++)
			got += longest_recent_ns(kept[i]);
		by_force(all, WAITS, all[WAITS - 1].end_ns, &sum, &n);
		assert_int_equal(n_kept, n);
		assert_int_equal(got, sum);
	}
	free(all);
	free(p);
}

static uint64_t number(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	assert_int_not_equal(col, SIZE_MAX);
	return table_value(t, row, col)->u;
}

/* Ten wait for one lock, two for another; three of the first's have ended, 12 s ago one. */
static int setup(void **state)
{
	struct synth *s;
	struct asked *w;

	if (asked_setup_empty(state) < 0)
		return -1;
	w = *state;
	rig_init(&w->rig, 1);
	s = w->rig.synth;
	synth_round(s, SECOND);
	for (int i = 0; i < 4; i++) {
		uint64_t begin = SECOND + (i ? 12 * SECOND : 0) + (uint64_t)i * 10 * MS;
		synth_begin(s, 0, begin, 700, 750 + i, LOCK, LCB_F_WRITE, NULL, 0);
		synth_end(s, 0, begin + (uint64_t)(i + 1) * 10 * MS, 700, 750 + i, LOCK, 0);
	}
	for (int i = 0; i < 12; i++)
		synth_begin(s, 0, 14 * SECOND + (uint64_t)i * MS, 700, 701 + i,
			    i < 10 ? LOCK : LOCK + 64, i % 2 ? LCB_F_READ : LCB_F_WRITE, NULL, 0);
	synth_tick(s, 14 * SECOND + 100 * MS);
	asked_play(w, NULL);
	return 0;
}

static void those_that_ended_are_below(void **state)
{
	struct asked *w = *state;
	const struct query_spec spec = {0};
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_wait_rows(&w->q, &spec, NULL, &t, NULL), 0);
	assert_int_equal(t.n_rows, 15);
	for (size_t i = 0; i < t.n_rows; i++) {
		assert_int_equal(number(&t, i, "ended"), i >= 12);
		assert_int_equal(number(&t, i, "waiting"), 1);
	}
	assert_int_equal(number(&t, 12, "since_ns"), 40 * MS);
	assert_int_equal(number(&t, 12, "ended_ns"), 14100 * MS - 13070 * MS);
	assert_int_equal(query_waiters(&w->q, &spec, &t, NULL), 0);
	assert_int_equal(t.n_rows, 12);
	model_zero(w->rig.engine.model);
	query_begin(&w->q);
	assert_int_equal(query_wait_rows(&w->q, &spec, NULL, &t, NULL), 0);
	assert_int_equal(t.n_rows, 12);
}

static void many_of_one_lock_are_one_row(void **state)
{
	struct asked *w = *state;
	const uint64_t open = LOCK;
	struct query_fold fold = {.least = 8};
	struct query_spec spec = {0};
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_wait_rows(&w->q, &spec, &fold, &t, NULL), 0);
	assert_int_equal(t.n_rows, 1 + 2 + 3);
	size_t at = table_row(&t, query_fold_id(LOCK));
	assert_int_not_equal(at, SIZE_MAX);
	assert_int_equal(number(&t, at, "waiting"), 10);
	assert_int_equal(number(&t, at, "since_ns"), 100 * MS);
	assert_int_equal(number(&t, at, "waited_ns"), (100 + 91) * 10 / 2 * MS);
	assert_string_equal(table_value(&t, at, table_column(&t, "task"))->s, "10 waiters");
	assert_string_equal(table_value(&t, at, table_column(&t, "kind"))->s, "rwsem");
	assert_false(table_value(&t, at, table_column(&t, "tid"))->known);

	fold = (struct query_fold){8, &open, 1};
	assert_int_equal(query_wait_rows(&w->q, &spec, &fold, &t, NULL), 0);
	assert_int_equal(t.n_rows, 15);
	fold = (struct query_fold){.least = 8};
	spec.filter = "ended=no";
	assert_int_equal(query_wait_rows(&w->q, &spec, &fold, &t, NULL), 0);
	assert_int_equal(t.n_rows, 12);
}

/* A row goes on to be the same one when the wait ends. */
static void one_that_ended_can_be_opened(void **state)
{
	struct asked *w = *state;
	const struct query_spec spec = {0};
	struct query_wait wait;
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_wait_rows(&w->q, &spec, NULL, &t, NULL), 0);
	assert_int_equal(query_wait(&w->q, t.ids[12], &spec, &wait, NULL), 0);
	assert_true(wait.ended);
	assert_int_equal(wait.since_ns, 40 * MS);
	assert_int_equal(query_wait(&w->q, t.ids[0], &spec, &wait, NULL), 0);
	assert_false(wait.ended);
	for (size_t i = 0; i < t.n_rows; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(t.ids[i], t.ids[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_of_each_second_are_kept),
		cmocka_unit_test_setup_teardown(those_that_ended_are_below, setup, asked_teardown),
		cmocka_unit_test_setup_teardown(many_of_one_lock_are_one_row, setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(one_that_ended_can_be_opened, setup,
						asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
