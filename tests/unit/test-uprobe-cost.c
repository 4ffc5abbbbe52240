// SPDX-License-Identifier: GPL-2.0-only
/* The cached cost of a hit: read back, unless damaged, of another boot, or of another user. */
#include "keptdir.h"
#include "kontend/cachefile.h"
#include "kontend/uprobe.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[KEPTDIR_PATH], file[96];
static const struct uprobe_costs costs = {.ns = {{0}, {60, 0}, {900, 1500}, {2100, 2900}}};

static int set_up(void **state)
{
	(void)state;
	cachedir_make(folder, "");
	snprintf(file, sizeof(file), "%s/uprobe-cost", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return cachedir_remove(folder);
}

static void check(bool is_there)
{
	struct uprobe_costs got = {0};

	assert_int_equal(uprobe_cost_load(&got) == 0, is_there);
	if (is_there)
		assert_memory_equal(&got, &costs, sizeof(got));
}

static void store(void)
{
	assert_int_equal(uprobe_cost_store(&costs, NULL), 0);
	check(true);
}

static void test_comes_back(void **state)
{
	(void)state;
	check(false);
	store();
	store();
	assert_int_equal(chmod(file, 0666), 0);
	check(false);
	store();
	assert_int_equal(truncate(file, CACHEFILE_PAGE), 0);
	check(false);
	store();
}

static void change(off_t at)
{
	cachedir_damage(file, at);
	check(false);
}

static void test_another_boot_or_another_figure(void **state)
{
	struct cachefile_head h;

	(void)state;
	store();
	change(CACHEFILE_PAGE + 20);
	store();
	/* A whole file, of a boot with another name. */
	int fd = open(file, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	h.stamp[0] ^= 1;
	h.sum = cachefile_sum(&h, offsetof(struct cachefile_head, sum));
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	close(fd);
	check(false);
	/* As earlier versions wrote it. */
	fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(write(fd, "kontend uprobe-cost 1 x\n1 60 0\n", 31) == 31);
	close(fd);
	check(false);
	store();
}

static void test_no_place(void **state)
{
	struct error err = {0};

	(void)state;
	setenv("KONTEND_CACHE", "", 1);
	check(false);
	assert_true(uprobe_cost_store(&costs, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_boot_or_another_figure, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_no_place, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
