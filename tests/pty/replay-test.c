// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend replay` on a pseudo terminal: keys that go in time, a range cut into a new recording
 * that is played in its turn, a recording from a pipe with keys from the terminal, and what is no
 * recording. Called as: replay-test KONTEND RECORDING SYNTHETIC
 */
#include "session.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ENTER_SCREEN "\033[?1049h"

static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "TZ=UTC",
				  NULL};
static char program[PATH_MAX], recording[PATH_MAX], synthetic[PATH_MAX];

static void start(struct session *s, const char *file, const char *time)
{
	char *argv[] = {program, (char[]){"replay"}, strdup(file), time ? strdup(time) : NULL,
			NULL};

	session_start(s, argv, env);
	free(argv[2]);
	free(argv[3]);
}

static int exit_of(struct session *s)
{
	int status = session_wait(s);

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void quit(struct session *s)
{
	session_send(s, "q");
	assert_int_equal(exit_of(s), 0);
	assert_true(session_restored(s));
	session_end(s);
}

static void test_plays_by_itself(void **state)
{
	struct session s;

	(void)state;
	start(&s, recording, NULL);
	session_expect(&s, "▶");
	session_forget(&s);
	session_send(&s, "}}}}");      /* sixteen times as fast: soon over */
	session_expect(&s, "END\033"); /* not that of CONTENDED */
	session_forget(&s);
	session_send(&s, " ");
	session_expect(&s, "▶");
	quit(&s);
}

/* A second's work and more to read. */
static void make_long(const char *path)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command),
		 "'%s' '%s' events=1000000 tasks=20000 locks=20000 chains=5000 depth=3 >/dev/null",
		 synthetic, path);
	assert_int_equal(system(command), 0);
}

/* The screen is there, and takes keys, while a long recording is still being read. */
static void test_reads_on_the_screen(void **state)
{
	char path[] = "/tmp/kontend-long-XXXXXX";
	int fd = mkstemp(path);
	struct session s;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	make_long(path);
	start(&s, path, NULL);
	session_wait_modes(&s);
	session_send(&s, "r");
	session_expect(&s, "reading ");
	session_expect(&s, "PAUSED"); /* at the beginning, where it does not go on */
	session_send(&s, "Z");
	session_expect(&s, "END\033");
	quit(&s);
	assert_int_equal(unlink(path), 0);
}

static void test_goes_and_cuts(void **state)
{
	char dir[] = "/tmp/kontend-cut-XXXXXX", cut[PATH_MAX], keys[PATH_MAX + 8], before[PATH_MAX];
	struct session s;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(cut, sizeof(cut), "%s/part.data", dir);
	/* New files are made in the folder where it was started. */
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(dir), 0);
	start(&s, recording, "--time=5,10");
	assert_int_equal(chdir(before), 0);
	session_expect(&s, "RANGE");
	session_send(&s, "x");
	session_expect(&s, "write the range to");
	snprintf(keys, sizeof(keys), "\025%s\r", cut);
	session_send(&s, keys);
	session_expect(&s, "written to");
	session_forget(&s);
	session_send(&s, "x");
	snprintf(keys, sizeof(keys), "\025%s\r", cut);
	session_send(&s, keys);
	session_expect(&s, "File exists");
	session_forget(&s);
	session_send(&s, "x\025/tmp/kontend-elsewhere.data\r");
	session_expect(&s, "sandboxed");
	quit(&s);
	assert_int_equal(access("/tmp/kontend-elsewhere.data", F_OK), -1);

	start(&s, cut, NULL);
	session_expect(&s, "part.data");
	session_send(&s, " Z");
	session_expect(&s, "rwsem");
	quit(&s);
	assert_int_equal(unlink(cut), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_from_a_pipe(void **state)
{
	char command[3 * PATH_MAX];
	char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, command, NULL};
	struct session s;

	(void)state;
	snprintf(command, sizeof(command), "cat '%s' | '%s' replay -", recording, program);
	session_start(&s, argv, env);
	session_expect(&s, "standard input");
	session_send(&s, " g50%\r");
	session_expect(&s, "PAUSED");
	session_send(&s, "q");
	assert_int_equal(exit_of(&s), 0);
	assert_true(session_restored(&s));
	session_end(&s);
}

static void check_refused(const char *file, const char *option, int status, const char *sentence)
{
	struct session s;

	start(&s, file, option);
	assert_int_equal(exit_of(&s), status);
	if (!session_has(&s, sentence))
		fail_msg("%s: %.*s", file, (int)s.len, s.out);
	assert_false(session_has(&s, ENTER_SCREEN));
	session_end(&s);
}

static void test_what_is_no_recording(void **state)
{
	char text[] = "/tmp/kontend-text-XXXXXX";
	int fd = mkstemp(text);

	(void)state;
	assert_true(fd >= 0);
	check_refused(text, NULL, 1, text);
	assert_int_equal(write(fd, "this is a text, and no recording of anything\n", 45), 45);
	check_refused(text, NULL, 1, text);
	close(fd);
	unlink(text);
	check_refused("/no/such/file", NULL, 1, "No such file");
	check_refused("/tmp", NULL, 1, "/tmp");
	check_refused("-", NULL, 1, "Standard input is a terminal");
	check_refused(recording, "--time=later", 129, "is no range");
	check_refused(recording, "--time=10,5", 129, "ends before it begins");
	check_refused(recording, "--view=nosuch", 129, "one of: overview");
	check_refused(recording, "--sort=nosuch", 129, "no such column");
}

/* Content of a file in the test's folder of configurations. */
static void read_config(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	ret[fread(ret, 1, size - 1, f)] = '\0';
	fclose(f);
}

/* Columns that are chosen once are there again; the rest of the configuration stays. */
static void test_keeps_columns(void **state)
{
	char dir[] = "/tmp/kontend-columns-XXXXXX", at[PATH_MAX], path[PATH_MAX], text[2000];
	const char *const own[] = {env[0], env[1], env[2], env[3], at, NULL};
	char *argv[] = {program, (char[]){"replay"}, recording, (char[]){"--view=locks"}, NULL};
	struct session s;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(at, sizeof(at), "XDG_CONFIG_HOME=%s", dir);
	snprintf(path, sizeof(path), "%s/kontend/config", dir);
	for (int i = 0; i < 2; i++) {
		session_start(&s, argv, own);
		session_expect(&s, "▶");
		session_send(&s, "oa");
		session_expect(&s, i ? "[ ]" : "columns of locks");
		session_send(&s, " \r");
		session_expect(&s, "kept in ");
		quit(&s);
		read_config(path, text, sizeof(text));
		assert_non_null(strstr(text, "[columns]\n"));
		if (i)
			assert_non_null(strstr(text, "locks = avg_ns,"));
		else
			assert_null(strstr(text, "avg_ns"));
	}
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/kontend", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plays_by_itself), cmocka_unit_test(test_reads_on_the_screen),
		cmocka_unit_test(test_goes_and_cuts),	cmocka_unit_test(test_keeps_columns),
		cmocka_unit_test(test_from_a_pipe),	cmocka_unit_test(test_what_is_no_recording),
	};

	if (argc != 4 || !realpath(argv[1], program) || !realpath(argv[2], recording) ||
	    !realpath(argv[3], synthetic))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
