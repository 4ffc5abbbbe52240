// SPDX-License-Identifier: GPL-2.0-only
/* Which functions of a /proc/kallsyms are known to hold a lock for reading, whatever else is in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "locks/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct raw_reader_range ranges[RAW_READER_RANGES];

static uint32_t find_function(const char *text)
{
	/* An address after its end belongs to no function. */
	size_t len = strlen(text);
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	char *exact = realloc(copy, len ? len : 1);
	assert_non_null(exact);
	uint32_t n = readers_functions_find(exact, len, ranges);
	free(exact);
	return n;
}

static void functions_end_at_the_next_one(void **state)
{
	(void)state;
	assert_int_equal(find_function("ffffffff81000000 T _text\n"
				       "ffffffff81000100 t show_smap\n"
				       "ffffffff81000100 t __pfx_other\n"
				       "ffffffff81000180 t other\n"
				       "ffffffff81000200 T down_read\n"
				       "ffffffff81000240 t other\n"
				       "ffffffff81000300 t iterate_dir"),
			 3);
	assert_int_equal(ranges[0].start, 0xffffffff81000100ull);
	assert_int_equal(ranges[0].end, 0xffffffff81000180ull);
	assert_int_equal(ranges[0].flags, READER_HOLDS);
	assert_int_equal(ranges[0].proof, PROOF_MAPS);
	assert_int_equal(ranges[1].end, 0xffffffff81000240ull);
	assert_int_equal(ranges[1].flags, READER_ACQUIRES);
	/* The size of the last one is unknown: no address is in it. */
	assert_int_equal(ranges[2].end, ranges[2].start);
}

static void parts_and_copies_are_the_function(void **state)
{
	(void)state;
	assert_int_equal(find_function("ffffffff81000100 t show_smap.isra.0\n"
				       "ffffffff81000200 t show_smaps\n"
				       "ffffffff81000300 t show_sma\n"
				       "ffffffff81000400 t show_smap.cold\n"
				       "ffffffff81000500 d show_smap\n"
				       "ffffffffc0000600 t iomap_dio_rw\t[iomap]\n"
				       "ffffffffc0000700 t zz\t[iomap]\n"),
			 2);
	assert_int_equal(ranges[0].start, 0xffffffff81000100ull);
	assert_int_equal(ranges[1].start, 0xffffffffc0000600ull);
	assert_int_equal(ranges[1].proof, PROOF_INODE);
}

/* Modules are in no order. */
static void they_are_sorted(void **state)
{
	(void)state;
	assert_int_equal(find_function("ffffffffc0000600 t xfs_ilock\t[xfs]\n"
				       "ffffffffc0000700 t zz\t[xfs]\n"
				       "ffffffffb0000100 t nfs_file_read\t[nfs]\n"
				       "ffffffffb0000200 t zz\t[nfs]\n"),
			 2);
	assert_true(ranges[0].start < ranges[1].start);
	assert_int_equal(ranges[0].end, 0xffffffffb0000200ull);
}

static void withheld_addresses_are_none(void **state)
{
	(void)state;
	assert_int_equal(
		find_function("0000000000000000 t show_smap\n0000000000000000 t iterate_dir\n"), 0);
	assert_int_equal(find_function(""), 0);
}

static void other_texts_are_no_lines(void **state)
{
	static const char *const texts[] = {
		"\n\n\n",
		"show_smap",
		"ffffffff81000100",
		"ffffffff81000100 t",
		"ffffffff81000100 t ",
		"ffffffff81000100  show_smap",
		"x t show_smap\n",
		"ffffffff81000100fff t show_smap\n",
		" t show_smap\n",
		"\x80\xff\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(find_function(texts[i]), 0);
}

/* No more than there is room for, however many have the name. */
static void too_many_are_cut(void **state)
{
	static char text[300 * 40];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"ffffffff8%07x t show_map\n", (i + 1) << 4);
	assert_int_equal(find_function(text), RAW_READER_RANGES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_end_at_the_next_one),
		cmocka_unit_test(parts_and_copies_are_the_function),
		cmocka_unit_test(they_are_sorted),
		cmocka_unit_test(withheld_addresses_are_none),
		cmocka_unit_test(other_texts_are_no_lines),
		cmocka_unit_test(too_many_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
