// SPDX-License-Identifier: GPL-2.0-only
/* Kernel text out of a file made like /proc/kcore. */
#include "elfmake.h"
#include "kontend/ktext.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static void test_kcore(void **state)
{
	struct elfmake m = {0};
	struct ktext *k = NULL;
	struct error err = {0};
	char got[32];
	size_t n = 0;

	(void)state;
	elfmake_file(&m, path);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "patched", 7, ELFMAKE_TEXT + 0x40), 7);
	close(fd);
	assert_int_equal(ktext_open(&k, path, &err), 0);
	assert_int_equal(ktext_way(k), KTEXT_KCORE);
	assert_string_equal(ktext_way_name(KTEXT_KCORE), "/proc/kcore");
	assert_int_equal(ktext_read(k, ELFMAKE_ADDR + 0x40, got, 8, &n), 0);
	assert_int_equal(n, 8);
	assert_string_equal(got, "patched");
	assert_int_equal(ktext_read(k, ELFMAKE_ADDR - 1, got, 8, &n), -EFAULT);
	assert_int_equal(ktext_read(k, ELFMAKE_ADDR + ELFMAKE_LEN - 4, got, 8, &n), -EFAULT);
	assert_int_equal(ktext_read(k, UINT64_MAX - 2, got, 8, &n), -EFAULT);
	assert_int_equal(ktext_read(k, ELFMAKE_ADDR, got, 0, &n), -EFAULT);
	ktext_close(k);
	ktext_close(NULL);
}

/* Without it BPF is tried; where that cannot be, both are named. */
static void test_without_kcore(void **state)
{
	struct ktext *k = NULL;
	struct error err = {0};
	long live = mem_live();

	(void)state;
	if (ktext_open(&k, "/nonexistent/kcore", &err) == 0) {
		assert_int_equal(ktext_way(k), KTEXT_BPF);
		ktext_close(k);
	} else {
		assert_non_null(strstr(err.text, "/nonexistent/kcore: No such file"));
		assert_non_null(strstr(err.text, "BPF"));
	}
	assert_int_equal(mem_live(), live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kcore),
		cmocka_unit_test(test_without_kcore),
	};

	snprintf(path, sizeof(path), "/tmp/kontend-kcore-XXXXXX");
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
