// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols of which only the requested pieces are read: for every address the answer is that of the
 * whole table, whatever the text and the order of requests.
 */
#include "kontend/mem.h"
#include "kontend/sym.h"
#include "symtext.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1 << 20, LINES = 8000 };

static const uint64_t BASE = 0xffffffff81000000;

struct text {
	char *bytes;
	size_t len;
	uint32_t seed;
};

static uint32_t rnd(struct text *t, uint32_t n)
{
	t->seed = t->seed * 1664525 + 1013904223;
	return (t->seed >> 8) % n;
}

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(t->bytes + t->len, MOST - t->len, fmt, ap);
	va_end(ap);
	assert_true(n > 0 && t->len + (size_t)n < MOST);
	t->len += (size_t)n;
}

/* Several names an address now and then, paddings, what is no symbol, and lines of all forms. */
static void put_line(struct text *t, uint64_t addr, unsigned i)
{
	static const char *const forms[] = {
		"t function",	 "T __x64_function", "t __pfx_function", "t $x",
		"W weak.part.0", "t _raw_spin_lock", "A absolute",	 "t  two_blanks",
		"t odd\x01",	 "d data",
	};
	enum { FORMS = sizeof(forms) / sizeof(*forms) };
	/* One of two is usual. */
	unsigned form = rnd(t, 2 * FORMS);

	put(t, "%016" PRIx64 " %s_%u\n", addr, forms[form < FORMS ? form : 0], i);
}

/* The kernel's own, sorted. Some of them are data. */
static uint64_t put_kernel(struct text *t)
{
	uint64_t addr = BASE;

	put(t, "%016x A fixed_percpu_data\n%016x A cpu_debug_store\n", 0, 0x1000);
	for (unsigned i = 0; i < LINES; i++) {
		if (i == 1000)
			put(t, "%016" PRIx64 " T __sched_text_start\n", addr);
		if (i == 1100)
			put(t, "%016" PRIx64 " T __sched_text_end\n", addr);
		if (i == 1200)
			put(t, "%016" PRIx64 " T __lock_text_start\n", addr);
		if (i == 1300)
			put(t, "%016" PRIx64 " T __lock_text_end\n", addr);
		put_line(t, addr, i);
		addr += rnd(t, 3) ? rnd(t, 200) : 0;
	}
	return addr;
}

/* Of modules: above the kernel, in it, at its places, in no order. */
static void put_modules(struct text *t, uint64_t end)
{
	for (unsigned i = 0; i < LINES / 8; i++)
		put(t, "%016" PRIx64 " %c module_%u\t[mod%u]\n",
		    BASE + rnd(t, (uint32_t)(end - BASE) * 2), rnd(t, 2) ? 't' : 'd', i, i / 50);
}

static struct text made(uint32_t seed)
{
	struct text t = {.bytes = mem_calloc(MOST, 1), .seed = seed};

	assert_non_null(t.bytes);
	return t;
}

static void check_same(const struct sym *all, const struct sym *part, uint64_t addr)
{
	const struct sym_entry *a = sym_find(all, addr), *b = sym_find(part, addr);
	char x[700], y[700];

	assert_int_equal(a == NULL, b == NULL);
	if (!a)
		return;
	assert_int_equal(a->addr, b->addr);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->lockfn, b->lockfn);
	assert_int_equal(a->label, b->label);
	assert_string_equal(symtext(all, addr, x, sizeof(x)), symtext(part, addr, y, sizeof(y)));
	assert_int_equal(sym_object(all, addr) == NULL, sym_object(part, addr) == NULL);
}

/* Around every symbol, from the middle on: pieces are read in another order than in the file. */
static void check_all(const char *text, size_t len, bool in_pieces)
{
	struct sym all = {0}, part = {0};

	assert_int_equal(sym_load(&all, text, len, NULL), 0);
	assert_int_equal(sym_load_persistent(&part, text, len, NULL), 0);
	assert_int_equal(part.pieces != NULL, in_pieces);
	assert_int_equal(all.state, part.state);
	assert_int_equal(all.has_data, part.has_data);
	assert_memory_equal(all.sched_text, part.sched_text, sizeof(all.sched_text));
	assert_memory_equal(all.lock_text, part.lock_text, sizeof(all.lock_text));
	for (size_t k = 0; k < all.n; k++) {
		uint64_t addr = all.entries[(k * 7 + all.n / 2) % all.n].addr;
		check_same(&all, &part, addr - 1);
		check_same(&all, &part, addr);
		check_same(&all, &part, addr + 1);
	}
	check_same(&all, &part, 0);
	check_same(&all, &part, UINT64_MAX);
	const struct sym *whole = sym_whole(&part);
	assert_non_null(whole);
	assert_int_equal(whole->n, all.n);
	assert_ptr_equal(sym_whole(&part), whole);
	assert_ptr_equal(sym_whole(&all), &all);
	sym_deinit(&all);
	sym_deinit(&part);
}

