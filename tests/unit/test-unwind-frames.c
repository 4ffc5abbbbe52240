// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables for unwinding that are built from .eh_frame alone: those of this program and of its C
 * library are the ones that the linker wrote; damaged ones end, and stay sorted.
 */
#include "../../src/sym/unwind/internal.h"
#include "kontend/mem.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEAD = 12, ENTRY = 8, PATH = 4096 };

static void c_library(char *ret)
{
	char line[PATH + 200];
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	*ret = '\0';
	while (!*ret && fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/');
		if (path && strstr(path, "/libc"))
			snprintf(ret, PATH, "%.*s", (int)strcspn(path, "\n"), path);
	}
	fclose(f);
}

static uint8_t *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "re");
	uint8_t *p;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	*ret_len = (size_t)ftell(f);
	rewind(f);
	p = malloc(*ret_len);
	assert_true(p && fread(p, 1, *ret_len, f) == *ret_len);
	fclose(f);
	return p;
}

/* As a static program: no segment says where the header is. */
static void hide_header(uint8_t *file)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)file;
	Elf64_Phdr *p = (Elf64_Phdr *)(void *)(file + h->e_phoff);
	unsigned n = 0;

	for (int i = 0; i < h->e_phnum; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME) {
			p[i].p_type = PT_NULL;
			n++;
		}
	assert_int_equal(n, 1);
}

static struct unwind_tables load(const uint8_t *file, size_t len)
{
	struct unwind_tables t = {0};
	struct elfimg e;

	assert_int_equal(elfimg_open_mem(&e, file, len), 0);
	assert_int_equal(unwind_tables_load(&t, &e), 0);
	elfimg_close(&e);
	return t;
}

/* Addresses of the function and of its entry, by number. */
static void entry_at(const struct unwind_tables *t, size_t i, uint64_t ret[2])
{
	int32_t pair[2];

	assert_true(i < t->entries);
	memcpy(pair, t->bytes + (t->header - t->addr) + HEAD + i * ENTRY, sizeof(pair));
	ret[0] = t->header + (uint64_t)(int64_t)pair[0];
	ret[1] = t->header + (uint64_t)(int64_t)pair[1];
}

static void check_sorted(const struct unwind_tables *t)
{
	uint64_t before[2] = {0}, now[2];

	for (size_t i = 0; i < t->entries; i++) {
		entry_at(t, i, now);
		assert_true(!i || (int64_t)(now[0] - before[0]) >= 0);
		assert_true(now[1] >= t->addr && now[1] < t->header);
		before[0] = now[0];
	}
}

static void check_as_linked(const char *path)
{
	size_t len;
	uint8_t *file = read_file(path, &len);
	struct unwind_tables linked = load(file, len);

	hide_header(file);
	struct unwind_tables built = load(file, len);
	assert_non_null(linked.bytes);
	assert_non_null(built.bytes);
	assert_true(linked.entries > 20);
	assert_int_equal(built.entries, linked.entries);
	check_sorted(&built);
	for (size_t i = 0; i < built.entries; i++) {
		uint64_t a[2], b[2];
		entry_at(&linked, i, a);
		entry_at(&built, i, b);
		assert_int_equal(a[0], b[0]);
		assert_int_equal(a[1], b[1]);
	}
	unwind_tables_deinit(&linked);
	unwind_tables_deinit(&built);
	free(file);
}

static void they_are_those_of_the_linker(void **state)
{
	char path[PATH];

	(void)state;
	check_as_linked("/proc/self/exe");
	c_library(path);
	if (*path)
		check_as_linked(path);
	assert_int_equal(mem_live(), 0);
}

static struct unwind_tables of_bytes(const uint8_t *bytes, size_t len, bool is_64)
{
	struct unwind_tables t = {.addr = 0x400000, .len = len};

	t.bytes = mem_calloc(1, len + sizeof(uint64_t));
	assert_non_null(t.bytes);
	memcpy(t.bytes, bytes, len);
	assert_int_equal(unwind_frames_index(&t, is_64), 0);
	return t;
}

/* A CIE whose addresses are absolute, an end in between, a function thrown away, one of length 0.
 */
