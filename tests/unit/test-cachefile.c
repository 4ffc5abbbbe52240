// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kept files in a folder made for the test: what was written comes back, and whatever happens to a
 * file, what comes back is what was written or nothing.
 */
#include "keptdir.h"
#include "kontend/cachefile.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST = 100, TEXT = 60, LARGE = 3 * CACHEFILE_BLOCK };

static char cache[KEPTDIR_PATH], file[96], first[LARGE], text[LARGE];
static const struct cachefile_key key = {.name = "one", .form = {"tests 01"}, .stamp = {1, 2, 3}};

static int set_up(void **state)
{
	(void)state;
	cachedir_make(cache, "");
	snprintf(file, sizeof(file), "%s/one", cache);
	for (size_t i = 0; i < LARGE; i++)
		first[i] = (char)(i * 7 + i / 256);
	memset(text, 'a', sizeof(text));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return cachedir_remove(cache);
}

static int store(size_t n_first, size_t n_text)
{
	const struct cachefile_part parts[CACHEFILE_PARTS] = {{first, n_first}, {text, n_text}};

	return cachefile_store(&key, parts);
}

/* 0 if it is what was written; else why there is nothing. */
static int load(size_t n_first, size_t n_text)
{
	struct cachefile *k;
	int r = cachefile_open(&k, &key);

	if (r < 0) {
		assert_null(k);
		return r;
	}
	const struct cachefile_part a = cachefile_part(k, 0), b = cachefile_part(k, 1);
	assert_int_equal(a.len, n_first);
	assert_int_equal(b.len, n_text);
	if (cachefile_is_sound(k, a.bytes, a.len) && cachefile_is_sound(k, b.bytes, b.len)) {
		assert_memory_equal(a.bytes, first, a.len);
		assert_memory_equal(b.bytes, text, b.len);
	} else {
		assert_true(cachefile_is_broken(k));
		r = -EBADMSG;
	}
	cachefile_close(k);
	return r;
}

static void test_comes_back(void **state)
{
	static const size_t sizes[] = {
		0, 1, 31, CACHEFILE_BLOCK - 1, CACHEFILE_BLOCK, CACHEFILE_BLOCK + 1, LARGE};

	(void)state;
	assert_int_equal(load(0, 0), -ENOENT);
	for (size_t i = 1; i < 7; i++)
		for (size_t j = 0; j < 7; j++) {
			assert_int_equal(store(sizes[i], sizes[j]), 0);
			assert_int_equal(load(sizes[i], sizes[j]), 0);
		}
}

static void test_each_byte(void **state)
{
	struct stat st;
	off_t used = sizeof(struct cachefile_head) + sizeof(uint64_t);

	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, CACHEFILE_PAGE + FIRST + TEXT);
	for (off_t at = 0; at < st.st_size; at++) {
		bool counts = at < used || at >= CACHEFILE_PAGE;
		cachedir_damage(file, at);
		int r = load(FIRST, TEXT);
		assert_int_equal(r, !counts ? 0 : at < 12 ? -ENOENT : -EBADMSG);
		cachedir_damage(file, at);
	}
	assert_int_equal(load(FIRST, TEXT), 0);
}

static void test_each_length(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(truncate(file, st.st_size + 1), 0);
	assert_int_equal(load(FIRST, TEXT), -EBADMSG);
	for (off_t len = st.st_size - 1; len >= 0; len--) {
		assert_int_equal(truncate(file, len), 0);
		assert_int_equal(load(FIRST, TEXT), -EBADMSG);
	}
}

static int open_as(const struct cachefile_key *k)
{
	struct cachefile *ret;
	int r = cachefile_open(&ret, k);

	cachefile_close(ret);
	return r;
}

/* Of another stamp or form: nothing is damaged, but it is not what was asked for. */
static void test_of_something_else(void **state)
{
	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	for (size_t i = 0; i < CACHEFILE_STAMP; i++) {
		struct cachefile_key other = key;
		other.stamp[i]++;
		assert_int_equal(open_as(&other), -ENOENT);
	}
	for (size_t i = 0; i < sizeof(key.form); i++) {
		struct cachefile_key other = key;
		other.form[i]++;
		assert_int_equal(open_as(&other), -ENOENT);
	}
	assert_int_equal(open_as(&key), 0);
}

