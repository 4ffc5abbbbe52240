// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program on a terminal that takes nothing, from the start or later, because it is stopped or
 * not read; and on one that is slow. Keys and signals work all the same, and the terminal is
 * restored. Called as: still-test PROGRAM [ARGUMENT ...]
 */
#include "session.h"

#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define ENTER_SCREEN "\033[?1049h"
#define LEAVE_SCREEN "\033[?1049l"

enum { SLOW_BYTES = 1024 };

static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "TZ=UTC",
				  NULL};
static const enum stillness both[] = {STILL_STOPPED, STILL_UNREAD};
static char path[PATH_MAX];
static char **arguments;

static void start(struct session *s)
{
	session_start(s, arguments, env);
	session_expect(s, ENTER_SCREEN);
	session_expect(s, "help"); /* in the key bar: the frame is whole */
}

static void assert_exit(struct session *s, int code)
{
	int status = session_wait(s);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != code) {
		session_thaw(s);
		session_drain(s);
		fail_msg("%d, not %d: %.*s", WEXITSTATUS(status), code, (int)s->len, s->out);
	}
	assert_true(session_restored(s));
}

/* Another view, which cannot be shown. */
static void press_in_vain(struct session *s)
{
	session_send(s, "2");
	session_wait_taken(s);
}

/* By @sig, or if that is 0 by @keys. */
static void end_still(enum stillness how, bool from_start, int sig, const char *keys)
{
	struct session s;

	if (from_start) {
		session_start_still(&s, how, arguments, env);
		session_wait_catches(&s, SIGCONT); /* the loop goes */
	} else {
		start(&s);
		session_freeze(&s, how);
	}
	press_in_vain(&s);
	if (sig)
		kill(s.program, sig);
	else
		session_send(&s, keys);
	assert_exit(&s, sig ? 128 + sig : keys[0] == 'q' ? 0 : 128 + SIGINT);
	session_thaw(&s);
	session_end(&s);
}

static void end_each(int sig, const char *keys)
{
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		end_still(both[i], true, sig, keys);
		end_still(both[i], false, sig, keys);
	}
}

static void test_ends_by_signals(void **state)
{
	(void)state;
	end_each(SIGTERM, NULL);
	end_each(SIGHUP, NULL);
	end_each(SIGINT, NULL);
}

static void test_ends_by_keys(void **state)
{
	(void)state;
	end_each(0, "q");
	end_each(0, "\003");
}

/* The loop that hears signals does not go yet, or does by now. */
static void test_ends_at_its_start(void **state)
{
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		session_start_still(&s, both[i], arguments, env);
		session_wait_modes(&s);
		kill(s.program, SIGTERM);
		int status = session_wait(&s);
		assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM
						: WEXITSTATUS(status) == 128 + SIGTERM);
		assert_true(session_restored(&s));
		session_thaw(&s);
		session_end(&s);
	}
}

/* The program restarts the stopped terminal, so that the shell's screen is back. */
static void test_leaves_after_ctrl_s(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_send(&s, "\023");
	press_in_vain(&s);
	kill(s.program, SIGTERM);
	assert_exit(&s, 128 + SIGTERM);
	session_drain(&s);
	assert_true(session_has(&s, LEAVE_SCREEN));
	session_end(&s);
}

/* Output that was not read is dropped, which makes room for the sequence that leaves the screen. */
static void test_leaves_what_nobody_read(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_freeze(&s, STILL_UNREAD);
	press_in_vain(&s);
	kill(s.program, SIGTERM);
	assert_exit(&s, 128 + SIGTERM);
	session_forget(&s);
	session_thaw(&s);
	session_drain(&s);
	assert_true(session_has(&s, LEAVE_SCREEN));
	session_end(&s);
}

static void test_thaws(void **state)
{
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		start(&s);
		session_freeze(&s, both[i]);
		session_send(&s, "3"); /* the newest is shown, not all of them */
		press_in_vain(&s);
		session_forget(&s);
		session_thaw(&s);
		session_expect(&s, "by ");
		session_send(&s, "q");
		assert_exit(&s, 0);
		assert_true(session_has(&s, LEAVE_SCREEN));
		session_end(&s);
	}
}

static void test_stops_and_continues(void **state)
{
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		start(&s);
		session_freeze(&s, both[i]);
		press_in_vain(&s);
		session_send(&s, "\032");
		int status = session_wait(&s);
		assert_true(WIFSTOPPED(status));
		assert_true(session_restored(&s));
		session_continue(&s);
		session_wait_modes(&s);
		session_forget(&s);
		session_thaw(&s);
		session_expect(&s, ENTER_SCREEN);
		session_expect(&s, "help");
		session_send(&s, "q");
		assert_exit(&s, 0);
		session_end(&s);
	}
}

/* Stopped, then sent SIGTERM: it must not stop again because it has no terminal. */
static void test_ends_while_stopped(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_send(&s, "\032");
	int status = session_wait(&s);
	assert_true(WIFSTOPPED(status));
	kill(s.program, SIGTERM);
	kill(s.program, SIGCONT); /* in the background */
	session_continue(&s);
	assert_exit(&s, 128 + SIGTERM);
	session_end(&s);
}

/* A slow one: what is typed meanwhile is typed, whatever letters these are. */
static void test_slow_reader(void **state)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	static const char typed[] = "/qqrwsemq";
	char key[2] = "";
	struct session s;

	(void)state;
	start(&s);
	session_freeze(&s, STILL_UNREAD);
	press_in_vain(&s);
	for (size_t i = 0; typed[i]; i++) {
		key[0] = typed[i];
		session_send(&s, key);
		session_wait_taken(&s);
		for (int k = 0; k < 20; k++) {
			session_read_some(&s, SLOW_BYTES / 50);
			nanosleep(&nap, NULL);
		}
	}
	session_thaw(&s);
	session_resize(&s, 25, 90); /* all of it once more */
	session_expect(&s, typed + 1);
	session_send(&s, "\033");
	session_wait_taken(&s);
	nanosleep(&nap, NULL);
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_by_signals),
		cmocka_unit_test(test_ends_by_keys),
		cmocka_unit_test(test_ends_at_its_start),
		cmocka_unit_test(test_leaves_after_ctrl_s),
		cmocka_unit_test(test_leaves_what_nobody_read),
		cmocka_unit_test(test_thaws),
		cmocka_unit_test(test_stops_and_continues),
		cmocka_unit_test(test_ends_while_stopped),
		cmocka_unit_test(test_slow_reader),
	};

	if (argc < 2 || !realpath(argv[1], path))
		return 2;
	arguments = argv + 1;
	arguments[0] = path;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
