// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols that are kept in a folder made for the test: what is taken instead of reading, and all
 * that must not be: of another file, damaged anywhere, or where others may write.
 */
#include "../../src/sym/user/internal.h"
#include "elfmake.h"
#include "keptdir.h"
#include "kontend/mem.h"
#include "loadall.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define AT(x) (ELFMAKE_ADDR + (x))

/* So many that they take several blocks. */
enum { MANY = 2000, STRIDE = 2 };

static char dir[KEPTDIR_PATH], cache[80], program[80], file[160];
static struct elfmake_symbol many[MANY];
static char names[MANY][32];

static struct elfmake make_elf(uint8_t id)
{
	struct elfmake m = {.build_id_len = 20, .symtab = many, .n_symtab = MANY};

	memset(m.build_id, id, 20);
	return m;
}

static void put_path(char *ret, size_t size, uint8_t id)
{
	int at = snprintf(ret, size, "%s/symbols/", cache);

	for (int i = 0; i < 20; i++)
		at += snprintf(ret + at, size - (size_t)at, "%02x", id);
	snprintf(ret + at, size - (size_t)at, ".syms");
}

static void set_names(const char *prefix)
{
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "%s_%u", prefix, i);
		many[i] = (struct elfmake_symbol){names[i], AT(i * STRIDE), STRIDE, FUNC, 1};
	}
}

static int set_up(void **state)
{
	(void)state;
	cachedir_make(dir, "cache");
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(program, sizeof(program), "%s/program", dir);
	put_path(file, sizeof(file), 7);
	set_names("first");
	struct elfmake m = make_elf(7);
	elfmake_file(&m, program);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return cachedir_remove(dir);
}

static struct usersyms *make_usersyms(uint64_t most)
{
	static char root[96];
	struct usersyms_config c = {
		.same_machine = true, .keep = true, .keep_least_ns = 1, .keep_most = most};
	struct usersyms *u;

	snprintf(root, sizeof(root), "%s/debug", dir);
	c.debug_root = root;
	assert_int_equal(usersyms_new(&u, &c, NULL), 0);
	return u;
}

static const char *name_at(struct usersyms *u, const char *path, uint64_t at)
{
	uint32_t o;
	struct usersym s;

	assert_int_equal(usersyms_object(u, path, NULL, 0, 0, &o), 0);
	enum usersym_answer a;
	while ((a = usersyms_lookup(u, o, ELFMAKE_TEXT + at, &s)) == USERSYM_PENDING)
		load_all(u);
	return a == USERSYM_OK ? s.name : usersym_reason(a);
}

/* All names are those of @prefix; were they kept? *ret_note: was anything said? */
static bool check(const char *prefix, bool *ret_note)
{
	struct usersyms *u = make_usersyms(0);
	char want[48];

	for (unsigned i = 0; i < MANY; i += 37) {
		snprintf(want, sizeof(want), "%s_%u", prefix, i);
		assert_string_equal(name_at(u, program, (uint64_t)i * STRIDE + 1), want);
	}
	assert_string_equal(name_at(u, program, MANY * STRIDE), usersym_reason(USERSYM_NO_SYMBOL));
	bool kept = u->images[0]->table.kept != NULL;
	*ret_note = usersyms_note(u) != NULL;
	assert_null(usersyms_note(u));
	usersyms_free(u);
	return kept;
}

static bool is_kept(const char *prefix)
{
	bool note, kept = check(prefix, &note);

	assert_false(note);
	return kept;
}

static void test_the_second_time(void **state)
{
	struct stat st;
	char folder[96];

	(void)state;
	umask(0);
	assert_false(is_kept("first"));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(folder, sizeof(folder), "%s/symbols", cache);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(is_kept("first"));
	assert_true(is_kept("first"));
	umask(022);
}

/* A build id can be given to any file. */
static void test_another_file_of_that_id(void **state)
{
	struct elfmake m;

	(void)state;
	assert_false(is_kept("first"));
	set_names("other");
	m = make_elf(7);
	unlink(program);
	elfmake_file(&m, program);
	assert_false(is_kept("other"));
	assert_true(is_kept("other"));
}

