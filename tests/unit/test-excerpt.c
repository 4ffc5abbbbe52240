// SPDX-License-Identifier: GPL-2.0-only
/* An excerpt answers as the whole table does, for every address it was made for. */
#include "kontend/mem.h"
#include "kontend/sym.h"
#include "symtext.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYMBOLS = 2000, ADDRESSES = 40, TEXT = SYMBOLS * 64 };
#define BASE 0xffffffff81000000ull

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Functions, objects, labels and modules with gaps, sorted. */
static size_t make_text(char *text, uint64_t *seed)
{
	static const char *const forms[] = {
		"%016llx T function_%u\n",	 "%016llx t mutex_%u\n",
		"%016llx b object_%u\n",	 "%016llx D __label%u_end\n",
		"%016llx t helper_%u\t[fuse]\n", "%016llx T __x%u_text_start\n",
	};
	uint64_t addr = BASE;
	size_t at = 0;

	for (unsigned i = 0; i < SYMBOLS; i++) {
		const char *form = forms[draw(seed, 6)];

		addr += draw(seed, 20) ? 1 + draw(seed, 4000) : 3u << 20;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		at += (size_t)snprintf(text + at, TEXT - at, form, (unsigned long long)addr, i);
#pragma GCC diagnostic pop
	}
	return at;
}

static void check_same(const struct sym *all, const struct sym *part, uint64_t addr)
{
	char a[600], b[600];
	const struct sym_entry *x = sym_object(all, addr), *y = sym_object(part, addr);

	assert_string_equal(symtext(all, addr, a, sizeof(a)), symtext(part, addr, b, sizeof(b)));
	assert_int_equal(sym_is_lock_function(all, addr), sym_is_lock_function(part, addr));
	assert_int_equal(!x, !y);
}

static void check_random(uint64_t seed)
{
	struct sym all, part;
	uint64_t addr[ADDRESSES];
	char *text = malloc(TEXT), *excerpt;
	uint8_t *marks;
	size_t len;

	sym_init(&all);
	sym_init(&part);
	assert_int_equal(sym_load(&all, text, make_text(text, &seed), NULL), 0);
	marks = calloc(all.n, 1);
	for (int i = 0; i < ADDRESSES; i++) {
		addr[i] = draw(&seed, 4) ? all.entries[draw(&seed, all.n)].addr + draw(&seed, 5000)
					 : BASE + draw(&seed, 1ull << 32);
		sym_mark(&all, marks, addr[i]);
	}
	sym_mark(&all, marks, 0);
	sym_mark(&all, marks, UINT64_MAX);
	assert_int_equal(sym_excerpt(&all, marks, &excerpt, &len), 0);
	assert_int_equal(strlen(excerpt), len);
	assert_int_equal(sym_load(&part, excerpt, len, NULL), 0);
	assert_true(part.n < all.n);
	assert_int_equal(part.has_data, all.has_data);
	for (int i = 0; i < ADDRESSES; i++)
		check_same(&all, &part, addr[i]);
	mem_free(excerpt);
	free(marks);
	free(text);
	sym_deinit(&part);
	sym_deinit(&all);
}

static void test_answers_stay_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_random(seed);
}

/* An edge of a section that shares its address with a function has no entry, and counts. */
static void test_edges_stay(void **state)
{
	static const char text[] = "ffffffff81000000 T a\nffffffff81000100 T __sched_text_start\n"
				   "ffffffff81000100 t b\nffffffff81000200 T __sched_text_end\n"
				   "ffffffff81000300 T c\n";
	uint8_t marks[5] = {0};
	struct sym all, part;
	char *excerpt;
	size_t len;

	(void)state;
	sym_init(&all);
	sym_init(&part);
	assert_int_equal(sym_load(&all, text, sizeof(text) - 1, NULL), 0);
	for (uint64_t addr = 0xffffffff81000000; addr < 0xffffffff81000310; addr += 0x80)
		sym_mark(&all, marks, addr);
	assert_int_equal(sym_excerpt(&all, marks, &excerpt, &len), 0);
	assert_int_equal(sym_load(&part, excerpt, len, NULL), 0);
	assert_int_equal(part.sched_text[0], all.sched_text[0]);
	assert_true(sym_is_lock_function(&part, 0xffffffff81000110));
	for (uint64_t addr = 0xffffffff81000000; addr < 0xffffffff81000310; addr += 0x80)
		check_same(&all, &part, addr);
	mem_free(excerpt);
	sym_deinit(&part);
	sym_deinit(&all);
}

static void test_without_memory(void **state)
{
	static const char text[] = "ffffffff81000000 T a\nffffffff81000010 T b\n";
	uint8_t marks[2] = {0};
	char *excerpt;
	struct sym s;
	size_t len;

	(void)state;
	sym_init(&s);
	assert_int_equal(sym_load(&s, text, sizeof(text) - 1, NULL), 0);
	mem_fail_after(0);
	assert_int_equal(sym_excerpt(&s, marks, &excerpt, &len), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(sym_excerpt(&s, marks, &excerpt, &len), 0);
	assert_string_equal(excerpt, "");
	mem_free(excerpt);
	sym_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_stay_the_same),
		cmocka_unit_test(test_edges_stay),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
