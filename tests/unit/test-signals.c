// SPDX-License-Identifier: GPL-2.0-only
/* Signals that the loop does not come to read: the second one that asks for our end has it. */
#include "app/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { NAP_MS = 600, SURVIVED = 3 };

static void nap(int ms)
{
	const struct timespec t = {.tv_nsec = (long)ms * 1000000};

	nanosleep(&t, NULL);
}

/*
 * How a process ends that never reads its signals; those in @blocked were blocked before. The shell
 * that runs this may ignore signals: @hangup decides for HUP.
 */
static int end_with(const int *sent, size_t n, int apart_ms, int blocked, void (*hangup)(int))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct signals s;
		struct error err = {0};
		sigset_t set;

		for (int sig = SIGHUP; sig <= SIGTERM; sig++)
			signal(sig, sig == SIGHUP ? hangup : SIG_DFL);
		sigemptyset(&set);
		if (blocked)
			sigaddset(&set, blocked);
		sigprocmask(SIG_SETMASK, &set, NULL);
		if (signals_open(&s, NULL, &err) < 0)
			_exit(1);
		for (size_t i = 0; i < n; i++) {
			raise(sent[i]);
			nap(apart_ms);
		}
		_exit(SURVIVED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int end_of(const int *sent, size_t n, int apart_ms, int blocked)
{
	return end_with(sent, n, apart_ms, blocked, SIG_DFL);
}

static void test_the_second_one_ends(void **state)
{
	static const int term[] = {SIGTERM, SIGTERM}, mixed[] = {SIGINT, SIGHUP};

	(void)state;
	assert_int_equal(end_of(term, 2, NAP_MS, 0), -SIGTERM);
	assert_int_equal(end_of(mixed, 2, NAP_MS, 0), -SIGHUP);
}

static void test_others_do_not(void **state)
{
	static const int one[] = {SIGTERM}, same[] = {SIGTERM, SIGTERM},
			 resized[] = {SIGWINCH, SIGWINCH, SIGCONT, SIGTERM};

	(void)state;
	assert_int_equal(end_of(one, 1, NAP_MS, 0), SURVIVED);
	assert_int_equal(end_of(same, 2, 0, 0), SURVIVED); /* to us and to our group */
	assert_int_equal(end_of(resized, 4, NAP_MS, 0), SURVIVED);
	assert_int_equal(end_of(same, 2, NAP_MS, SIGTERM), SURVIVED);
}

/* One that came while signals were held is the first one. */
static void test_held_ones_arrive(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct signals s;
		struct error err = {0};
		sigset_t held, before;

		signal(SIGTERM, SIG_DFL);
		sigemptyset(&held);
		sigaddset(&held, SIGTERM);
		sigprocmask(SIG_BLOCK, &held, &before);
		raise(SIGTERM);
		if (signals_open(&s, &before, &err) < 0 || signals_next(&s) != SIGTERM)
			_exit(1);
		nap(NAP_MS);
		raise(SIGTERM);
		_exit(SURVIVED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* As nohup(1) begins a program. */
static void test_an_ignored_hangup_stays_ignored(void **state)
{
	static const int hangups[] = {SIGHUP, SIGHUP}, last[] = {SIGTERM, SIGHUP, SIGTERM};

	(void)state;
	assert_int_equal(end_with(hangups, 2, NAP_MS, 0, SIG_IGN), SURVIVED);
	assert_int_equal(end_with(last, 3, NAP_MS, 0, SIG_IGN), -SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_second_one_ends),
		cmocka_unit_test(test_others_do_not),
		cmocka_unit_test(test_held_ones_arrive),
		cmocka_unit_test(test_an_ignored_hangup_stays_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
