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
		assert_false(t->cells[i].in_open);
		assert_int_equal(t->more[t->cells[i].more].cur_n, 0);
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
		assert_int_equal(cell_add(t, c, 100, 100, 1000), 0);
	}
}

static void check_two_ticks(struct cell_table *t, uint64_t want)
{
	cell_tick(t, 0, 1);
	assert_int_equal(closed(t), want);
	cell_tick(t, 0, 1);
	assert_int_equal(closed(t), 0);
	for (size_t i = 0; i < t->n; i++)
		assert_int_equal(cell_sums(t, &t->cells[i]).rate_n, 0);
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
	cell_tick(&t, 0, 1);
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
	wait_in(m.cells, 1, 300);
	assert_int_equal(model_copy(&copy, &m), 0);
	check_two_ticks(m.cells, 299 * 100);
	check_two_ticks(copy.cells, 299 * 100);
	wait_in(copy.cells, 1, 600);
	check_two_ticks(copy.cells, 599 * 100);
	model_deinit(&copy);
	model_deinit(&m);
}

/* The content of a cell, kept the plain way. */
struct plain {
	struct cell_sums sums;
	uint64_t total_ns;
	uint32_t failed;
	struct hist hist;
};

static uint32_t below(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static void wait_once(struct cell_table *t, uint32_t i, struct plain *p, uint32_t *seed)
{
	uint64_t ns = (uint64_t)1 << below(seed, 36), part = below(seed, 4) ? ns : ns / 2;

	ns += below(seed, 1000);
	part += part > ns / 2 ? ns - part : 0;
	if (!below(seed, 8)) {
		assert_int_equal(cell_fail(t, get(t, i), part), 0);
		p->failed++;
	} else {
		assert_int_equal(cell_add(t, get(t, i), ns, part, 5), 0);
		p->sums.n++;
		p->sums.min_ns = ns < p->sums.min_ns ? ns : p->sums.min_ns;
		p->sums.max_ns = ns > p->sums.max_ns ? ns : p->sums.max_ns;
		p->total_ns += ns;
		p->hist.n++;
		p->hist.count[hist_bucket(ns)]++;
	}
	p->sums.waited_ns += part;
	part = below(seed, 2) ? part / 3 : 0;
	assert_int_equal(cell_spin(t, get(t, i), part), 0);
	p->sums.spun_ns += part;
}

static void check_plain(const struct cell_table *t, const struct cell *c, const struct plain *p)
{
	const struct cell_sums s = cell_sums(t, c);
	struct hist h = {0};

	cell_hist(t, c, &h);
	assert_int_equal(cell_n(t, c), p->sums.n);
	assert_int_equal(s.n, p->sums.n);
	assert_int_equal(s.min_ns, p->sums.min_ns);
	assert_int_equal(s.max_ns, p->sums.max_ns);
	assert_int_equal(s.waited_ns, p->sums.waited_ns);
	assert_int_equal(s.spun_ns, p->sums.spun_ns);
	assert_int_equal(c->total_ns, p->total_ns);
	assert_int_equal(s.failed, p->failed);
	assert_memory_equal(&h, &p->hist, sizeof(h));
}

static void add_plain(struct plain *into, const struct plain *p)
{
	into->sums.n += p->sums.n;
	into->sums.min_ns = p->sums.min_ns < into->sums.min_ns ? p->sums.min_ns : into->sums.min_ns;
	into->sums.max_ns = p->sums.max_ns > into->sums.max_ns ? p->sums.max_ns : into->sums.max_ns;
	into->sums.waited_ns += p->sums.waited_ns;
	into->sums.spun_ns += p->sums.spun_ns;
	into->total_ns += p->total_ns;
	into->failed += p->failed;
	into->hist.n += p->hist.n;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->hist.count[i] += p->hist.count[i];
}

/* Stacks that are the same but for a factor become one. */
static bool give_pair(void *ctx, const struct cell *c, struct cell_key *ret)
{
	const uint32_t *pairs = ctx;

	if (c->stack % *pairs == c->stack)
		return false;
	*ret = (struct cell_key){1, c->stack % *pairs, 1, 1, 0};
	return true;
}

/* No wait, one, few and many: each form a cell has, and each pair of them added up. */
static void test_sums(void **state)
{
	enum { PAIRS = 500 };
	static struct plain plain[2 * PAIRS];
	struct cell_table t;
	uint32_t seed = 7, pairs = PAIRS;

	(void)state;
	assert_int_equal(cell_table_init(&t, MOST, MOST * 8), 0);
	for (uint32_t i = 0; i < 2 * PAIRS; i++) {
		static const uint32_t most[] = {1, 2, 3, 20, 60};
		uint32_t n = below(&seed, most[below(&seed, 5)] + 1);
		plain[i].sums.min_ns = UINT64_MAX;
		struct cell *c = cell_get(&t, (struct cell_key){i % 7, i, i % 5 + 1, i % 3, 0});
		for (assert_non_null(c); n; n--)
			wait_once(&t, i, &plain[i], &seed);
	}
	for (uint32_t i = 0; i < 2 * PAIRS; i++)
		check_plain(&t, get(&t, i), &plain[i]);
	for (uint32_t i = 0; i < PAIRS; i++) {
		struct cell *c = get(&t, i);
		c->lock = c->task = c->cpu = 1;
		add_plain(&plain[i], &plain[i + PAIRS]);
	}
	cell_rekey(&t, give_pair, &pairs);
	assert_int_equal(t.n, PAIRS);
	for (uint32_t i = 0; i < PAIRS; i++)
		check_plain(&t, &t.cells[i], &plain[t.cells[i].stack]);
	assert_int_equal(t.hists.n_dropped, 0);
	cell_table_deinit(&t);
}

/* Entries that were added to others are used again. */
static void test_gives_back(void **state)
{
	struct cell_table t;

	(void)state;
	assert_int_equal(cell_table_init(&t, MOST, GROUPS), 0);
	for (unsigned round = 0; round < 20; round++) {
		wait_in(&t, 1, 1000);
		wait_in(&t, 1, 1000);
		cell_fold(&t, 2000, coarse, NULL);
	}
	assert_true(t.n_more < 1100);
	cell_table_deinit(&t);
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
			/* It continues with its memory. */
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
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_gives_back),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
