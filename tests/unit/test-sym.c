// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/mem.h"
#include "kontend/sym.h"
#include "symtext.h"
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char small[] = "0000000000000000 A fixed_percpu_data\n"
			    "0000000000001000 A cpu_debug_store\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000010 t __pfx_do_one\n"
			    "ffffffff81000020 T do_one\n"
			    "ffffffff81000080 t do_two\n"
			    "ffffffff81000100 T __sched_text_start\n"
			    "ffffffff81000110 T mutex_lock\n"
			    "ffffffff81000180 T __sched_text_end\n"
			    "ffffffff81000200 T _etext\n"
			    "ffffffff82000000 D init_mm\n"
			    "ffffffff82000400 d pool_lock\n"
			    "ffffffff82001000 B __bss_stop\n"
			    "ffffffffc0201000 t ext4_do\t[ext4]\n"
			    "ffffffffc0201080 t ext4_go\t[ext4]\n"
			    "ffffffffc0100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

static struct sym loaded(const char *text)
{
	struct sym s;
	struct error err = {0};

	sym_init(&s);
	assert_int_equal(sym_load(&s, text, strlen(text), &err), 0);
	assert_int_equal(err.code, 0);
	return s;
}

static void check_format(const struct sym *s, uint64_t addr, const char *text)
{
	char buf[128];

	assert_string_equal(symtext(s, addr, buf, sizeof(buf)), text);
}

static void test_names_and_ranges(void **state)
{
	struct sym s = loaded(small);
	uint64_t off = 99;

	(void)state;
	assert_int_equal(s.state, SYM_OK);
	assert_true(s.has_data);
	assert_int_equal(s.sched_text[0], 0xffffffff81000100);
	assert_int_equal(s.sched_text[1], 0xffffffff81000180);
	assert_int_equal(s.lock_text[0], 0);
	assert_string_equal(sym_name(&s, 0xffffffff8100007f, &off), "do_one");
	assert_int_equal(off, 0x5f);
	assert_string_equal(sym_name(&s, 0xffffffff81000080, NULL), "do_two");
	check_format(&s, 0xffffffff81000020, "do_one");
	check_format(&s, 0xffffffff8100003c, "do_one+0x1c");
	check_format(&s, 0xffffffffc0201010, "ext4_do+0x10 [ext4]");
	check_format(&s, 0xffffffffc0201080, "ext4_go [ext4]");
	check_format(&s, 0xffffffffc0100004, "bpf_prog_6deef7357e7b4530+0x4 [bpf]");
	check_format(&s, 0xffffffff82000068, "init_mm+0x68");
	check_format(&s, 0xffffffff82000400, "pool_lock");
	sym_deinit(&s);
}

static void test_what_is_not_covered(void **state)
{
	static const uint64_t unknown[] = {
		0,
		0x1000,		    /* absolute: an offset, not an address */
		0xffff888000001000, /* direct map */
		0xffffffff81000000 - 1,
		0xffffffff81000000,		/* only labels lie there */
		0xffffffff81000010,		/* padding of a function */
		0xffffffff81000104,		/* after a label */
		0xffffffff81000200 + 16,	/* after the end of the text */
		0xffffffff82001000,		/* after the end of the data */
		0xffffffffc0100000 + (1 << 20), /* a function has no megabyte */
		0xffffffffc0201080 + (1 << 20),
		UINT64_MAX,
	};
	struct sym s = loaded(small);

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		uint64_t off = 7;
		assert_null(sym_find(&s, unknown[i]));
		assert_null(sym_name(&s, unknown[i], &off));
		assert_int_equal(off, 7);
	}
	check_format(&s, 0xffff888000001000, "0xffff888000001000");
	check_format(&s, 0, "0x0");
	sym_deinit(&s);
}

/* The name of the one symbol that remains of aliases. */
static void check_alias(const char *text, const char *kept)
{
	struct sym s = loaded(text);

	assert_int_equal(s.n, 1);
	assert_string_equal(sym_text(&s, &s.entries[0]), kept);
	sym_deinit(&s);
}

static void test_aliases(void **state)
{
	(void)state;
	check_alias("ffffffff81000000 t __do_sys_fork\nffffffff81000000 T __ia32_sys_fork\n"
		    "ffffffff81000000 T __x64_sys_fork\n",
		    "__x64_sys_fork");
	check_alias("ffffffff81000000 T __memcpy\nffffffff81000000 T memcpy\n"
		    "ffffffff81000000 T __pi_memcpy\n",
		    "memcpy");
	check_alias("ffffffff81000000 W cpu_show\nffffffff81000000 T __cpu_show\n", "__cpu_show");
	check_alias("ffffffff81000000 T __irqentry_text_start\nffffffff81000000 t irq_stub\n",
		    "irq_stub");
	check_alias("ffffffff81000000 t one\nffffffff81000000 t two\n", "one");
	check_alias("ffffffff82000000 D __start_table\nffffffff82000000 d table\n", "table");
}

