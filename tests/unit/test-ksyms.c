// SPDX-License-Identifier: GPL-2.0-only
/* Code that the kernel makes: what is at an address at each moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/ksyms.h"
#include "kontend/mem.h"

#include <stdio.h>
#include <string.h>

static const uint64_t AT = 0xffffffffc0001000;

static int say(struct ksyms *k, uint64_t time, uint64_t start, uint32_t len, const char *name,
	       bool gone)
{
	struct event ev = {.kind = EVENT_KSYMBOL, .time = time};

	ev.ksym.start = start;
	ev.ksym.len = len;
	ev.ksym.is_bpf = true;
	ev.ksym.is_gone = gone;
	ev.ksym.name = name;
	return ksyms_event(k, &ev);
}

static const char *name_at(const struct ksyms *k, uint64_t addr)
{
	const struct ksym *s = ksyms_get(k, ksyms_frame(k, addr));

	return s ? s->name : "none";
}

static void an_address_has_the_name_of_its_time(void **state)
{
	struct ksyms k, copy;

	(void)state;
	assert_int_equal(ksyms_init(&k), 0);
	assert_int_equal(ksyms_frame(&k, AT), AT);
	assert_int_equal(say(&k, 1, AT, 64, "old", false), 0);
	uint64_t old = ksyms_frame(&k, AT + 63);
	assert_string_equal(ksyms_get(&k, old)->name, "old");
	assert_int_equal(map_ksym_offset(old), 63);
	assert_int_equal(ksyms_address(&k, old), AT + 63);
	assert_true(map_frame_is_kernel(old));
	assert_string_equal(name_at(&k, AT + 64), "none");
	assert_string_equal(name_at(&k, AT - 1), "none");
	assert_int_equal(ksyms_copy(&copy, &k), 0);
	assert_int_equal(say(&k, 2, AT, 64, "old", true), 0);
	assert_string_equal(name_at(&k, AT), "none");
	assert_int_equal(say(&k, 3, AT, 32, "new", false), 0);
	assert_string_equal(name_at(&k, AT), "new");
	assert_string_equal(name_at(&k, AT + 63), "none");
	/* the earlier moment, and frames of it, are as they were */
	assert_string_equal(name_at(&copy, AT), "old");
	assert_string_equal(ksyms_get(&k, old)->name, "old");
	assert_int_equal(say(&copy, 3, AT, 32, "new", false), 0);
	assert_int_equal(ksyms_frame(&copy, AT), ksyms_frame(&k, AT));
	ksyms_deinit(&copy);
	assert_string_equal(name_at(&k, AT), "new");
	ksyms_deinit(&k);
}

static void later_code_ends_what_it_covers(void **state)
{
	struct ksyms k;

	(void)state;
	assert_int_equal(ksyms_init(&k), 0);
	assert_int_equal(say(&k, 0, AT + 256, 64, "program", false), 0);
	assert_int_equal(say(&k, 0, AT, 4096, "page", false), 0);
	assert_string_equal(name_at(&k, AT + 255), "page");
	assert_string_equal(name_at(&k, AT + 256), "program");
	assert_string_equal(name_at(&k, AT + 320), "none");
	assert_int_equal(say(&k, 5, AT + 128, 256, "later", false), 0);
	assert_string_equal(name_at(&k, AT + 127), "page");
	assert_string_equal(name_at(&k, AT + 300), "later");
	assert_int_equal(say(&k, 6, AT + 128, 256, "later", true), 0);
	assert_string_equal(name_at(&k, AT + 128), "none");
	assert_string_equal(name_at(&k, AT + 256), "none");
	assert_string_equal(name_at(&k, AT), "page");
	ksyms_deinit(&k);
}

static void chains_and_odd_addresses(void **state)
{
	const uint64_t odd = 0x8100000100000000, chain[] = {AT + 8, 0xffffffff81000000, odd};
	uint64_t named[3], plain[3];
	struct ksyms k;

	(void)state;
	assert_int_equal(ksyms_init(&k), 0);
	assert_ptr_equal(ksyms_chain(&k, chain, 3, named), chain);
	assert_null(ksyms_get(&k, odd));
	assert_false(map_frame_is_ksym(map_kernel_frame(odd)));
	assert_int_equal(say(&k, 1, AT, 64, "a", false), 0);
	assert_ptr_equal(ksyms_chain(&k, chain + 1, 1, named), chain + 1);
	assert_ptr_equal(ksyms_chain(&k, chain, 2, named), named);
	assert_string_equal(ksyms_get(&k, named[0])->name, "a");
	assert_int_equal(named[1], chain[1]);
	assert_ptr_equal(ksyms_addresses(&k, named, 2, plain), plain);
	assert_memory_equal(plain, chain, 2 * sizeof(*plain));
	assert_null(ksyms_get(&k, map_ksym_frame(2, 0)));
	assert_null(ksyms_get(&k, map_ksym_frame(0, 0)));
	ksyms_deinit(&k);
}

static void what_is_too_much_is_counted(void **state)
{
	char name[32];
	struct ksyms k;

	(void)state;
	assert_int_equal(ksyms_init(&k), 0);
	assert_int_equal(say(&k, 1, AT, KSYMS_LONGEST + 1, "huge", false), 0);
	assert_int_equal(say(&k, 1, UINT64_MAX - 15, 16, "wraps", false), 0);
	assert_int_equal(k.dropped, 2);
	for (uint32_t i = 0; i < KSYMS_MOST + 100; i++) {
		snprintf(name, sizeof(name), "prog_%u", i);
		assert_int_equal(say(&k, 2 + i, AT + (uint64_t)i * 64, 64, name, false), 0);
	}
	assert_int_equal(k.dropped, 102);
	assert_int_equal(k.n, KSYMS_MOST);
	assert_string_equal(name_at(&k, AT), "prog_0");
	assert_string_equal(name_at(&k, AT + (uint64_t)(KSYMS_MOST + 50) * 64), "none");
	/* what has no room ends older code all the same */
	assert_int_equal(say(&k, UINT32_MAX, AT, 64, "one_more", false), 0);
	assert_string_equal(name_at(&k, AT), "none");
	ksyms_deinit(&k);
}

static void memory_runs_out(void **state)
{
	(void)state;
	for (long n = 0; n < 12; n++) {
		struct ksyms k, copy;

		mem_fail_after(n);
		if (ksyms_init(&k) == 0) {
			if (say(&k, 1, AT, 64, "a", false) == 0 && ksyms_copy(&copy, &k) == 0) {
				assert_string_equal(name_at(&copy, AT), "a");
				ksyms_deinit(&copy);
			}
			ksyms_deinit(&k);
		}
		mem_fail_after(-1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_the_name_of_its_time),
		cmocka_unit_test(later_code_ends_what_it_covers),
		cmocka_unit_test(chains_and_odd_addresses),
		cmocka_unit_test(what_is_too_much_is_counted),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
