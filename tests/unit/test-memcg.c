// SPDX-License-Identifier: GPL-2.0-only
/* The memory cgroup of a process, from texts of /proc/PID/cgroup. */
#include "../../src/inspect/locks/memcg.h"
#include "kontend/cgroup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *parse(const char *text)
{
	static char path[64];
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	memcg_parse(copy, path, sizeof(path));
	return path;
}

static void the_controllers_own_hierarchy_counts(void **state)
{
	(void)state;
	assert_string_equal(parse("0::/user.slice\n"), "/user.slice");
	assert_string_equal(parse("4:memory:/a/b\n3:cpuset:/\n0::/user.slice\n"), "/a/b");
	assert_string_equal(parse("0::/user.slice\n4:cpu,memory:/a:b\n"), "/a:b");
	assert_string_equal(parse("4:memoryx,cpu:/a\n3:xmemory:/b\n0::/c\n"), "/c");
	assert_string_equal(parse("9:name=systemd:/s\n"), "");
	assert_string_equal(parse(""), "");
	assert_string_equal(parse("no line\n1:x\n"), "");
}

static bool same(const char *text)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return cgroup_is_memcg(copy);
}

/* A controller without a line of its own is in the unified hierarchy. */
static void the_groups_of_samples_are_memcgs_in_one_hierarchy(void **state)
{
	(void)state;
	assert_true(same("0::/user.slice\n"));
	assert_true(same("3:cpu:/\n2:memory,perf_event:/a\n0::/b\n"));
	assert_true(same("3:cpuset:/x\n0::/b\n"));
	assert_false(same("4:memory:/a/b\n3:cpuset:/\n0::/user.slice\n"));
	assert_false(same("4:perf_event:/\n0::/user.slice\n"));
	assert_false(same("4:perf_event:/\n3:memory:/a\n0::/user.slice\n"));
	assert_false(same("3:cpuset:/x\n"));
	assert_false(same(""));
}

static void what_may_not_be_shown_is_replaced(void **state)
{
	(void)state;
	assert_string_equal(parse("0::/a\033[31m\n"), "/a?[31m");
	assert_int_equal(strlen(parse("0::/123456789012345678901234567890123456789012345678901234"
				      "567890123456789\n")),
			 63);
}

static void write_cgroup(const char *dir, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/7/task/9/cgroup", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void a_path_is_read_once_until_forgotten(void **state)
{
	static const char *const folders[] = {"7", "7/task", "7/task/9"};
	char dir[] = "/tmp/kontend-memcg-XXXXXX", path[128];
	struct memcg_cache c = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_cgroup(dir, "0::/one\n");
	const char *first = memcg_path(&c, dir, 0xffff888000000078, 7, 9);
	assert_string_equal(first, "/one");
	write_cgroup(dir, "0::/two\n");
	assert_ptr_equal(memcg_path(&c, dir, 0xffff888000000078, 7, 9), first);
	assert_string_equal(memcg_path(&c, dir, 0xffff888000001078, 7, 9), "/two");
	memcg_forget(&c);
	assert_string_equal(memcg_path(&c, dir, 0xffff888000000078, 7, 9), "/two");
	assert_string_equal(memcg_path(&c, dir, 0xffff888000000078, 8, 8), "");
	memcg_deinit(&c);
	snprintf(path, sizeof(path), "%s/7/task/9/cgroup", dir);
	unlink(path);
	for (size_t i = sizeof(folders) / sizeof(*folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		rmdir(path);
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_controllers_own_hierarchy_counts),
		cmocka_unit_test(the_groups_of_samples_are_memcgs_in_one_hierarchy),
		cmocka_unit_test(what_may_not_be_shown_is_replaced),
		cmocka_unit_test(a_path_is_read_once_until_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
