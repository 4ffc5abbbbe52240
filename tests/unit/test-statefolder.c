// SPDX-License-Identifier: GPL-2.0-only
/* The folder of saved screens: made for this user alone, refused if another user can change it. */
#include "kontend/statefolder.h"

#include <errno.h>
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

enum { NOBODY = 65534 };

static char top[PATH_MAX / 4];

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/kontend-state-XXXXXX");
	assert_non_null(mkdtemp(top));
	unsetenv("XDG_STATE_HOME");
	return setenv("HOME", top, 1);
}

static int tear_down(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

static const char *below(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s%s", top, name);
	return path;
}

static void assert_made(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(stat(below(name, path), &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
}

static void assert_opens(const char *name)
{
	char path[PATH_MAX], want[PATH_MAX];
	struct error err = {0};
	int fd = statefolder_open(path, sizeof(path), &err);

	assert_true(fd >= 0);
	assert_string_equal(path, below(name, want));
	close(fd);
}

static void assert_refuses(int code, const char *words)
{
	char path[PATH_MAX];
	struct error err = {0};

	assert_int_equal(statefolder_open(path, sizeof(path), &err), code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, words));
}

static void test_below_home(void **state)
{
	(void)state;
	umask(0);
	assert_opens("/.local/state/kontend");
	assert_made("/.local");
	assert_made("/.local/state");
	assert_made("/.local/state/kontend");
	assert_opens("/.local/state/kontend");
}

static void test_named(void **state)
{
	char path[PATH_MAX];

	(void)state;
	setenv("XDG_STATE_HOME", below("/state", path), 1);
	assert_opens("/state/kontend");
	assert_made("/state/kontend");
	setenv("XDG_STATE_HOME", "not/absolute", 1);
	assert_opens("/.local/state/kontend");
	setenv("XDG_STATE_HOME", below("/no/such", path), 1);
	assert_refuses(-ENOENT, "/no/such': No such file");
}

static void test_no_home(void **state)
{
	char path[8];
	struct error err = {0};

	(void)state;
	assert_int_equal(statefolder_open(path, sizeof(path), &err), -ENAMETOOLONG);
	unsetenv("HOME");
	assert_refuses(-ENOENT, "set XDG_STATE_HOME or HOME");
}

static void test_others_may_write(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_opens("/.local/state/kontend");
	assert_int_equal(chmod(below("/.local", path), 0777), 0);
	assert_refuses(-EPERM, path);
}

/* As of sudo, where it leaves HOME as it is: nothing of ours may come to be there. */
static void test_home_of_another(void **state)
{
	char path[PATH_MAX];

	(void)state;
	if (geteuid() != 0) {
		puts("only root can give a folder away");
		skip();
	}
	assert_int_equal(chown(top, NOBODY, NOBODY), 0);
	assert_refuses(-EPERM, "belongs to another user");
	assert_int_not_equal(access(below("/.local", path), F_OK), 0);
}

static void test_links_are_not_followed(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(symlink("/tmp", below("/.local", path)), 0);
	assert_refuses(-ENOTDIR, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_below_home, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_home, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others_may_write, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_home_of_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links_are_not_followed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
