// SPDX-License-Identifier: GPL-2.0-only
/* Columns written into a configuration: whole, in the user's own folders, and nowhere else. */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/settings.h"
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER = 12345 };

static char home[] = "/tmp/kontend-keep-XXXXXX", path[PATH_MAX];

static int make_home(void **state)
{
	(void)state;
	strcpy(home + strlen(home) - 6, "XXXXXX");
	snprintf(path, sizeof(path), "%s/.config/kontend/config", mkdtemp(home));
	return 0;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(name);
}

static int remove_home(void **state)
{
	(void)state;
	return nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *in_home(const char *name)
{
	static char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", home, name);
	return full;
}

static void has(const char *file, const char *text)
{
	size_t n;
	char *got;

	assert_int_equal(fdio_read_file(file, &got, &n), 0);
	assert_string_equal(got, text);
	mem_free(got);
}

static void write_file(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int entries(const char *folder)
{
	char command[PATH_MAX + 32];
	int n = -1;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void refused(int code, const char *keys, const char *why)
{
	struct error err = {0};

	assert_int_equal(settings_keep_columns(path, "locks", keys, &err), code);
	if (!strstr(err.text, why) || !strstr(err.text, path))
		fail_msg("said: %s", err.text);
}

static void folders_are_made(void **state)
{
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(settings_keep_columns(path, "locks", "max_ns,avg_ns", &err), 0);
	has(path, "[columns]\nlocks = max_ns,avg_ns\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(in_home(".config"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	refused(-EINVAL, "", "no column of 'locks' is chosen");
	assert_int_equal(settings_keep_columns(path, "hot", "samples", &err), 0);
	assert_int_equal(settings_keep_columns(path, "locks", NULL, &err), 0);
	has(path, "[columns]\nhot = samples\n");
	assert_int_equal(entries(in_home(".config/kontend")), 1);
}

/* A home that is not there is not made. */
static void no_home(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/gone/.config/kontend/config", home);
	refused(-ENOENT, "max_ns", "No such file");
	assert_int_equal(entries(home), 0);
}

static void what_is_there_stays(void **state)
{
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(in_home(".config"), 0755), 0);
	assert_int_equal(mkdir(in_home(".config/kontend"), 0755), 0);
	write_file(path, "# mine\n[options]\n theme = cvd");
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(settings_keep_columns(path, "locks", "max_ns", &err), 0);
	has(path, "# mine\n[options]\n theme = cvd\n\n[columns]\nlocks = max_ns\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
}

/* As those have it who keep their files elsewhere, and link to them. */
static void a_link_stays_one(void **state)
{
	struct error err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(in_home(".config"), 0700), 0);
	assert_int_equal(mkdir(in_home(".config/kontend"), 0700), 0);
	assert_int_equal(mkdir(in_home("dotfiles"), 0700), 0);
	write_file(in_home("dotfiles/kontend"), "");
	assert_int_equal(symlink("../../dotfiles/kontend", path), 0);
	assert_int_equal(settings_keep_columns(path, "locks", "max_ns", &err), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	has(in_home("dotfiles/kontend"), "[columns]\nlocks = max_ns\n");
}

static void no_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_home(".config"), 0700), 0);
	assert_int_equal(mkdir(in_home(".config/kontend"), 0700), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused(-EINVAL, "max_ns", "it is not a regular file");
	assert_int_equal(entries(in_home(".config/kontend")), 1);
}

/* Root in the home of another user. */
static void another_users_home(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(in_home(".config"), 0700), 0);
	assert_int_equal(chown(in_home(".config"), OTHER, OTHER), 0);
	refused(-EPERM, "max_ns", "it belongs to another user");
	assert_int_equal(entries(in_home(".config")), 0);
	assert_int_equal(mkdir(in_home(".config/kontend"), 0700), 0);
	assert_int_equal(chown(in_home(".config/kontend"), OTHER, OTHER), 0);
	refused(-EPERM, "max_ns", "it belongs to another user");
	assert_int_equal(entries(in_home(".config/kontend")), 0);
	/* A link to a file of ours, in a folder of ours, that is not ours. */
	assert_int_equal(chown(in_home(".config/kontend"), 0, 0), 0);
	write_file(in_home("ours"), "mine");
	assert_int_equal(symlink(in_home("ours"), path), 0);
	assert_int_equal(lchown(path, OTHER, OTHER), 0);
	refused(-EPERM, "max_ns", "it belongs to another user");
	has(in_home("ours"), "mine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(folders_are_made, make_home, remove_home),
		cmocka_unit_test_setup_teardown(no_home, make_home, remove_home),
		cmocka_unit_test_setup_teardown(what_is_there_stays, make_home, remove_home),
		cmocka_unit_test_setup_teardown(a_link_stays_one, make_home, remove_home),
		cmocka_unit_test_setup_teardown(no_file_is_refused, make_home, remove_home),
		cmocka_unit_test_setup_teardown(another_users_home, make_home, remove_home),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