static void test_real_functions_are_no_labels(void **state)
{
	struct sym s = loaded("ffffffff81000000 T __traceiter_initcall_start\n"
			      "ffffffff81000100 T __probestub_contention_end\n");

	(void)state;
	check_format(&s, 0xffffffff81000004, "__traceiter_initcall_start+0x4");
	check_format(&s, 0xffffffff81000104, "__probestub_contention_end+0x4");
	assert_false(s.has_data);
	sym_deinit(&s);
}

static void test_any_order(void **state)
{
	struct sym s;
	char text[200 * 40] = "";

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%lx t f%u\n",
			 0xffffffff81000000ul + i * 73 % 200 * 64, i * 73 % 200);
	s = loaded(text);
	assert_int_equal(s.n, 200);
	for (unsigned i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(sym_name(&s, 0xffffffff81000000ul + i * 64 + 63, NULL), name);
	}
	sym_deinit(&s);
}

/* Modules and BPF programs follow the kernel: below it, in it, above it, at its addresses. */
static void test_tail_out_of_order(void **state)
{
	static const char *const names[] = {"z", "a", "b", "c", "d"};
	struct sym s = loaded("ffffffff81001000 t a\nffffffff81003000 t c\n"
			      "ffffffff81002000 t b\nffffffff81003000 t later\n"
			      "ffffffff81000800 t z\nffffffff81004000 t d\n"
			      "ffffffff81001000 t latest\n");

	(void)state;
	assert_int_equal(s.n, 5);
	for (size_t i = 0; i < s.n; i++)
		assert_string_equal(sym_text(&s, &s.entries[i]), names[i]);
	sym_deinit(&s);
}

static void test_states(void **state)
{
	struct sym s = loaded("0000000000000000 T _text\n0000000000000000 t do_one\n");

	(void)state;
	assert_int_equal(s.state, SYM_WITHHELD);
	assert_int_equal(s.n, 0);
	assert_null(sym_find(&s, 0));
	check_format(&s, 0xffffffff81000000, "0xffffffff81000000");
	sym_deinit(&s);
	assert_int_equal(s.state, SYM_NONE);

	s = loaded("");
	assert_int_equal(s.state, SYM_UNREADABLE);
	sym_deinit(&s);
	s = loaded("kallsyms is off\n\n");
	assert_int_equal(s.state, SYM_UNREADABLE);
	sym_deinit(&s);
}

static void test_bad_lines_are_skipped(void **state)
{
	static const char bad[] = "\n"
				  "ffffffff81000000\n"
				  "ffffffff81000000 T\n"
				  "ffffffff81000000 T \n"
				  "ffffffff81000000 TT long_type\n"
				  "ffffffff81000000 1 digit_type\n"
				  "1ffffffff81000000 T long_address\n"
				  "ffffffff8100000g T not_hex\n"
				  "-1 T negative\n"
				  "ffffffff81000000 T $x\n"
				  "ffffffff81000100 T good\t[\n"
				  "ffffffff81000200 T next\t[]\n"
				  "ffffffff81000300 T more [mod] extra\n"
				  "ffffffff81000400 T e\x1b[31mvil\xff\n"
				  "ffffffff81000500 T last";
	struct sym s = loaded(bad);
	char longer[700];

	(void)state;
	assert_int_equal(s.n, 5);
	check_format(&s, 0xffffffff81000100, "good");
	check_format(&s, 0xffffffff81000200, "next");
	check_format(&s, 0xffffffff81000300, "more [mod]");
	check_format(&s, 0xffffffff81000400, "e?[31mvil?");
	check_format(&s, 0xffffffff81000500, "last");
	sym_deinit(&s);

	memset(longer, 'a', sizeof(longer));
	memcpy(longer, "ffffffff81000000 T ", 19);
	longer[sizeof(longer) - 1] = '\0';
	s = loaded(longer);
	assert_int_equal(s.n, 0);
	sym_deinit(&s);
}

