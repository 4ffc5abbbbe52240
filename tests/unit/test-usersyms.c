// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions in files, which are made in a folder of their own. */
#include "elfmake.h"
#include "kontend/mem.h"
#include "kontend/usersyms.h"
#include "loadall.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define WEAK ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LABEL ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)
#define AT(x) (ELFMAKE_ADDR + (x))

static char dir[64];

static const struct elfmake_symbol full[] = {
	{"alpha", AT(0x100), 0x40, FUNC, 1},
	{"__alpha_alias", AT(0x100), 0x40, FUNC, 1},
	{"weak_alpha", AT(0x100), 0x40, WEAK, 1},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", AT(0x200), 0x20, LOCAL, 1},
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", AT(0x240), 0x20, LOCAL, 1},
	{"bad\033]0;name\007", AT(0x280), 0x20, LOCAL, 1},
	{"label", AT(0x300), 0, LABEL, 1},
	{"$x", AT(0x310), 0, LABEL, 1},
	{"outer", AT(0x400), 0x100, LOCAL, 1},
	{"inner", AT(0x410), 0x10, LOCAL, 1},
	{"elsewhere", 0, 0, FUNC, 0},
	{"no_size", AT(0x600), 0, FUNC, 1},
	{"next", AT(0x640), 0x10, FUNC, 1},
	{"_RNvC6_123foo3bar", AT(0x260), 0x20, LOCAL, 1},
};

static const struct elfmake_symbol few[] = {
	{"public", AT(0x100), 0x40, FUNC, 1},
	{"called", 0, 0, FUNC, 0},
};