static void each_form_is_read(void **state)
{
	static const uint8_t bytes[] = {
		/* length, CIE, version 1, no augmentation, factors, register */
		12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0,
		/* the end of an object file */
		0, 0, 0, 0,
		/* absolute addresses of 32 bits: at 0x500000, 16 bytes */
		12, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0x50, 0, 16, 0, 0, 0,
		/* thrown away */
		12, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0,
		/* no bytes */
		12, 0, 0, 0, 56, 0, 0, 0, 0, 0, 0x60, 0, 0, 0, 0, 0,
		/* of a CIE that is none */
		12, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0x70, 0, 16, 0, 0, 0,
		/* before the other: at 0x4f0000, with a long length */
		255, 255, 255, 255, 16, 0, 0, 0, 0, 0, 0, 0, 96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4f, 0,
		1, 0, 0, 0,
		/* longer than the section */
		99, 0, 0, 0, 1, 2, 3, 4};
	uint64_t at[2];

	(void)state;
	struct unwind_tables t = of_bytes(bytes, sizeof(bytes), false);
	assert_int_equal(t.entries, 2);
	entry_at(&t, 0, at);
	assert_int_equal(at[0], 0x4f0000);
	assert_int_equal(at[1], 0x400000 + 84);
	entry_at(&t, 1, at);
	assert_int_equal(at[0], 0x500000);
	assert_int_equal(at[1], 0x400000 + 20);
	unwind_tables_deinit(&t);
	/* No entry: no tables. */
	t = of_bytes(bytes, 16, true);
	assert_null(t.bytes);
	unwind_tables_deinit(&t);
	assert_int_equal(mem_live(), 0);
}

static void damage_ends(void **state)
{
	size_t len;
	uint8_t *file = read_file("/proc/self/exe", &len);
	uint64_t seed = 1;

	(void)state;
	hide_header(file);
	struct unwind_tables whole = load(file, len);
	size_t n = (size_t)(whole.header - whole.addr);
	uint8_t *bytes = malloc(n);
	for (int round = 0; round < 500; round++) {
		memcpy(bytes, whole.bytes, n);
		for (int i = 0; i < 8; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			bytes[(seed >> 33) % n] = (uint8_t)(seed >> 20);
		}
		struct unwind_tables t = of_bytes(bytes, n - (seed >> 50) % 64, round % 2);
		check_sorted(&t);
		unwind_tables_deinit(&t);
	}
	free(bytes);
	free(file);
	unwind_tables_deinit(&whole);
	assert_int_equal(mem_live(), 0);
}

static void every_allocation_may_fail(void **state)
{
	size_t len;
	uint8_t *file = read_file("/proc/self/exe", &len);
	bool ok = false;

	(void)state;
	hide_header(file);
	for (long n = 0; !ok; n++) {
		struct unwind_tables t = {0};
		struct elfimg e;
		assert_int_equal(elfimg_open_mem(&e, file, len), 0);
		mem_fail_after(n);
		int code = unwind_tables_load(&t, &e);
		mem_fail_after(-1);
		assert_true(code == 0 || !t.bytes);
		ok = code == 0;
		unwind_tables_deinit(&t);
		elfimg_close(&e);
		assert_int_equal(mem_live(), 0);
	}
	free(file);
}

/* As lld lays out files: a mapping begins at a page, which the segment before has, too. */
static void a_mapping_begins_within_a_page(void **state)
{
	const struct elfimg_segment segments[] = {
		{.type = PT_LOAD, .flags = PF_R, .file_size = 0x25df0},
		{.type = PT_LOAD,
		 .flags = PF_R | PF_X,
		 .offset = 0x25df0,
		 .addr = 0x26df0,
		 .file_size = 0x71470},
		{.type = PT_LOAD,
		 .flags = PF_R,
		 .offset = 0x97260,
		 .addr = 0x99260,
		 .file_size = 0x4e10},
	};
	uint64_t addr;

	(void)state;
	assert_true(elfimg_code_at(segments, 3, 0x25000, 0x98000, &addr));
	assert_int_equal(addr, 0x26000);
	/* A part of the code, and all of it with what comes after. */
	assert_true(elfimg_code_at(segments, 3, 0x50000, 0x51000, &addr));
	assert_int_equal(addr, 0x51000);
	assert_true(elfimg_code_at(segments, 3, 0x97000, 0x98000, &addr));
	assert_int_equal(addr, 0x98000);
	/* No code, and no part of the file. */
	assert_true(elfimg_code_at(segments, 3, 0x98000, 0x99000, &addr));
	assert_int_equal(addr, 0x9a000);
	assert_false(elfimg_code_at(segments, 3, 0xa0000, UINT64_MAX, &addr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_begins_within_a_page),
		cmocka_unit_test(they_are_those_of_the_linker),
		cmocka_unit_test(each_form_is_read),
		cmocka_unit_test(damage_ends),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