/* Lengths that a sum of them, or of the header with them, would be too large for. */
static void test_lengths(void **state)
{
	static const uint64_t lengths[][2] = {
		{UINT64_MAX, 1},	  {UINT64_MAX, UINT64_MAX}, {UINT64_MAX - FIRST, FIRST},
		{1ull << 63, 1ull << 63}, {FIRST + 1, TEXT},	    {FIRST, TEXT - 1}};
	struct cachefile_head h;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		assert_int_equal(store(FIRST, TEXT), 0);
		int fd = open(file, O_RDWR | O_CLOEXEC);
		assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
		memcpy(h.len, lengths[i], sizeof(h.len));
		h.sum = cachefile_sum(&h, offsetof(struct cachefile_head, sum));
		assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
		close(fd);
		assert_int_equal(load(FIRST, TEXT), -EBADMSG);
	}
}

static void test_of_others(void **state)
{
	char aside[96];

	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	static const mode_t open_to_others[] = {0620, 0602, 0666};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(chmod(file, open_to_others[i]), 0);
		assert_int_equal(load(FIRST, TEXT), -EPERM);
	}
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(load(FIRST, TEXT), 0);
	assert_int_equal(chmod(cache, 0770), 0);
	assert_int_equal(load(FIRST, TEXT), -EPERM);
	assert_int_equal(store(FIRST, TEXT), -EPERM);
	assert_int_equal(chmod(cache, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(file, 12345, 12345), 0);
		assert_int_equal(load(FIRST, TEXT), -EPERM);
		assert_int_equal(chown(file, 0, 0), 0);
		assert_int_equal(chown(cache, 12345, 12345), 0);
		assert_int_equal(load(FIRST, TEXT), -EPERM);
		assert_int_equal(store(FIRST, TEXT), -EPERM);
		assert_int_equal(chown(cache, 0, 0), 0);
	}
	/* No link, wherever it leads, and nothing that opening or reading would wait for. */
	snprintf(aside, sizeof(aside), "%s/aside", cache);
	assert_int_equal(rename(file, aside), 0);
	assert_int_equal(symlink(aside, file), 0);
	assert_int_equal(load(FIRST, TEXT), -ELOOP);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_int_equal(load(FIRST, TEXT), -EPERM);
	assert_int_equal(store(FIRST, TEXT), 0);
	assert_int_equal(load(FIRST, TEXT), 0);
}

/* In a folder for all users root's files are trusted as well, but no other user's. */
static void test_for_all_users(void **state)
{
	char all[80], path[96];
	struct cachefile_key shared = key;
	struct stat st;

	(void)state;
	snprintf(all, sizeof(all), "%s/all", cache);
	snprintf(path, sizeof(path), "%s/one", all);
	shared.folder = all;
	mode_t before = umask(077);
	const struct cachefile_part parts[CACHEFILE_PARTS] = {{first, FIRST}, {text, TEXT}};
	assert_int_equal(cachefile_store(&shared, parts), 0);
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(open_as(&shared), 0);
	if (geteuid() == 0) {
		assert_int_equal(chmod(cache, 0755), 0);
		assert_int_equal(chmod(all, 0755), 0);
		assert_int_equal(seteuid(12345), 0);
		assert_int_equal(open_as(&shared), 0);
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_int_equal(open_as(&shared), -EPERM);
		assert_int_equal(chown(path, 0, 0), 0);
		assert_int_equal(chown(all, 12345, 12345), 0);
		assert_int_equal(open_as(&shared), -EPERM);
		assert_int_equal(chown(all, 0, 0), 0);
	}
	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(open_as(&shared), -EPERM);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(all, 0757), 0);
	assert_int_equal(open_as(&shared), -EPERM);
}

/* The old file stays until the next one is complete. */
static void test_not_finished(void **state)
{
	const struct cachefile_part parts[CACHEFILE_PARTS] = {{first, LARGE}, {text, LARGE}};
	const struct rlimit small = {CACHEFILE_BLOCK, RLIM_INFINITY};
	struct rlimit before;
	struct cachefile_write w;

	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	assert_int_equal(cachefile_write_begin(&w, &key, parts, UINT64_MAX), 0);
	cachefile_write_end(&w);
	cachefile_write_end(&w);
	assert_int_equal(load(FIRST, TEXT), 0);
	/* As when the disk is full. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int r = store(LARGE, LARGE);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(load(FIRST, TEXT), 0);
	/* Nothing is left beside it. */
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(cache), 0);
}