static const char *in_dir(const char *name)
{
	static char path[4][160];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static struct usersyms *make_usersyms(bool same_machine)
{
	static char debug[160];
	struct usersyms *u;
	struct error err = {0};

	snprintf(debug, sizeof(debug), "%s/debug", dir);
	struct usersyms_config c = {.same_machine = same_machine, .debug_root = debug};
	assert_int_equal(usersyms_new(&u, &c, &err), 0);
	return u;
}

static struct elfmake with_id(uint8_t first)
{
	struct elfmake m = {.build_id_len = 20};

	for (size_t i = 0; i < 20; i++)
		m.build_id[i] = (uint8_t)(first + i);
	return m;
}

/* The name at a place of a file, or the reason why there is none. */
static const char *name_at(struct usersyms *u, const char *path, const struct elfmake *id,
			   uint64_t at)
{
	uint32_t o;
	struct usersym s;

	assert_int_equal(usersyms_object(u, path, id ? id->build_id : NULL,
					 id ? id->build_id_len : 0, 0, &o),
			 0);
	enum usersym_answer a = usersyms_lookup(u, o, ELFMAKE_TEXT + at, &s);
	if (a == USERSYM_PENDING) {
		load_all(u);
		a = usersyms_lookup(u, o, ELFMAKE_TEXT + at, &s);
	}
	if (a != USERSYM_OK)
		return usersym_reason(a);
	assert_true(s.start <= ELFMAKE_TEXT + at && at + ELFMAKE_TEXT - s.start < s.size);
	return s.name;
}

static void test_names(void **state)
{
	struct elfmake m = {.symtab = full, .n_symtab = sizeof(full) / sizeof(full[0])};
	struct usersyms *u = make_usersyms(true);
	const char *path = in_dir("names");

	(void)state;
	elfmake_file(&m, path);
	assert_string_equal(name_at(u, path, NULL, 0x100), "alpha");
	assert_string_equal(name_at(u, path, NULL, 0x13f), "alpha");
	assert_string_equal(name_at(u, path, NULL, 0x140), usersym_reason(USERSYM_NO_SYMBOL));
	assert_string_equal(name_at(u, path, NULL, 0x50), usersym_reason(USERSYM_NO_SYMBOL));
	assert_string_equal(name_at(u, path, NULL, 0x288), "bad?]0;name?");
	assert_string_equal(name_at(u, path, NULL, 0x320), "label");
	assert_string_equal(name_at(u, path, NULL, 0x405), "outer");
	assert_string_equal(name_at(u, path, NULL, 0x418), "inner");
	assert_string_equal(name_at(u, path, NULL, 0x480), "outer");
	assert_string_equal(name_at(u, path, NULL, 0x63f), "no_size");
	assert_string_equal(name_at(u, path, NULL, 0x5000), usersym_reason(USERSYM_NO_SYMBOL));
	usersyms_free(u);
}

static void test_demangled(void **state)
{
	struct elfmake m = {.symtab = full, .n_symtab = sizeof(full) / sizeof(full[0])};
	struct usersyms *u = make_usersyms(true);
	const char *path = in_dir("names");

	(void)state;
	elfmake_file(&m, path);
	const char *name = name_at(u, path, NULL, 0x200);
	if (!strncmp(name, "_Z", 2)) {
		assert_string_equal(name, full[3].name);
	} else {
		assert_string_equal(name, "std::vector<int, std::allocator<int> >::push_back");
		assert_string_equal(name_at(u, path, NULL, 0x250), "core::fmt::Formatter::pad");
		assert_string_equal(name_at(u, path, NULL, 0x260), "123foo::bar");
	}
	usersyms_free(u);
}

static void test_a_name_that_stands_for_gigabytes(void **state)
{
	char bomb[2048] = "_Z1fI1AIiEE";
	struct elfmake_symbol s = {bomb, AT(0), 0x10, FUNC, 1};
	struct elfmake m = {.symtab = &s, .n_symtab = 1};
	struct usersyms *u = make_usersyms(true);

	(void)state;
	/* Each part is a pair of the one before. */
	strcpy(bomb, "_Z1fP1aS_");
	for (char c = '0'; c < 'Z'; c++)
		if ((c >= '0' && c <= '9') || c >= 'A')
			sprintf(bomb + strlen(bomb), "1bIS%c_S%c_E", c, c);
	elfmake_file(&m, in_dir("bomb"));
	assert_true(strlen(name_at(u, in_dir("bomb"), NULL, 0)) < 4200);
	usersyms_free(u);
}

/* Tables beyond what may be kept are read again when they are asked for. */
static void test_tables_are_bounded(void **state)
{
	struct elfmake m = {.symtab = full, .n_symtab = sizeof(full) / sizeof(full[0])};
	struct usersyms_config c = {.same_machine = true, .tables_most = 1};
	struct usersyms *u;
	uint32_t o;
	struct usersym s;

	(void)state;
	elfmake_file(&m, in_dir("bounded"));
	assert_int_equal(usersyms_new(&u, &c, NULL), 0);
	const char *name = name_at(u, in_dir("bounded"), NULL, 0x100);
	assert_string_equal(name, "alpha");
	long live = mem_live();
	usersyms_tidy(u);
	assert_true(mem_live() < live);
	assert_int_equal(usersyms_object(u, in_dir("bounded"), NULL, 0, 0, &o), 0);
	assert_int_equal(usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s), USERSYM_PENDING);
	/* A caller that has the earlier name has the same string. */
	assert_ptr_equal(name_at(u, in_dir("bounded"), NULL, 0x100), name);
	usersyms_free(u);
	c.tables_most = 0;
	assert_int_equal(usersyms_new(&u, &c, NULL), 0);
	name_at(u, in_dir("bounded"), NULL, 0x100);
	usersyms_tidy(u);
	assert_int_equal(usersyms_object(u, in_dir("bounded"), NULL, 0, 0, &o), 0);
	assert_int_equal(usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s), USERSYM_OK);
	usersyms_free(u);
}

/* Files that are new each time wear it out, although each has but an entry. */
static void test_many_files_wear_it_out(void **state)
{
	struct usersyms_config c = {.same_machine = true, .tables_most = 64 << 10};
	struct usersyms *u;
	char path[64];
	uint32_t o;
	int n = 0;

	(void)state;
	assert_int_equal(usersyms_new(&u, &c, NULL), 0);
	assert_false(usersyms_is_worn(u));
	for (; n < 10000 && !usersyms_is_worn(u); n++) {
		snprintf(path, sizeof(path), "/nowhere/%d", n);
		assert_int_equal(usersyms_object(u, path, NULL, 0, 0, &o), 0);
	}
	assert_in_range(n, 50, 1000);
	usersyms_free(u);
}