/* No byte after the length is read: the copy has exactly that size, for a sanitizer to see. */
/* Addresses are read eight digits at a time: each character in each place is still looked at. */
static void test_every_character_of_an_address(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 16; at++) {
		for (unsigned c = 1; c < 256; c++) {
			char line[] = "fFa9012345678bde T do_one\n";

			if (strchr(" \t\n", (int)c))
				continue;
			line[at] = (char)c;
			struct sym s = loaded(line);
			assert_int_equal(s.n, isxdigit((int)c) ? 1 : 0);
			if (s.n)
				assert_int_equal(s.entries[0].addr, strtoull(line, NULL, 16));
			sym_deinit(&s);
		}
	}
}

/* And so are names: characters that must not be shown are found at any position. */
static void test_every_place_in_a_name(void **state)
{
	static const char tried[] = {0x01, 0x1f, 0x7f, (char)0x80, (char)0xff, '.', '~', '!'};

	(void)state;
	for (int len = 1; len <= 40; len++) {
		for (int at = 0; at < len; at++) {
			for (size_t i = 0; i < sizeof(tried); i++) {
				char name[41] = "", line[100];
				memset(name, 'a', (size_t)len);
				name[at] = tried[i];
				snprintf(line, sizeof(line), "ffffffff81000000 T %s\t[mod]\n",
					 name);
				struct sym s = loaded(line);
				name[at] =
					(char)(tried[i] >= '!' && tried[i] <= '~' ? tried[i] : '?');
				assert_int_equal(s.n, 1);
				assert_string_equal(sym_text(&s, &s.entries[0]), name);
				assert_string_equal(s.text + s.entries[0].module, "mod");
				sym_deinit(&s);
			}
		}
	}
}

static void test_every_cut(void **state)
{
	(void)state;
	for (size_t len = 0; len < sizeof(small); len++) {
		struct sym s = {0};
		struct error err = {0};
		char *text = mem_calloc(len, 1);

		assert_non_null(text);
		memcpy(text, small, len);
		assert_int_equal(sym_load(&s, text, len, &err), 0);
		mem_free(text);
		for (size_t i = 0; i < s.n; i++)
			assert_true(strlen(sym_text(&s, &s.entries[i])) < s.text_len);
		sym_deinit(&s);
	}
}

static void test_out_of_memory(void **state)
{
	long live = mem_live();

	(void)state;
	for (long n = 0;; n++) {
		struct sym s = loaded("ffffffff81000000 T old\n");
		struct error err = {0};

		mem_fail_after(n);
		int r = sym_load(&s, small, strlen(small), &err);
		long made = mem_count();
		mem_fail_after(-1);
		if (r) {
			assert_int_equal(r, -ENOMEM);
			assert_int_equal(err.code, -ENOMEM);
			assert_non_null(strstr(err.text, "/proc/kallsyms"));
			check_format(&s, 0xffffffff81000001, "old+0x1");
		} else {
			check_format(&s, 0xffffffff81000021, "do_one+0x1");
		}
		sym_deinit(&s);
		assert_int_equal(mem_live(), live);
		if (made <= n)
			break;
	}
}

static void test_too_long(void **state)
{
	struct sym s = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(sym_load(&s, small, SIZE_MAX / 2, &err), -EFBIG);
	assert_int_equal(err.code, -EFBIG);
	sym_deinit(&s);
}

/* This machine's own symbols: whatever they are, they are sorted and each one is found. */
static void test_running_kernel(void **state)
{
	enum { MOST = 64 << 20 };
	FILE *f = fopen("/proc/kallsyms", "re");
	char *text = mem_calloc(MOST, 1);
	struct sym s = {0};
	struct error err = {0};

	(void)state;
	assert_non_null(text);
	size_t len = f ? fread(text, 1, MOST, f) : 0;
	if (f)
		fclose(f);
	assert_int_equal(sym_load(&s, text, len, &err), 0);
	mem_free(text);
	if (s.state != SYM_OK) {
		sym_deinit(&s);
		print_message("/proc/kallsyms shows no addresses to this user\n");
		skip();
	}
	assert_true(s.n > 1000);
	assert_true(s.cap * sizeof(*s.entries) + s.text_cap < 16 << 20);
	for (size_t i = 0; i < s.n; i++) {
		const struct sym_entry *e = &s.entries[i];

		assert_true(!i || e[-1].addr < e->addr);
		assert_ptr_equal(sym_find(&s, e->addr), e->label ? NULL : e);
	}
	sym_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_ranges),
		cmocka_unit_test(test_what_is_not_covered),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_real_functions_are_no_labels),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_tail_out_of_order),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_bad_lines_are_skipped),
		cmocka_unit_test(test_every_character_of_an_address),
		cmocka_unit_test(test_every_place_in_a_name),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_running_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
