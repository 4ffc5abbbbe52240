// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/bench-top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char symbols[] = "ffffffff81000000 T do_int3\n"
			      "ffffffff81000100 T find_uprobe\n"
			      "ffffffff81000200 T xol_take_insn_slot\n"
			      "ffffffff81000300 T handle_swbp\n"
			      "ffffffff81000400 T last\n";

static void count(struct bench_top *t, uint64_t ip, int n)
{
	while (n-- > 0)
		bench_top_count(t, ip);
}

static void most_samples_first(void **state)
{
	struct bench_top_function f[BENCH_TOP_FUNCTIONS];
	struct sym sym;

	(void)state;
	sym_init(&sym);
	assert_int_equal(sym_load(&sym, symbols, strlen(symbols), NULL), 0);
	struct bench_top *t = bench_top_new(NULL, 0, &sym);
	assert_non_null(t);
	assert_int_equal(bench_top_most(t, f), 0);
	count(t, 0xffffffff81000004, 20);
	count(t, 0xffffffff81000200, 30);
	count(t, 0xffffffff810002fc, 20);
	count(t, 0xffffffff81000304, 5);
	count(t, 0x401000, 15);
	count(t, 0x7f0000001000, 10);
	assert_int_equal(bench_top_most(t, f), 3);
	assert_string_equal(f[0].name, "xol_take_insn_slot");
	assert_true(f[0].share == 0.5);
	assert_string_equal(f[1].name, "[user]");
	assert_true(f[1].share == 0.25);
	assert_string_equal(f[2].name, "do_int3");
	bench_top_free(t);
	sym_deinit(&sym);
}

static void without_names(void **state)
{
	struct bench_top_function f[BENCH_TOP_FUNCTIONS];
	struct sym sym;

	(void)state;
	sym_init(&sym);
	struct bench_top *t = bench_top_new(NULL, 0, &sym);
	count(t, 0xffffffff81000004, 3);
	count(t, 0xffffffff81000304, 1);
	assert_int_equal(bench_top_most(t, f), 1);
	assert_string_equal(f[0].name, "[kernel]");
	assert_true(f[0].share == 1);
	bench_top_free(t);
	sym_deinit(&sym);
	assert_int_equal(bench_top_most(NULL, f), 0);
	bench_top_take(NULL);
	bench_top_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_samples_first),
		cmocka_unit_test(without_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
