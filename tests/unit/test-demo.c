// SPDX-License-Identifier: GPL-2.0-only
/*
 * The demo workload: its list of kinds, that it ends by duration and by SIGTERM, leaves no files or
 * processes, and reports errors. The live tests check its contention.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kontend/demo.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void kinds_are_parsed(void **state)
{
	struct error err = {0};
	unsigned kinds = 0;

	(void)state;
	assert_int_equal(demo_kinds_parse("mmap", &kinds, &err), 0);
	assert_int_equal(kinds, DEMO_MMAP);
	assert_int_equal(demo_kinds_parse("pipe,dir", &kinds, &err), 0);
	assert_int_equal(kinds, DEMO_PIPE | DEMO_DIR);
	assert_int_equal(demo_kinds_parse("all", &kinds, &err), 0);
	assert_int_equal(kinds, DEMO_ALL);
}

static void wrong_kinds_are_named(void **state)
{
	static const char *const bad[] = {"",		"mmaps", "mmap,",    ",mmap",
					  "mmap,,pipe", "al",	 "mmap pipe"};

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		struct error err = {0};
		unsigned kinds = 12345;

		assert_int_equal(demo_kinds_parse(bad[k], &kinds, &err), -EINVAL);
		assert_int_equal(kinds, 12345);
		assert_non_null(strstr(err.text, "mmap, inode, pipe, dir, futex, chain"));
	}
}

static void every_kind_has_a_name(void **state)
{
	static const char *const names[] = {"mmap", "inode", "pipe", "dir", "futex", "chain"};
	unsigned all = 0;

	(void)state;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct error err = {0};
		unsigned kinds = 0;

		assert_int_equal(demo_kinds_parse(names[k], &kinds, &err), 0);
		assert_int_equal(all & kinds, 0);
		all |= kinds;
	}
	assert_int_equal(all, DEMO_ALL);
}

/* A directory of our own as TMPDIR, so that files that remain can be seen. */
static int make_dir(void **state)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "%s", "/tmp/kontend-test-demo-XXXXXX");
	*state = mkdtemp(dir);
	if (!*state || chmod(dir, 0777))
		return -1;
	return setenv("TMPDIR", *state, 1);
}

static int remove_dir(void **state)
{
	unsetenv("TMPDIR");
	return rmdir(*state);
}

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void ends_after_its_duration(void **state)
{
	struct demo_options o = {.duration_ns = 300000000, .threads = 2};
	struct error err = {0};

	assert_int_equal(demo_run(&o, &err), 0);
	assert_int_equal(entries(*state), 0);
}

static unsigned n_missing, n_placed;

static void count_missing(const struct error *err)
{
	assert_true(err->text[0]);
	n_missing++;
}

/* Descriptors of perf events. */
static unsigned perf_events(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		char to[64] = "";

		if (readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1) > 0)
			n += !strcmp(to, "anon_inode:[perf_event]");
	}
	closedir(dir);
	return n;
}

static int count_placed(void)
{
	n_placed = perf_events();
	return 0;
}

/* Each is placed, or a message gives the reason; none remains. Some kinds place none. */
static void has_a_breakpoint_and_a_uprobe(void **state)
{
	struct demo_options o = {.duration_ns = 300000000,
				 .threads = 1,
				 .ready = count_placed,
				 .missing = count_missing};
	struct error err = {0};

	(void)state;
	n_missing = n_placed = 0;
	assert_int_equal(demo_run(&o, &err), 0);
	assert_int_equal(n_placed + n_missing, 2);
	assert_int_equal(perf_events(), 0);
	o.kinds = DEMO_PIPE;
	n_missing = 0;
	assert_int_equal(demo_run(&o, &err), 0);
	assert_int_equal(n_placed + n_missing, 0);
}

/* The answer of demo_run() to a process that may not mount. */
struct outcome {
	int r;
	struct error err;
};

static pid_t start_unprivileged(const struct demo_options *o, struct outcome *out)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		_exit(2);
	out->r = demo_run(o, &out->err);
	_exit(0);
}

static void end_unprivileged(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static struct outcome *shared_outcome(void)
{
	struct outcome *out =
		mmap(NULL, sizeof(*out), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(out != MAP_FAILED);
	out->r = 12345;
	return out;
}

static void ends_on_sigterm_and_cleans_up(void **state)
{
	struct outcome *out = shared_outcome();
	struct demo_options o = {0};
	pid_t child = start_unprivileged(&o, out);

	while (entries(*state) == 0 && out->r == 12345)
		usleep(1000);
	assert_int_equal(kill(child, SIGTERM), 0);
	end_unprivileged(child);
	assert_int_equal(out->r, 0);
	assert_int_equal(entries(*state), 0);
	munmap(out, sizeof(*out));
}

static void expect_bad_directory(const char *dir, int code, const char *text)
{
	struct demo_options o = {.duration_ns = 1000000};
	struct outcome *out = shared_outcome();

	setenv("TMPDIR", dir, 1);
	end_unprivileged(start_unprivileged(&o, out));
	unsetenv("TMPDIR");
	assert_int_equal(out->r, code);
	assert_non_null(strstr(out->err.text, text));
	munmap(out, sizeof(*out));
}

static void bad_directory_is_an_error(void **state)
{
	char longest[600];

	(void)state;
	expect_bad_directory("/nonexistent/directory", -ENOENT, "/nonexistent/directory");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	expect_bad_directory(longest, -ENAMETOOLONG, "TMPDIR");
}

static void too_many_threads_are_refused(void **state)
{
	struct demo_options o = {.threads = 65};
	struct error err = {0};

	(void)state;
	assert_int_equal(demo_run(&o, &err), -EINVAL);
	assert_non_null(strstr(err.text, "65"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_parsed),
		cmocka_unit_test(wrong_kinds_are_named),
		cmocka_unit_test(every_kind_has_a_name),
		cmocka_unit_test_setup_teardown(ends_after_its_duration, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(has_a_breakpoint_and_a_uprobe, make_dir,
						remove_dir),
		cmocka_unit_test_setup_teardown(ends_on_sigterm_and_cleans_up, make_dir,
						remove_dir),
		cmocka_unit_test(bad_directory_is_an_error),
		cmocka_unit_test(too_many_threads_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
