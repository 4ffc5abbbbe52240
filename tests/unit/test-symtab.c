// SPDX-License-Identifier: GPL-2.0-only
/* Tables of symbols: sorted in steps, one an address, and found again. */
#include "../../src/sym/user/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 300000 };

static unsigned sort(struct symtab *t)
{
	unsigned steps = 0;
	bool more = true;

	for (; more; steps++)
		assert_int_equal(symtab_sort_step(t, &more), 0);
	assert_true(t->sorted);
	return steps;
}

static void add_symbol(struct symtab *t, uint64_t addr, uint32_t size, uint8_t rank,
		       const char *name)
{
	struct symtab_entry e = {.addr = addr, .size = size, .rank = rank};

	assert_int_equal(symtab_add_text(t, &e, name, strlen(name)), 0);
}

/* Addresses of all lengths; every one comes twice, the better one first or last. */
static void test_many(void **state)
{
	struct symtab t = {0};
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t addr = seed >> (i % 6 * 8);
		add_symbol(&t, addr, 4, i % 2, i % 2 ? "good" : "bad");
		add_symbol(&t, addr, 4, !(i % 2), i % 2 ? "bad" : "good");
	}
	/* So none takes long: counting, moving (6 digits), merging, sizes. */
	assert_true(sort(&t) > 2 * 6 * (2 * MANY >> 16));
	assert_true(t.n > MANY / 2 && t.n <= MANY);
	for (size_t i = 0; i < t.n; i++) {
		assert_true(!i || t.entries[i - 1].addr < t.entries[i].addr);
		assert_string_equal(t.text + t.entries[i].name, "good");
		assert_ptr_equal(symtab_find(&t, t.entries[i].addr), &t.entries[i]);
	}
	symtab_deinit(&t);
}

/* A late symbol is sorted in; one without a size reaches to the next. */
static void test_more(void **state)
{
	struct symtab t = {0};

	(void)state;
	sort(&t);
	assert_null(symtab_find(&t, 0));
	add_symbol(&t, 0x3000, 0, 1, "last");
	add_symbol(&t, 0x1000, 0, 1, "first");
	assert_null(symtab_find(&t, 0x1000));
	sort(&t);
	assert_int_equal(symtab_find(&t, 0x2fff)->size, 0x2000);
	add_symbol(&t, 0x2000, 0x10, 1, "middle");
	sort(&t);
	assert_int_equal(t.n, 3);
	assert_int_equal(symtab_find(&t, 0x2008)->addr, 0x2000);
	assert_int_equal(symtab_find(&t, 0x3001)->addr, 0x3000);
	assert_null(symtab_find(&t, 0xfff));
	symtab_deinit(&t);
}

/* Ends in the middle. */
static void test_given_up(void **state)
{
	struct symtab t = {0};
	bool more;

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		add_symbol(&t, i * 977 % 100000, 1, 1, "x");
	assert_int_equal(symtab_sort_step(&t, &more), 0);
	assert_true(more);
	assert_null(symtab_find(&t, 5));
	symtab_deinit(&t);
	assert_null(t.sort);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