static void test_same_answers(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 8; seed++) {
		struct text t = made(seed);
		uint64_t end = put_kernel(&t);
		check_all(t.bytes, t.len, true);
		put_modules(&t, end);
		check_all(t.bytes, t.len, true);
		/* Without its last newline, and cut within a line. */
		check_all(t.bytes, t.len - 1, true);
		check_all(t.bytes, t.len - 9, true);
		mem_free(t.bytes);
	}
}

/* A line that is none, or of another form, ends the pieces: from there on all is read. */
static void test_what_ends_the_pieces(void **state)
{
	static const char *const lines[] = {
		"\n",
		"ffffffff8100\n",
		"fffffffF90000000 t upper_case\n",
		" ffffffff90000000 t blank_before\n",
		"ffffffff90000000\tt tab\n",
		"ffffffff90000000 7 no_type\n",
		"ffffffff90000000 t \n",
		"ffffffff00000000 t lower_half\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		for (int early = 0; early < 2; early++) {
			struct text t = made(99);
			if (early)
				put(&t, "%s", lines[i]);
			put_kernel(&t);
			put(&t, "%s", lines[i]);
			put(&t, "ffffffff90000010 t after\n");
			check_all(t.bytes, t.len, !early);
			mem_free(t.bytes);
		}
	}
}

static void test_one_address(void **state)
{
	struct text t = made(7);

	(void)state;
	for (unsigned i = 0; i < LINES; i++)
		put(&t, "ffffffff81000000 t name_%u\n", i);
	check_all(t.bytes, t.len, true);
	mem_free(t.bytes);
}

static void test_states(void **state)
{
	struct text t = made(7);

	(void)state;
	for (unsigned i = 0; i < LINES; i++)
		put(&t, "0000000000000000 t name_%u\n", i);
	check_all(t.bytes, t.len, false);
	put(&t, "ffffffff81000000 t one\n");
	check_all(t.bytes, t.len, false);
	check_all("", 0, false);
	check_all("ffffffff81000000 t one\n", 23, false);
	mem_free(t.bytes);
}

/* The old content goes, and is seen to have gone. */
static void test_replace(void **state)
{
	struct text t = made(1);
	struct sym s = {0};

	(void)state;
	put_kernel(&t);
	for (uint32_t n = 1; n < 6; n++) {
		int r = n % 2 ? sym_load_persistent(&s, t.bytes, t.len, NULL)
			      : sym_load(&s, t.bytes, t.len, NULL);
		assert_int_equal(r, 0);
		assert_int_equal(s.n_loads, n);
		assert_non_null(sym_find(&s, BASE + 100000));
	}
	sym_deinit(&s);
	mem_free(t.bytes);
}

/* Then it is read whole, or not at all; later nothing has to be had. */
static void test_out_of_memory(void **state)
{
	struct text t = made(1);
	long live = mem_live();

	(void)state;
	put_modules(&t, put_kernel(&t));
	for (long n = 0;; n++) {
		struct sym s = {0};
		mem_fail_after(n);
		int r = sym_load_persistent(&s, t.bytes, t.len, NULL);
		long before = mem_count();
		const struct sym_entry *e = sym_find(&s, BASE + 100000);
		long made = mem_count();
		mem_fail_after(-1);
		assert_int_equal(r, 0);
		assert_non_null(e);
		assert_int_equal(before, made);
		sym_deinit(&s);
		assert_int_equal(mem_live(), live);
		if (made <= n)
			break;
	}
	mem_free(t.bytes);
}

/* This machine's own. */
static void test_running_kernel(void **state)
{
	enum { MOST_BYTES = 64 << 20 };
	FILE *f = fopen("/proc/kallsyms", "re");
	char *text = mem_calloc(MOST_BYTES, 1);

	(void)state;
	assert_non_null(text);
	size_t len = f ? fread(text, 1, MOST_BYTES, f) : 0;
	if (f)
		fclose(f);
	struct sym s = {0};
	assert_int_equal(sym_load_persistent(&s, text, len, NULL), 0);
	bool in_pieces = s.pieces;
	bool is_there = s.state == SYM_OK;
	sym_deinit(&s);
	if (is_there)
		check_all(text, len, in_pieces);
	mem_free(text);
	if (!is_there) {
		print_message("/proc/kallsyms shows no addresses to this user\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_answers),   cmocka_unit_test(test_what_ends_the_pieces),
		cmocka_unit_test(test_one_address),    cmocka_unit_test(test_states),
		cmocka_unit_test(test_replace),	       cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_running_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
