// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buckets of cells: what was waited in the open bucket is in the closed one after a tick, and gone
 * after the next, however the table has grown, folded or been copied in between.
 */
#include "kontend/cell.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 2048, GROUPS = 4096 };

static struct cell *get(struct cell_table *t, uint32_t i)
{
	struct cell *c = cell_get(t, (struct cell_key){i % 7, i, i % 5 + 1, (uint16_t)(i % 3), 0});

	assert_non_null(c);
	return c;
}

static uint64_t closed(const struct cell_table *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		assert_int_equal(t->cells[i].cur_wait_ns, 0);
		assert_int_equal(t->cells[i].cur_n, 0);
		sum += t->cells[i].rate_wait_ns;
	}
	return sum;
}

/* One wait of 100 ns in each cell from @from on, before @to. */
static void wait_in(struct cell_table *t, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct cell *c = get(t, i);
		cell_wait(t, c, 100);
		cell_add(t, c, 100, 1000);
	}
}

static void check_two_ticks(struct cell_table *t, uint64_t want)
{
	cell_tick(t);
	assert_int_equal(closed(t), want);
	cell_tick(t);
	assert_int_equal(closed(t), 0);
	for (size_t i = 0; i < t->n; i++)
		assert_int_equal(t->cells[i].rate_n, 0);
}

static void test_ticks(void **state)
{
	struct cell_table t;

	(void)state;
	assert_int_equal(cell_table_init(&t, MOST, GROUPS), 0);
	check_two_ticks(&t, 0);
	wait_in(&t, 1, 200);
	check_two_ticks(&t, 199 * 100);
	/* In flight: waited, but not over. */
	cell_wait(&t, get(&t, 1), 7);
	check_two_ticks(&t, 7);
	cell_table_deinit(&t);
}

static void test_grows_in_a_bucket(void **state)
{
	struct cell_table t;

	(void)state;
	assert_int_equal(cell_table_init(&t, MOST, GROUPS), 0);
	wait_in(&t, 1, 1500);
	assert_int_equal(t.n, 1499);
	check_two_ticks(&t, 1499 * 100);
	wait_in(&t, 1200, 1300);
	check_two_ticks(&t, 100 * 100);
	cell_table_deinit(&t);
}

static uint32_t coarse(const void *ctx, uint32_t lock)
{
	(void)ctx;
	(void)lock;
	return 0;
}

static void test_folds_in_a_bucket(void **state)
{
	struct cell_table t;

	(void)state;
	assert_int_equal(cell_table_init(&t, MOST, GROUPS), 0);
	wait_in(&t, 1, 1000);
	cell_tick(&t);
	wait_in(&t, 1000, 1500);
	cell_fold(&t, 2000, coarse, NULL);
	assert_true(t.n < 1000);
	check_two_ticks(&t, 500 * 100);
	/* Room that cells have left is used again. */
	wait_in(&t, 3000, 3800);
	check_two_ticks(&t, 800 * 100);
	cell_table_clear(&t);
	check_two_ticks(&t, 0);
	cell_table_deinit(&t);
}

static void test_copies_in_a_bucket(void **state)
{
	struct model m, copy;

	(void)state;
	assert_int_equal(model_init(&m, NULL), 0);
	wait_in(&m.cells, 1, 300);
	assert_int_equal(model_copy(&copy, &m), 0);
	check_two_ticks(&m.cells, 299 * 100);
	check_two_ticks(&copy.cells, 299 * 100);
	wait_in(&copy.cells, 1, 600);
	check_two_ticks(&copy.cells, 599 * 100);
	model_deinit(&copy);
	model_deinit(&m);
}

static void test_out_of_memory(void **state)
{
	long live = mem_live();
	struct cell_table t;

	(void)state;
	for (long n = 0;; n++) {
		mem_fail_after(n);
		int r = cell_table_init(&t, MOST, GROUPS);
		uint32_t i = 1;
		while (!r && i < 600 && cell_get(&t, (struct cell_key){1, i, 1, 1, 0}))
			i++;
		long made = mem_count();
		mem_fail_after(-1);
		if (r) {
			assert_int_equal(r, -ENOMEM);
		} else {
			/* It goes on with what it has. */
			assert_int_equal(t.n, i - 1);
			cell_wait(&t, &t.cells[0], 1);
			check_two_ticks(&t, 1);
			assert_non_null(cell_get(&t, (struct cell_key){1, 700, 1, 1, 0}));
			cell_table_deinit(&t);
		}
		assert_int_equal(mem_live(), live);
		if (made <= n)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_grows_in_a_bucket),
		cmocka_unit_test(test_folds_in_a_bucket),
		cmocka_unit_test(test_copies_in_a_bucket),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
