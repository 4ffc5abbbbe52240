// SPDX-License-Identifier: GPL-2.0-only
/* The workload of `bench rotation`: it streams, ends, and names an event that it cannot open. */
#include "kontend/bench-rotation.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const struct bench_rotation_options small = {.events = 2, .bytes = 1 << 20, .cpu = 0};

static void it_streams_until_it_is_stopped(void **state)
{
	struct error err = {0};
	struct bench_rotation b;

	(void)state;
	assert_int_equal(bench_rotation_start(&b, BENCH_ROTATION_NONE, &small, &err), 0);
	assert_int_equal(bench_rotation_opened(&b), 0);
	uint64_t before = bench_rotation_bytes(&b);
	while (bench_rotation_bytes(&b) < before + 10 * small.bytes)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	pid_t pid = b.pid, partner = b.partner;
	bench_rotation_stop(&b);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(kill(partner, 0), -1);
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct error err = {0};
	struct bench_rotation b;

	(void)state;
	int code = bench_rotation_start(&b, BENCH_ROTATION_SYSTEM, &small, &err);
	if (code == 0)
		assert_true(bench_rotation_opened(&b) >= small.events);
	else
		assert_non_null(strstr(err.text, "Cannot open event 1 of "));
	bench_rotation_stop(&b);
	assert_int_equal(b.pid, 0);
}

static void there_must_be_memory(void **state)
{
	struct bench_rotation_options huge = small;
	struct error err = {0};
	struct bench_rotation b;

	(void)state;
	huge.bytes = UINT64_MAX / 2;
	assert_int_equal(bench_rotation_start(&b, BENCH_ROTATION_NONE, &huge, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "Cannot start the workload"));
	bench_rotation_stop(&b);
}

/* Where they cannot be opened, as without root, there is a message; and none remains. */
static void cgroups_are_gone_afterwards(void **state)
{
	struct error err = {0};
	struct bench_rotation b;
	char above[BENCH_ROTATION_PATH];

	(void)state;
	int code = bench_rotation_start(&b, BENCH_ROTATION_CGROUPS, &small, &err);
	memcpy(above, b.above, sizeof(above));
	if (code == 0)
		assert_true(bench_rotation_opened(&b) >= 2 * small.events);
	else
		assert_int_equal(code, -EOPNOTSUPP);
	assert_true(code == 0 || *err.text);
	bench_rotation_stop(&b);
	assert_string_equal(b.above, "");
	assert_true(!*above || access(above, F_OK) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_streams_until_it_is_stopped),
		cmocka_unit_test(what_cannot_be_opened_is_said),
		cmocka_unit_test(there_must_be_memory),
		cmocka_unit_test(cgroups_are_gone_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