static void test_build_ids(void **state)
{
	struct elfmake m = with_id(1), other = with_id(2);
	struct usersyms *u = make_usersyms(true), *away = make_usersyms(false);
	const char *path = in_dir("ids");

	(void)state;
	m.symtab = full;
	m.n_symtab = 1;
	elfmake_file(&m, path);
	assert_string_equal(name_at(u, path, &m, 0x100), "alpha");
	assert_string_equal(name_at(u, path, &other, 0x100), usersym_reason(USERSYM_OTHER_FILE));
	assert_string_equal(name_at(u, path, NULL, 0x100), "alpha");
	assert_string_equal(name_at(away, path, &m, 0x100), "alpha");
	assert_string_equal(name_at(away, path, NULL, 0x100), usersym_reason(USERSYM_UNSURE));
	usersyms_free(u);
	usersyms_free(away);
}

/* The name by an inode in place of a build id, or the reason why there is none. */
static const char *name_by(struct usersyms *u, const char *path, const struct usersym_inode *inode)
{
	struct usersym s;
	uint32_t o;

	assert_int_equal(usersyms_object_at(u, path, inode, 0, &o), 0);
	enum usersym_answer a = usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s);
	if (a == USERSYM_PENDING) {
		load_all(u);
		a = usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s);
	}
	return a == USERSYM_OK ? s.name : usersym_reason(a);
}

static struct usersym_inode inode_of(const char *path, uint64_t after_ns)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct usersym_inode){major(st.st_dev), minor(st.st_dev), st.st_ino,
				      (uint64_t)st.st_ctim.tv_sec * 1000000000 +
					      (uint64_t)st.st_ctim.tv_nsec + after_ns};
}

static void test_inodes(void **state)
{
	struct elfmake m = {.symtab = full, .n_symtab = 1};
	struct usersyms *u = make_usersyms(true), *away = make_usersyms(false);
	const char *path = in_dir("inodes"), *changed = usersym_reason(USERSYM_CHANGED);
	const uint64_t hour = 3600000000000;
	uint32_t o;

	(void)state;
	elfmake_file(&m, path);
	const struct usersym_inode same = inode_of(path, 1), before = inode_of(path, -hour);
	struct usersym_inode other = same, device = same, unknown = {0};
	other.ino++;
	device.min++;
	assert_string_equal(name_by(u, path, &same), "alpha");
	assert_string_equal(name_by(u, path, &unknown), "alpha");
	assert_string_equal(name_by(u, path, &other), changed);
	assert_string_equal(name_by(u, path, &before), changed);
	/* stat() shows no device of file systems like btrfs that could be compared. */
	assert_string_equal(name_by(u, path, &device), same.maj ? changed : "alpha");
	assert_string_equal(name_by(away, path, &same), usersym_reason(USERSYM_UNSURE));
	/* Each is an object of its own. */
	assert_int_equal(usersyms_object_at(u, path, &same, 0, &o), 0);
	assert_int_equal(o, 0);
	assert_false(usersyms_is_trusted(u, o));
	usersyms_free(u);
	usersyms_free(away);
}

static void test_trusted(void **state)
{
	struct elfmake m = with_id(1), id = with_id(2);
	const char *path = in_dir("trusted"), *there = path + strlen(dir);
	struct usersyms_config c[] = {{.trust_paths = true}, {.symfs = dir}};
	struct usersym_inode none = {0}, other = {8, 1, 7, 1};
	struct error err;

	(void)state;
	m.symtab = full;
	m.n_symtab = 1;
	elfmake_file(&m, path);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? there : path;
		struct usersyms *u;
		size_t at = 0;

		assert_int_equal(usersyms_new(&u, &c[i], &err), 0);
		assert_string_equal(name_at(u, name, &id, 0x100),
				    usersym_reason(USERSYM_OTHER_FILE));
		assert_string_equal(name_at(u, name, &m, 0x100), "alpha");
		assert_null(usersyms_trusted(u, &at));
		assert_string_equal(name_by(u, name, &none), "alpha");
		assert_string_equal(name_by(u, name, &other), "alpha");
		at = 0;
		assert_string_equal(usersyms_trusted(u, &at), name);
		assert_string_equal(usersyms_trusted(u, &at), name);
		assert_null(usersyms_trusted(u, &at));
		assert_string_equal(name_by(u, "/nothing", &none), usersym_reason(USERSYM_NO_FILE));
		usersyms_free(u);
	}
}