static void test_text(void **state)
{
	struct cachefile *k;

	(void)state;
	text[CACHEFILE_BLOCK + 9] = '\0';
	assert_int_equal(store(FIRST, LARGE), 0);
	assert_int_equal(cachefile_open(&k, &key), 0);
	assert_int_equal(strlen(cachefile_text(k, 5)), CACHEFILE_BLOCK + 4);
	assert_string_equal(cachefile_text(k, CACHEFILE_BLOCK + 9), "");
	assert_false(cachefile_is_broken(k));
	/* One without an end, and one that begins after the last. */
	assert_null(cachefile_text(k, CACHEFILE_BLOCK + 10));
	assert_true(cachefile_is_broken(k));
	cachefile_close(k);
	assert_int_equal(cachefile_open(&k, &key), 0);
	assert_null(cachefile_text(k, LARGE));
	cachefile_close(k);
	/* Its block is damaged where it does not end. */
	cachedir_damage(file, 2 * CACHEFILE_PAGE);
	assert_int_equal(cachefile_open(&k, &key), 0);
	assert_null(cachefile_text(k, 5));
	cachefile_close(k);
}

static void test_cut_while_it_is_mapped(void **state)
{
	struct cachefile *k;

	(void)state;
	assert_int_equal(store(LARGE, LARGE), 0);
	assert_int_equal(cachefile_open(&k, &key), 0);
	assert_true(cachefile_is_sound(k, cachefile_part(k, 0).bytes, 1));
	assert_int_equal(truncate(file, CACHEFILE_PAGE), 0);
	assert_false(cachefile_is_sound(k, cachefile_part(k, 1).bytes, 1));
	assert_true(cachefile_is_broken(k));
	cachefile_close(k);
}

/* KB of the file that are in memory of this process. */
static long resident_kb(void)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long from, to;
	long kb = 0, n;
	bool ours = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			ours = strstr(line, file) != NULL;
		if (ours && sscanf(line, "Rss: %ld", &n) == 1)
			kb += n;
	}
	fclose(f);
	return kb;
}

/* A file that is looked up now and then does not stay in memory, and is the same afterwards. */
static void test_unload(void **state)
{
	struct cachefile *k;

	(void)state;
	assert_int_equal(store(LARGE, LARGE), 0);
	assert_int_equal(cachefile_open(&k, &key), 0);
	for (int round = 0; round < 3; round++) {
		const struct cachefile_part a = cachefile_part(k, 0), b = cachefile_part(k, 1);
		assert_true(cachefile_is_sound(k, a.bytes, a.len));
		assert_memory_equal(a.bytes, first, LARGE);
		assert_memory_equal(b.bytes, text, LARGE);
		assert_true(resident_kb() >= 2 * LARGE / 1024);
		cachefile_unload(k);
		assert_int_equal(resident_kb(), 0);
	}
	cachefile_close(k);
}

static void test_no_memory(void **state)
{
	long live = mem_live();

	(void)state;
	assert_int_equal(store(FIRST, TEXT), 0);
	for (long i = 0; i < 3; i++) {
		mem_fail_after(i);
		assert_int_equal(load(FIRST, TEXT), -ENOMEM);
	}
	for (long i = 0; i < 2; i++) {
		mem_fail_after(i);
		assert_int_equal(store(FIRST, TEXT), -ENOMEM);
	}
	mem_fail_after(-1);
	assert_int_equal(load(FIRST, TEXT), 0);
	assert_int_equal(mem_live(), live);
}

#define TEST(x) cmocka_unit_test_setup_teardown(x, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_comes_back),	  TEST(test_each_byte),
		TEST(test_each_length),	  TEST(test_of_something_else),
		TEST(test_lengths),	  TEST(test_of_others),
		TEST(test_for_all_users), TEST(test_cut_while_it_is_mapped),
		TEST(test_unload),	  TEST(test_text),
		TEST(test_no_memory),	  cmocka_unit_test_setup(test_not_finished, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
