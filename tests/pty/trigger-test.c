// SPDX-License-Identifier: GPL-2.0-only
/*
 * `--trigger` on a pseudo terminal: a line when it fires, a row of the view incidents, and a
 * trigger that cannot be read. Called as: trigger-test KONTEND replay RECORDING, or KONTEND live.
 */
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { WORDS = 8 };

static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "TZ=UTC",
				  NULL};
static char *program, *verb, *recording; /* recording: NULL for live */

static void start(struct session *s, char *trigger)
{
	char option[] = "--trigger", workload[] = "--demo";
	char *argv[WORDS] = {program, verb, option, trigger, recording ? recording : workload,
			     NULL};

	session_start(s, argv, env);
}

static int exit_of(struct session *s)
{
	int status = session_wait(s);

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_what_fires_is_said_and_listed(void **state)
{
	char trigger[] = "wait>30ms";
	struct session s;

	(void)state;
	start(&s, trigger);
	session_expect(&s, "incidents ");
	session_forget(&s);
	session_send(&s, ":view incidents\r");
	session_expect(&s, "WHAT FIRED");
	session_expect(&s, "wait ");
	session_send(&s, "q");
	assert_int_equal(exit_of(&s), 0);
	assert_true(session_restored(&s));
	session_end(&s);
}

static void test_what_cannot_be_read_is_said_before_the_screen(void **state)
{
	char trigger[] = "wait>30parsecs";
	struct session s;

	(void)state;
	start(&s, trigger);
	session_expect(&s, "30parsecs");
	assert_int_equal(exit_of(&s), 129);
	assert_false(session_has(&s, "\033[?1049h"));
	assert_true(session_restored(&s));
	session_end(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fires_is_said_and_listed),
		cmocka_unit_test(test_what_cannot_be_read_is_said_before_the_screen),
	};

	if (argc < 3)
		return 2;
	program = argv[1];
	verb = argv[2];
	recording = argv[3];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
