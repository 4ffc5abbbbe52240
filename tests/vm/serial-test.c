// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live screen on a serial line, 80x24, by terminals that know little: it comes up, follows
 * keys, and gives the line back. The machine has both ends of the line.
 *
 *     serial-test KONTEND NEAR FAR
 */
#include "session.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static char *program, *near, *far;

static void start(struct session *s, const char *term)
{
	char demo[] = "--demo", assignment[64];
	char *argv[] = {program, demo, NULL};
	const char *env[] = {assignment, "LC_ALL=C.UTF-8", "NO_COLOR", NULL};

	snprintf(assignment, sizeof(assignment), "TERM=%s", term);
	session_start_on(s, far, near, argv, env);
	session_expect(s, "kontend");
	session_expect(s, "by type");
	session_expect(s, "help");
	assert_false(session_restored(s));
}

static void assert_exit(struct session *s, int code)
{
	int status = session_wait(s);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
	assert_true(session_restored(s));
	session_end(s);
}

/* Only what differs is written, in pieces: with ^R all of it is. */
static void expect_after(struct session *s, const char *keys, const char *text)
{
	session_forget(s);
	session_send(s, keys);
	session_send(s, "\022");
	session_expect(s, text);
}

static void follows_keys(const char *term)
{
	struct session s;

	start(&s, term);
	expect_after(&s, "2", "[b]");
	expect_after(&s, "3", "SINCE");
	expect_after(&s, "?", "help");
	/* Only the time distinguishes an Esc alone from the beginning of a longer sequence. */
	session_send(&s, "\033");
	session_forget(&s);
	session_expect(&s, "kontend");
	session_send(&s, "q");
	assert_exit(&s, 0);
}

static void test_vt100(void **state)
{
	(void)state;
	follows_keys("vt100");
}

static void test_linux(void **state)
{
	(void)state;
	follows_keys("linux");
}

static void test_signals(void **state)
{
	struct session s;

	(void)state;
	start(&s, "vt100");
	kill(s.program, SIGTERM);
	assert_exit(&s, 128 + SIGTERM);
	start(&s, "linux");
	session_send(&s, "\003");
	assert_exit(&s, 128 + SIGINT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vt100),
		cmocka_unit_test(test_linux),
		cmocka_unit_test(test_signals),
	};

	if (argc != 4)
		return 2;
	program = argv[1];
	near = argv[2];
	far = argv[3];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
