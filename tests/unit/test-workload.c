// SPDX-License-Identifier: GPL-2.0-only
/* The measured command: also one that a ^Z stops before it is executed. */
#include "../../src/source/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char sh[] = "sh", option[] = "-c", script[] = "exit 5", nothing[] = "/nonexistent/command";
static char *run[] = {sh, option, script, NULL};

static int status_of(struct workload *w)
{
	int status, code;

	while ((code = workload_ended(w, &status)) == 0)
		usleep(1000);
	assert_int_equal(code, 1);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_stopped_one_is_executed(void **state)
{
	struct error err = {0};
	struct workload w;
	int status;

	(void)state;
	assert_int_equal(workload_fork(&w, run, false, &err), 0);
	assert_int_equal(kill(w.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(w.pid, &status, WUNTRACED), w.pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(workload_go(&w, run, &err), 0);
	assert_int_equal(status_of(&w), 5);
	workload_deinit(&w);
}

static void one_that_does_not_exist_is_an_error(void **state)
{
	char *none[] = {nothing, NULL};
	struct error err = {0};
	struct workload w;

	(void)state;
	assert_int_equal(workload_fork(&w, none, false, &err), 0);
	assert_true(workload_go(&w, none, &err) < 0);
	assert_non_null(strstr(err.text, "there is no such command"));
	assert_int_equal(status_of(&w), 127);
	workload_deinit(&w);
}

static void one_that_never_starts_ends(void **state)
{
	struct error err = {0};
	struct workload w;

	(void)state;
	assert_int_equal(workload_fork(&w, run, false, &err), 0);
	workload_deinit(&w);
	assert_int_equal(w.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_one_is_executed),
		cmocka_unit_test(one_that_does_not_exist_is_an_error),
		cmocka_unit_test(one_that_never_starts_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
