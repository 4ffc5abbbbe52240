// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(): a descriptor that is closed on exec, or the kernel's error. */
#include "kontend/perf-event.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void opens_a_dummy(void **state)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = sizeof(attr),
					     .config = PERF_COUNT_SW_DUMMY,
					     .exclude_kernel = 1};
	int fd = perf_event_open(&attr, 0, -1, 0);

	(void)state;
	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS) {
		print_message("skipped: this machine lets us open no event\n");
		skip();
	}
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void returns_the_error(void **state)
{
	const struct perf_event_attr attr = {.type = UINT32_MAX, .size = sizeof(attr)};

	(void)state;
	errno = 0;
	int fd = perf_event_open(&attr, 0, -1, 0);
	assert_true(fd < 0);
	assert_int_equal(fd, -errno);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_a_dummy),
		cmocka_unit_test(returns_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
