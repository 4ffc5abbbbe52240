// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache of kernel symbols in a folder made for the test: what is given back, and all that must
 * not be: of another boot, other modules or programs, cut, changed, or where others may write.
 */
#include "../../src/file/kernel.h"
#include "keptdir.h"
#include "kontend/cachefile.h"
#include "kontend/mem.h"
#include "kontend/sym.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char symbols[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000010 t __pfx_one\n"
			      "ffffffff81000020 t one\n"
			      "ffffffff81000030 t __pfx_\n"
			      "ffffffffc0000000 t two\t[mod]\n";
static const char kept[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000020 t one\n"
			   "ffffffffc0000000 t two\t[mod]\n";
static const struct kallsyms_cache_state now = {"11111111-2222", 0x1234, 0x5678};

struct fixture {
	char root[KEPTDIR_PATH], folder[80], file[96];
};

static int set_up(void **state)
{
	struct fixture *f = mem_calloc(1, sizeof(*f));

	assert_non_null(f);
	cachedir_make(f->root, "own");
	snprintf(f->folder, sizeof(f->folder), "%s/own", f->root);
	snprintf(f->file, sizeof(f->file), "%s/kallsyms", f->folder);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r = cachedir_remove(f->root);

	mem_free(f);
	return r;
}

static void check_kept(const struct kallsyms_cache_state *s, const char *want)
{
	struct kallsyms_text t = {0};
	int r = kallsyms_cache_load(s, &t);

	if (want) {
		assert_int_equal(r, 0);
		assert_int_equal(t.len, strlen(want));
		assert_memory_equal(t.text, want, t.len);
	} else {
		assert_true(r < 0);
		assert_null(t.text);
		assert_null(t.kept);
	}
	kallsyms_text_deinit(&t);
}

static void store(void)
{
	assert_int_equal(kallsyms_cache_store(&now, symbols, strlen(symbols)), 0);
}

static void test_comes_back(void **state)
{
	const struct fixture *f = *state;
	struct stat st;

	check_kept(&now, NULL);
	store();
	check_kept(&now, kept);
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(f->folder, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* The next one takes its place, also where a program was ended while it wrote. */
	char left[128];
	const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
	snprintf(left, sizeof(left), "%s.1.new", f->file);
	close(open(left, O_CREAT | O_WRONLY | O_CLOEXEC, 0400));
	assert_int_equal(utimensat(AT_FDCWD, left, long_ago, 0), 0);
	assert_int_equal(kallsyms_cache_store(&now, kept, strlen(kept) - 1), 0);
	check_kept(&now, kept);
	assert_int_not_equal(access(left, F_OK), 0);
}

static void test_same_symbols(void **state)
{
	struct sym whole = {0}, part = {0};

	(void)state;
	assert_int_equal(sym_load(&whole, symbols, strlen(symbols), NULL), 0);
	assert_int_equal(sym_load(&part, kept, strlen(kept), NULL), 0);
	assert_int_equal(whole.n, part.n);
	for (size_t i = 0; i < whole.n; i++) {
		assert_int_equal(whole.entries[i].addr, part.entries[i].addr);
		assert_string_equal(sym_text(&whole, &whole.entries[i]),
				    sym_text(&part, &part.entries[i]));
	}
	sym_deinit(&whole);
	sym_deinit(&part);
}

static void test_stale(void **state)
{
	struct kallsyms_cache_state other = now;

	(void)state;
	store();
	strcpy(other.boot, "11111111-2223");
	check_kept(&other, NULL);
	other = now;
	other.modules++;
	check_kept(&other, NULL);
	other = now;
	other.bpf++;
	check_kept(&other, NULL);
	check_kept(&now, kept);
}

/* Any byte changed, any end missing: what was kept, where the byte means nothing, or nothing. */
static void test_damaged_anywhere(void **state)
{
	const struct fixture *f = *state;
	struct stat st;
	size_t same = 0;
	char byte;

	store();
	assert_int_equal(stat(f->file, &st), 0);
	int fd = open(f->file, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < st.st_size; at++) {
		struct kallsyms_text t;
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x20;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		if (kallsyms_cache_load(&now, &t) == 0) {
			assert_int_equal(t.len, strlen(kept));
			assert_memory_equal(t.text, kept, t.len);
			kallsyms_text_deinit(&t);
			same++;
		}
		byte ^= 0x20;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	/* Of the first page what follows the header and the only checksum. */
	assert_int_equal(same, CACHEFILE_PAGE - sizeof(struct cachefile_head) - sizeof(uint64_t));
	for (off_t len = st.st_size - 1; len >= 0; len--) {
		assert_int_equal(truncate(f->file, len), 0);
		check_kept(&now, NULL);
	}
}

/* The cache of earlier versions: text with a last line that described its content. */
static void test_of_an_earlier_version(void **state)
{
	const struct fixture *f = *state;

	store();
	int fd = open(f->file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	for (int i = 0; i < 200; i++)
		assert_int_equal(write(fd, kept, strlen(kept)), strlen(kept));
	close(fd);
	check_kept(&now, NULL);
	store();
	check_kept(&now, kept);
}

static void test_where_others_may_write(void **state)
{
	const struct fixture *f = *state;
	char link[96];

	store();
	assert_int_equal(chmod(f->file, 0620), 0);
	check_kept(&now, NULL);
	assert_int_equal(chmod(f->file, 0600), 0);
	assert_int_equal(chmod(f->folder, 0702), 0);
	check_kept(&now, NULL);
	assert_int_equal(kallsyms_cache_store(&now, symbols, strlen(symbols)), -EPERM);
	assert_int_equal(chmod(f->folder, 0700), 0);
	check_kept(&now, kept);
	/* A link may lead anywhere. */
	snprintf(link, sizeof(link), "%s/link", f->root);
	assert_int_equal(symlink(f->folder, link), 0);
	setenv("KONTEND_CACHE", link, 1);
	check_kept(&now, NULL);
	assert_true(kallsyms_cache_store(&now, symbols, strlen(symbols)) < 0);
	/* No file, but something that reading would wait for. */
	setenv("KONTEND_CACHE", f->folder, 1);
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	check_kept(&now, NULL);
	if (geteuid() == 0) {
		assert_int_equal(unlink(f->file), 0);
		store();
		assert_int_equal(chown(f->file, 12345, 12345), 0);
		check_kept(&now, NULL);
		assert_int_equal(chown(f->file, 0, 0), 0);
		assert_int_equal(chown(f->folder, 12345, 12345), 0);
		check_kept(&now, NULL);
	}
}

static void test_where_it_lies(void **state)
{
	/* A copy: with its checks for NULL, gcc takes the fixture's own for one, and warns. */
	char root[64], path[128];

	memcpy(root, ((const struct fixture *)*state)->root, sizeof(root));
	setenv("KONTEND_CACHE", "", 1);
	assert_true(kallsyms_cache_store(&now, symbols, strlen(symbols)) < 0);
	setenv("KONTEND_CACHE", "/proc/none/below", 1);
	assert_true(kallsyms_cache_store(&now, symbols, strlen(symbols)) < 0);
	unsetenv("KONTEND_CACHE");
	setenv("XDG_CACHE_HOME", root, 1);
	store();
	check_kept(&now, kept);
	snprintf(path, sizeof(path), "%s/kontend/kallsyms", root);
	assert_int_equal(access(path, F_OK), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", root, 1);
	store();
	snprintf(path, sizeof(path), "%s/.cache/kontend/kallsyms", root);
	assert_int_equal(access(path, F_OK), 0);
	setenv("HOME", "/nowhere", 1);
	check_kept(&now, NULL);
	assert_true(kallsyms_cache_store(&now, symbols, strlen(symbols)) < 0);
	assert_int_not_equal(access("/nowhere", F_OK), 0);
}

static void test_modules(void **state)
{
	static const char text[] = "nf_tables 300 4 - Live 0xffffffffc0200000\n"
				   "ext4 1000 1 - Live 0xffffffffc0300000 (E)\n";
	uint64_t h = kallsyms_cache_modules(text);

	(void)state;
	assert_int_equal(h, kallsyms_cache_modules("nf_tables 300 5 x,y Live 0xffffffffc0200000\n"
						   "ext4 1000 0 - Live 0xffffffffc0300000\n"));
	assert_int_not_equal(h, kallsyms_cache_modules(""));
	assert_int_not_equal(h,
			     kallsyms_cache_modules("nf_tables 300 4 - Live 0xffffffffc0200000\n"));
	assert_int_not_equal(h,
			     kallsyms_cache_modules("nf_tables 300 4 - Live 0xffffffffc0200000\n"
						    "ext4 1000 1 - Live 0xffffffffc0310000 (E)\n"));
	assert_int_not_equal(
		h, kallsyms_cache_modules("nf_tables 300 4 - Live 0xffffffffc0200000\n"
					  "ext4 1000 1 - Loading 0xffffffffc0300000 (E)\n"));
	/* Whatever it is, no byte after its end is read. */
	kallsyms_cache_modules("a");
	kallsyms_cache_modules("a b c d e f g h\n\n \n  x");
}

static void test_out_of_memory(void **state)
{
	long live = mem_live();

	(void)state;
	mem_fail_after(0);
	int r = kallsyms_cache_store(&now, symbols, strlen(symbols));
	mem_fail_after(-1);
	assert_int_equal(r, -ENOMEM);
	check_kept(&now, NULL);
	store();
	for (int i = 0; i < 3; i++) {
		mem_fail_after(i);
		check_kept(&now, NULL);
	}
	mem_fail_after(-1);
	check_kept(&now, kept);
	assert_int_equal(mem_live(), live);
}

/* The state of this machine is read twice, and is the same unless something was loaded. */
static void test_this_machine(void **state)
{
	struct kallsyms_cache_state s = {0};
	int r = kallsyms_cache_now(&s);

	(void)state;
	if (r) {
		assert_true(r == -EPERM || r == -EACCES || r == -ENOENT);
		print_message("skipped: cannot read the state of the kernel: %s\n", strerror(-r));
		skip();
	}
	assert_int_equal(strlen(s.boot), 36);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_comes_back),
		cmocka_unit_test(test_same_symbols),
		IN_FOLDER(test_stale),
		IN_FOLDER(test_damaged_anywhere),
		IN_FOLDER(test_of_an_earlier_version),
		IN_FOLDER(test_where_others_may_write),
		IN_FOLDER(test_where_it_lies),
		cmocka_unit_test(test_modules),
		IN_FOLDER(test_out_of_memory),
		cmocka_unit_test(test_this_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