static void test_what_is_no_file(void **state)
{
	struct usersyms *u = make_usersyms(true);
	FILE *f = fopen(in_dir("text"), "we");

	(void)state;
	fputs("#!/bin/sh\n", f);
	fclose(f);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_string_equal(name_at(u, in_dir("none"), NULL, 0), usersym_reason(USERSYM_NO_FILE));
	assert_string_equal(name_at(u, in_dir("text"), NULL, 0), usersym_reason(USERSYM_NOT_ELF));
	assert_string_equal(name_at(u, in_dir("fifo"), NULL, 0), usersym_reason(USERSYM_NOT_ELF));
	assert_string_equal(name_at(u, "/dev/zero", NULL, 0), usersym_reason(USERSYM_NOT_ELF));
	assert_string_equal(name_at(u, "//anon", NULL, 0), usersym_reason(USERSYM_NO_FILE));
	assert_string_equal(name_at(u, "[heap]", NULL, 0), usersym_reason(USERSYM_NO_FILE));
	usersyms_free(u);
}

static void test_dynamic_symbols_and_stubs(void **state)
{
	struct elfmake m = {.dynsym = few, .n_dynsym = 2, .n_stubs = 2}, bare = {0};
	struct usersyms *u = make_usersyms(true);

	(void)state;
	elfmake_file(&m, in_dir("dyn"));
	elfmake_file(&bare, in_dir("bare"));
	assert_string_equal(name_at(u, in_dir("dyn"), NULL, 0x110), "public");
	assert_string_equal(name_at(u, in_dir("dyn"), NULL, ELFMAKE_LEN - 32), "public@plt");
	assert_string_equal(name_at(u, in_dir("dyn"), NULL, ELFMAKE_LEN - 1), "called@plt");
	assert_string_equal(name_at(u, in_dir("bare"), NULL, 0), usersym_reason(USERSYM_NO_TABLE));
	usersyms_free(u);
}

/* .build-id/01/0203...14.debug below the root of debug files. */
static void debug_path(const struct elfmake *m, char *ret, size_t size)
{
	char folder[160];

	snprintf(folder, sizeof(folder), "%s/debug", dir);
	mkdir(folder, 0700);
	snprintf(folder, sizeof(folder), "%s/debug/.build-id", dir);
	mkdir(folder, 0700);
	snprintf(folder, sizeof(folder), "%s/debug/.build-id/%02x", dir, m->build_id[0]);
	mkdir(folder, 0700);
	int at = snprintf(ret, size, "%s/", folder);
	for (size_t i = 1; i < 20; i++)
		at += snprintf(ret + at, size - (size_t)at, "%02x", m->build_id[i]);
	snprintf(ret + at, size - (size_t)at, ".debug");
}

static void test_separate_by_build_id(void **state)
{
	struct elfmake m = with_id(0x21), debug = m, wrong = with_id(0x31);
	struct usersyms *u = make_usersyms(true);
	char path[320];

	(void)state;
	m.dynsym = few;
	m.n_dynsym = 2;
	debug.symtab = full;
	debug.n_symtab = 1;
	elfmake_file(&m, in_dir("sep"));
	debug_path(&m, path, sizeof(path));
	elfmake_file(&debug, path);
	assert_string_equal(name_at(u, in_dir("sep"), &m, 0x100), "alpha");
	/* A file in the right place that has another build id. */
	struct elfmake n = with_id(0x41);
	n.dynsym = few;
	n.n_dynsym = 2;
	wrong.symtab = full;
	wrong.n_symtab = 1;
	elfmake_file(&n, in_dir("sep2"));
	debug_path(&n, path, sizeof(path));
	elfmake_file(&wrong, path);
	assert_string_equal(name_at(u, in_dir("sep2"), &n, 0x100), "public");
	usersyms_free(u);
}

