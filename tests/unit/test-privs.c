// SPDX-License-Identifier: GPL-2.0-only
/* Which capabilities are kept, of which there are. */
#include "kontend/privs.h"

#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BIT(cap) (1ull << (cap))

static void nothing_comes_to_what_there_was(void **state)
{
	(void)state;
	assert_int_equal(privs_to_keep(0, 2), 0);
	assert_int_equal(privs_to_keep(BIT(CAP_PERFMON) | BIT(CAP_BPF) | BIT(CAP_SYSLOG), 2),
			 BIT(CAP_PERFMON));
	assert_int_equal(privs_to_keep(BIT(CAP_NET_ADMIN) | BIT(CAP_SETUID), 2), 0);
}

/* Where the kernel asks for more than perfmon, more is kept. */
static void root_only_kernels_ask_for_more(void **state)
{
	(void)state;
	assert_false(privs_to_keep(UINT64_MAX, 2) & BIT(CAP_SYS_ADMIN));
	assert_true(privs_to_keep(UINT64_MAX, 3) & BIT(CAP_SYS_ADMIN));
	assert_false(privs_to_keep(BIT(CAP_PERFMON), 3) & BIT(CAP_SYS_ADMIN));
}

static void descriptors_of_others_take_two(void **state)
{
	const uint64_t search = BIT(CAP_DAC_READ_SEARCH), trace = BIT(CAP_SYS_PTRACE);

	(void)state;
	assert_int_equal(privs_to_keep(search, 2), 0);
	assert_int_equal(privs_to_keep(search | trace, 2), search | trace);
}

static void sets_have_names(void **state)
{
	char text[128];

	(void)state;
	assert_string_equal(privs_text(0, text, sizeof(text)), "");
	assert_string_equal(privs_text(BIT(CAP_KILL) | BIT(CAP_PERFMON), text, sizeof(text)),
			    "perfmon kill");
	/* All of them fit, and what does not fit is cut. */
	assert_non_null(strstr(privs_text(UINT64_MAX, text, sizeof(text)), "dac_read_search"));
	assert_int_equal(strlen(privs_text(UINT64_MAX, text, 12)), 11);
}

/* As the user of the tests: requested ones are kept, a second call changes nothing. */
static void dropping_is_for_good(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		uint64_t keep = privs_to_keep(privs_now(), 0);
		int bad = privs_drop(NULL) < 0 || (privs_now() & ~BIT(CAP_SYS_ADMIN)) != keep;
		uint64_t now = privs_now();
		_exit(bad || privs_drop(NULL) < 0 || privs_now() != now);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

/* A thread may keep one more, if it has it. */
static void one_more_may_be_kept(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		uint64_t had = privs_now() & BIT(CAP_SYS_ADMIN);
		_exit(privs_drop_but(BIT(CAP_SYS_ADMIN), NULL) < 0 ||
		      (privs_now() & BIT(CAP_SYS_ADMIN)) != had ||
		      privs_now() & BIT(CAP_NET_ADMIN));
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_comes_to_what_there_was),
		cmocka_unit_test(root_only_kernels_ask_for_more),
		cmocka_unit_test(descriptors_of_others_take_two),
		cmocka_unit_test(sets_have_names),
		cmocka_unit_test(dropping_is_for_good),
		cmocka_unit_test(one_more_may_be_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
