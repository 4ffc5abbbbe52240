// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interned call chains: equal ones have one index, others another, also where they differ in frames
 * that the guess of where a chain was lately does not look at, and after others were forgotten.
 */
#include "kontend/mem.h"
#include "kontend/stack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { CHAINS = 3000, FRAMES = 12, MOST = 4096 };

static struct stack_table t;

static int setup(void **state)
{
	(void)state;
	return stack_table_init(&t, MOST);
}

static int teardown(void **state)
{
	(void)state;
	stack_table_deinit(&t);
	return 0;
}

/* Chain @i: all begin and end the same, and are of 9 lengths; the difference is in one frame. */
static uint32_t make_chain(uint32_t i, uint64_t frames[FRAMES])
{
	uint32_t n = FRAMES - i % 9;

	for (uint32_t f = 0; f < n; f++)
		frames[f] = 0xffffffff81000000 + f * 0x100;
	frames[1 + i % 2] += i;
	return n;
}

static uint32_t get(uint32_t i)
{
	uint64_t frames[FRAMES];
	uint32_t n = make_chain(i, frames), index = stack_get(&t, frames, n);

	if (index == STACK_OTHER)
		return index;
	assert_int_equal(t.stacks[index].n, n);
	assert_memory_equal(stack_frames(&t, index), frames, n * sizeof(*frames));
	return index;
}

static void equal_chains_have_one_index(void **state)
{
	static uint32_t index[CHAINS];
	static uint8_t seen[MOST];

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < CHAINS; i++) {
		index[i] = get(i);
		assert_int_not_equal(index[i], STACK_OTHER);
		assert_false(seen[index[i]]);
		seen[index[i]] = 1;
	}
	for (uint32_t i = 0; i < 20 * CHAINS; i++)
		assert_int_equal(get(i * 7919 % CHAINS), index[i * 7919 % CHAINS]);
	assert_int_equal(t.n, CHAINS + 1);
}

/* Guesses may name entries that are free by then, or were given to others. */
static void forgotten_chains_are_not_found_again(void **state)
{
	uint32_t kept[CHAINS];

	(void)state;
	for (uint32_t i = 0; i < CHAINS; i++)
		kept[i] = get(i);
	for (uint32_t i = 0; i < CHAINS; i += 2)
		t.stacks[kept[i]].marked = 1;
	stack_sweep(&t);
	for (uint32_t i = 1; i < CHAINS; i += 2)
		assert_int_not_equal(get(i + CHAINS), STACK_OTHER);
	for (uint32_t i = 0; i < CHAINS; i += 2)
		assert_int_equal(get(i), kept[i]);
	for (uint32_t i = 1; i < CHAINS; i += 2)
		assert_int_not_equal(get(i), kept[0]);
}

static void a_full_table_says_other(void **state)
{
	(void)state;
	stack_table_deinit(&t);
	assert_int_equal(stack_table_init(&t, 10), 0);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_not_equal(get(i), STACK_OTHER);
	for (uint32_t i = 9; i < 100; i++)
		assert_int_equal(get(i), STACK_OTHER);
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(get(i), i + 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(equal_chains_have_one_index),
		T(forgotten_chains_are_not_found_again),
		T(a_full_table_says_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