/* Separate symbols that are installed later are better than what there was. */
static void test_separate_symbols_come_later(void **state)
{
	static const struct elfmake_symbol one = {"exported", AT(0), 0x1000, FUNC, 1};
	struct elfmake bare = {.build_id_len = 20, .dynsym = &one, .n_dynsym = 1}, debug;
	char path[240], command[256];

	(void)state;
	memset(bare.build_id, 7, 20);
	elfmake_file(&bare, program);
	for (int i = 0; i < 2; i++) {
		struct usersyms *u = make_usersyms(0);
		assert_string_equal(name_at(u, program, 0x800), "exported");
		assert_int_equal(u->images[0]->table.kept != NULL, i);
		usersyms_free(u);
	}
	snprintf(command, sizeof(command), "mkdir -p %s/debug/.build-id/07", dir);
	assert_int_equal(system(command), 0);
	int at = snprintf(path, sizeof(path), "%s/debug/.build-id/07/", dir);
	for (int i = 1; i < 20; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "07");
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	debug = make_elf(7);
	elfmake_file(&debug, path);
	assert_false(is_kept("first"));
	assert_true(is_kept("first"));
}

/* Reported once, read again, written again. */
static void test_damage(void **state)
{
	struct stat st;
	bool note;

	(void)state;
	assert_false(is_kept("first"));
	assert_int_equal(stat(file, &st), 0);
	/* Of the header, its checksums, the entries, the texts, and the end. */
	const off_t places[] = {20, sizeof(struct cachefile_head) + 3, CACHEFILE_PAGE + 1,
				st.st_size - 20000, st.st_size - 10000};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		cachedir_damage(file, places[i]);
		assert_false(check("first", &note));
		assert_true(note);
		assert_true(is_kept("first"));
	}
	const off_t lengths[] = {0, 100, CACHEFILE_PAGE, st.st_size - 1, st.st_size + 1};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_int_equal(truncate(file, lengths[i]), 0);
		assert_false(check("first", &note));
		assert_true(note);
		assert_true(is_kept("first"));
	}
}

/* Of another version, or of a time before there were versions: not damaged, only ignored. */
static void test_another_form(void **state)
{
	(void)state;
	assert_false(is_kept("first"));
	for (off_t at = 0; at < 12; at++) {
		cachedir_damage(file, at);
		assert_false(is_kept("first"));
		assert_true(is_kept("first"));
	}
}

static void test_cut_while_in_use(void **state)
{
	struct usersyms *u;

	(void)state;
	assert_false(is_kept("first"));
	u = make_usersyms(0);
	assert_string_equal(name_at(u, program, 1), "first_0");
	assert_non_null(u->images[0]->table.kept);
	assert_int_equal(truncate(file, 0), 0);
	assert_string_equal(name_at(u, program, 1900 * STRIDE), "first_1900");
	assert_null(u->images[0]->table.kept);
	assert_non_null(usersyms_note(u));
	usersyms_free(u);
	assert_true(is_kept("first"));
}

static void test_what_others_may_write(void **state)
{
	char aside[180], link[180], folder[96];

	(void)state;
	assert_false(is_kept("first"));
	assert_int_equal(chmod(file, 0620), 0);
	assert_false(is_kept("first"));
	/* It was replaced by one of our own. */
	assert_true(is_kept("first"));
	snprintf(aside, sizeof(aside), "%s/aside", dir);
	assert_int_equal(rename(file, aside), 0);
	assert_int_equal(symlink(aside, file), 0);
	assert_false(is_kept("first"));
	assert_true(is_kept("first"));
	snprintf(folder, sizeof(folder), "%s/symbols", cache);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_false(is_kept("first"));
	assert_false(is_kept("first"));
	/* Nor by a link to a folder that is. */
	snprintf(link, sizeof(link), "%s/real", dir);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(rename(folder, link), 0);
	assert_int_equal(symlink(link, folder), 0);
	assert_false(is_kept("first"));
	assert_false(is_kept("first"));
}

