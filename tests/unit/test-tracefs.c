// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/tracefs.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/kontend-tracefs-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static const char *write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path_of(name);
}

static int set_up(void **state)
{
	static const char *const dirs[] = {"debug dir",
					   "debug dir/tracing",
					   "events",
					   "events/lock",
					   "events/lock/contention_begin",
					   "events/lock/bad"};

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		mkdir(path_of(dirs[i]), 0700);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const all[] = {"mounts",
					  "events/lock/contention_begin/id",
					  "events/lock/contention_begin/format",
					  "events/lock/bad/id",
					  "events/lock/contention_begin",
					  "events/lock/bad",
					  "events/lock",
					  "events",
					  "debug dir/tracing",
					  "debug dir"};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		remove(path_of(all[i]));
	return rmdir(dir);
}

static void test_search(void **state)
{
	char path[TRACEFS_PATH] = "unchanged", text[1024], want[600];

	(void)state;
	write_file("mounts", "proc /proc proc rw 0 0\nnodev /a\\040b tracefs rw 0 0\n");
	assert_int_equal(tracefs_search(path_of("mounts"), path), 0);
	assert_string_equal(path, "/a b");
	/* A tracefs wins over a debugfs that comes first. */
	snprintf(text, sizeof(text), "x %s/debug\\040dir debugfs rw 0 0\nx /t tracefs rw 0 0\n",
		 dir);
	write_file("mounts", text);
	assert_int_equal(tracefs_search(path_of("mounts"), path), 0);
	assert_string_equal(path, "/t");
	snprintf(text, sizeof(text), "x %s/debug\\040dir debugfs rw 0 0", dir);
	write_file("mounts", text);
	snprintf(want, sizeof(want), "%s/debug dir/tracing", dir);
	assert_int_equal(tracefs_search(path_of("mounts"), path), 0);
	assert_string_equal(path, want);
}

static void test_search_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"proc /proc proc rw 0 0\n",
		"tracefs\n",
		"tracefs tracefs\n",
		"x /y tracefsx rw 0 0\n",
		"x /kontend-none debugfs rw 0 0\n",
	};
	char path[TRACEFS_PATH] = "unchanged", longest[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_file("mounts", texts[i]);
		assert_int_equal(tracefs_search(path_of("mounts"), path), -ENOENT);
	}
	memset(longest, 'p', sizeof(longest));
	memcpy(longest, "x /", 3);
	strcpy(longest + 600, " tracefs rw 0 0\n");
	write_file("mounts", longest);
	assert_int_equal(tracefs_search(path_of("mounts"), path), -ENOENT);
	assert_int_equal(tracefs_search("/kontend-none", path), -ENOENT);
	assert_string_equal(path, "unchanged");
}

static void test_tracepoint(void **state)
{
	struct tracepoint tp = {0};
	struct error err = {0};

	(void)state;
	write_file("events/lock/contention_begin/id", "408\n");
	write_file("events/lock/contention_begin/format", "name: contention_begin\nID: 408\n");
	assert_int_equal(tracepoint_read(&tp, dir, "lock", "contention_begin", &err), 0);
	assert_int_equal(tp.id, 408);
	assert_string_equal(tp.format, "name: contention_begin\nID: 408\n");
	assert_int_equal(tp.format_len, strlen(tp.format));
	tracepoint_deinit(&tp);
	assert_null(tp.format);
}

static void test_bad_tracepoint(void **state)
{
	static const char *const ids[] = {"", "x\n", "12 13\n", "-\n", "99999999999\n"};
	struct tracepoint tp = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct error err = {0};
		write_file("events/lock/bad/id", ids[i]);
		assert_true(tracepoint_read(&tp, dir, "lock", "bad", &err) < 0);
		assert_non_null(strstr(err.text, "events/lock/bad/id"));
		tracepoint_deinit(&tp);
	}
	struct error err = {0};
	assert_int_equal(tracepoint_read(&tp, dir, "lock", "none", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such event"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(tracepoint_read(&tp, dir, "none", "none", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no lock events"));
	tracepoint_deinit(&tp);
}

/* Each failure has its own sentence, with the words that help. */
static void explains(struct tracefs_failure f, const char *says, const char *helps)
{
	struct error err = {0};

	f.file = "/sys/kernel/tracing/events/lock/contention_begin/id";
	f.exe = "/usr/bin/kontend";
	if (!f.release)
		f.release = "6.1.0";
	if (!f.lockdown)
		f.lockdown = "";
	assert_int_equal(tracefs_explain(&f, &err), f.code);
	assert_int_equal(err.code, f.code);
	if (!strstr(err.text, says) || !strstr(err.text, helps))
		fail_msg("'%s' lacks '%s' or '%s'", err.text, says, helps);
}

static void test_explain(void **state)
{
	(void)state;
	explains((struct tracefs_failure){.code = -ENOENT, .release = "5.18.7"}, "Kernel 5.18.7",
		 "came with Linux 5.19");
	explains((struct tracefs_failure){.code = -ENOENT, .release = "4.4"}, "Kernel 4.4",
		 "came with Linux 5.19");
	explains((struct tracefs_failure){.code = -ENOENT, .release = "5.19.0"}, "no lock events",
		 "CONFIG_EVENT_TRACING");
	explains((struct tracefs_failure){.code = -ENOENT, .release = "odd", .has_system = 1},
		 "no such event", "CONFIG_EVENT_TRACING");
	explains(
		(struct tracefs_failure){.code = -EACCES}, "Only root may read",
		"setcap "
		"cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_sys_ptrace,cap_ipc_lock+ep "
		"/usr/bin/kontend");
	explains((struct tracefs_failure){.code = -EPERM, .lockdown = "confidentiality"},
		 "locked down", "lockdown=integrity");
	explains((struct tracefs_failure){.code = -EPERM, .root = 1}, "Root may not", "container");
	explains((struct tracefs_failure){.code = -EIO}, "Cannot read", "Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),	   cmocka_unit_test(test_search_nothing),
		cmocka_unit_test(test_tracepoint), cmocka_unit_test(test_bad_tracepoint),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
