// SPDX-License-Identifier: GPL-2.0-only
/* Whether a recording is of this machine since it booted: by kernel and by when that was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/thisboot.h"

#include <sys/utsname.h>
#include <time.h>

static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void this_boot_is_known(void **state)
{
	const uint64_t minute = 60000000000;
	uint64_t wall = now(CLOCK_REALTIME), clock = now(CLOCK_MONOTONIC);
	struct utsname u;

	(void)state;
	uname(&u);
	assert_true(thisboot_saw(u.release, wall, clock));
	assert_true(thisboot_saw(u.release, wall - minute, clock - minute));
	assert_false(thisboot_saw(u.release, wall - minute, clock));
	assert_false(thisboot_saw("1.2.3", wall, clock));
	assert_false(thisboot_saw(u.release, 0, clock));
	/* Texts in a file may be anything. */
	assert_false(thisboot_saw(u.release, 1ull << 63, clock));
	assert_false(thisboot_saw(u.release, wall, wall + (1ull << 63)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(this_boot_is_known)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