static void test_separate_by_name(void **state)
{
	struct elfmake debug = {.symtab = full, .n_symtab = 1};
	struct elfmake m = {.dynsym = few, .n_dynsym = 2, .link = "linked.debug"}, bad = m;
	struct usersyms *u = make_usersyms(true);
	size_t len;
	uint8_t *p = elfmake(&debug, &len);

	(void)state;
	m.link_sum = elfmake_sum(p, len);
	bad.link_sum = ~m.link_sum;
	free(p);
	mkdir(in_dir(".debug"), 0700);
	elfmake_file(&debug, in_dir(".debug/linked.debug"));
	elfmake_file(&m, in_dir("linked"));
	elfmake_file(&bad, in_dir("badly"));
	assert_string_equal(name_at(u, in_dir("linked"), NULL, 0x100), "alpha");
	assert_string_equal(name_at(u, in_dir("badly"), NULL, 0x100), "public");
	usersyms_free(u);
}

/* A file of elfmake(), compressed by `xz`. Empty: there is no xz here. */
static uint8_t *pack(const struct elfmake *m, size_t *ret_len)
{
	char command[512];
	uint8_t *p = calloc(1, 1 << 16);

	elfmake_file(m, in_dir("packed"));
	snprintf(command, sizeof(command), "xz -k -c -f %s 2>/dev/null", in_dir("packed"));
	FILE *f = popen(command, "re");
	*ret_len = f ? fread(p, 1, 1 << 16, f) : 0;
	if (f)
		pclose(f);
	return p;
}

static void test_packed(void **state)
{
	struct elfmake inner = {.symtab = full + 8, .n_symtab = 2};
	struct elfmake m = {.dynsym = few, .n_dynsym = 2};
	struct usersyms *u = make_usersyms(true);
	uint8_t *p = pack(&inner, &m.packed_len);

	(void)state;
	m.packed = p;
	if (m.packed_len) {
		elfmake_file(&m, in_dir("mini"));
		const char *name = name_at(u, in_dir("mini"), NULL, 0x418);
		if (strcmp(name, usersym_reason(USERSYM_NO_SYMBOL)) != 0)
			assert_string_equal(name, "inner");
		assert_string_equal(name_at(u, in_dir("mini"), NULL, 0x100), "public");
		/* Half of it is no reason to be without the others. */
		m.packed_len /= 2;
		elfmake_file(&m, in_dir("half"));
		assert_string_equal(name_at(u, in_dir("half"), NULL, 0x100), "public");
	}
	free(p);
	usersyms_free(u);
}

static void run_once(void)
{
	struct usersyms *u = NULL;
	struct usersyms_config c = {.same_machine = true};
	struct usersym s;
	uint32_t o;

	if (usersyms_new(&u, &c, NULL) < 0)
		return;
	if (usersyms_object(u, in_dir("sweep"), NULL, 0, 0, &o) == 0) {
		usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s);
		load_all(u);
		if (usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s) == USERSYM_OK)
			assert_string_equal(s.name, "alpha");
	}
	usersyms_free(u);
}

static void test_no_memory(void **state)
{
	struct elfmake m = {
		.symtab = full, .n_symtab = 13, .dynsym = few, .n_dynsym = 2, .n_stubs = 2};

	(void)state;
	elfmake_file(&m, in_dir("sweep"));
	long live = mem_live();
	mem_fail_after(-1);
	run_once();
	long n = mem_count();
	for (long i = 0; i < n; i++) {
		mem_fail_after(i);
		run_once();
		assert_int_equal(mem_live(), live);
	}
	mem_fail_after(-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_demangled),
		cmocka_unit_test(test_a_name_that_stands_for_gigabytes),
		cmocka_unit_test(test_tables_are_bounded),
		cmocka_unit_test(test_many_files_wear_it_out),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_inodes),
		cmocka_unit_test(test_trusted),
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_dynamic_symbols_and_stubs),
		cmocka_unit_test(test_separate_by_build_id),
		cmocka_unit_test(test_separate_by_name),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_no_memory),
	};

	snprintf(dir, sizeof(dir), "/tmp/kontend-usersyms-XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) ? 1 : failed;
}