static void test_not_worth_it_or_not_wanted(void **state)
{
	struct usersyms_config c[] = {
		{.same_machine = true, .keep = true, .keep_least_ns = UINT64_MAX},
		{.same_machine = true, .keep_least_ns = 1}};
	struct usersyms *u;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(usersyms_new(&u, &c[i], NULL), 0);
		assert_string_equal(name_at(u, program, 1), "first_0");
		usersyms_free(u);
		assert_int_not_equal(access(file, F_OK), 0);
	}
	/* There is no place: nothing else is different. */
	setenv("KONTEND_CACHE", "", 1);
	assert_false(is_kept("first"));
	assert_false(is_kept("first"));
}

static void test_room_is_limited(void **state)
{
	char path[3][160], forgotten[200];
	struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
	struct stat st;

	(void)state;
	assert_false(is_kept("first"));
	assert_int_equal(stat(file, &st), 0);
	snprintf(forgotten, sizeof(forgotten), "%s/symbols/x.1.new", cache);
	close(open(forgotten, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(utimensat(AT_FDCWD, forgotten, long_ago, 0), 0);
	for (uint8_t id = 8; id < 11; id++) {
		struct elfmake m = make_elf(id);
		char other[96];
		snprintf(other, sizeof(other), "%s/program-%u", dir, id);
		elfmake_file(&m, other);
		/* Of those before, the first is used now: it stays, though it is the oldest. */
		assert_int_equal(utimensat(AT_FDCWD, file, long_ago, 0), 0);
		assert_true(is_kept("first"));
		struct usersyms *u = make_usersyms((uint64_t)st.st_size * 5 / 2);
		assert_string_equal(name_at(u, other, 1), "first_0");
		usersyms_free(u);
		put_path(path[id - 8], sizeof(path[0]), id);
		if (id > 8) {
			long_ago[1].tv_sec++;
			assert_int_not_equal(access(path[id - 9], F_OK), 0);
		}
		assert_int_equal(access(path[id - 8], F_OK), 0);
		/* So that the next time does not depend on how fine the clock of files is. */
		assert_int_equal(utimensat(AT_FDCWD, path[id - 8], long_ago, 0), 0);
	}
	assert_int_equal(access(file, F_OK), 0);
	assert_int_not_equal(access(forgotten, F_OK), 0);
	/* A file larger than the limit is not kept, and no other is removed for it. */
	struct elfmake m = make_elf(20);
	elfmake_file(&m, program);
	struct usersyms *u = make_usersyms((uint64_t)st.st_size - 1);
	assert_string_equal(name_at(u, program, 1), "first_0");
	assert_null(usersyms_note(u));
	usersyms_free(u);
	assert_int_equal(access(file, F_OK), 0);
}

static void run_once(void)
{
	struct usersyms_config c = {.same_machine = true, .keep = true, .keep_least_ns = 1};
	struct usersyms *u = NULL;
	struct usersym s;
	uint32_t o;

	if (usersyms_new(&u, &c, NULL) < 0)
		return;
	if (usersyms_object(u, program, NULL, 0, 0, &o) == 0) {
		usersyms_lookup(u, o, ELFMAKE_TEXT, &s);
		load_all(u);
		if (usersyms_lookup(u, o, ELFMAKE_TEXT, &s) == USERSYM_OK)
			assert_string_equal(s.name, "first_0");
	}
	usersyms_free(u);
}

/* While it is written, and while it is taken. */
static void test_no_memory(void **state)
{
	(void)state;
	for (int warm = 0; warm < 2; warm++) {
		unlink(file);
		if (warm)
			run_once();
		mem_fail_after(-1);
		long live = mem_live();
		run_once();
		long n = mem_count();
		for (long i = 0; i < n; i++) {
			if (!warm)
				unlink(file);
			mem_fail_after(i);
			run_once();
			mem_fail_after(-1);
			assert_int_equal(mem_live(), live);
		}
	}
}

#define TEST(x) cmocka_unit_test_setup_teardown(x, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_second_time),
		TEST(test_another_file_of_that_id),
		TEST(test_separate_symbols_come_later),
		TEST(test_damage),
		TEST(test_another_form),
		TEST(test_cut_while_in_use),
		TEST(test_what_others_may_write),
		TEST(test_not_worth_it_or_not_wanted),
		TEST(test_room_is_limited),
		TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
