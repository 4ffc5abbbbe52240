// SPDX-License-Identifier: GPL-2.0-only
#include "../../src/source/perf-failure.h"
#include "kontend/perf-attr.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Explains @f; each of the @words (ended by NULL) must be in the sentence. */
static void says(struct perf_failure f, const char *const *words)
{
	struct error err = {0};

	f.event = f.event ? f.event : "lock:contention_begin";
	f.lockdown = f.lockdown ? f.lockdown : "";
	f.exe = "/usr/bin/kontend";
	assert_int_equal(perf_failure_explain(&f, &err), f.code);
	assert_int_equal(err.code, f.code);
	assert_true(strlen(err.text) + 1 < sizeof(err.text));
	for (; *words; words++) {
		if (!strstr(err.text, *words))
			fail_msg("'%s' lacks '%s'", err.text, *words);
	}
}

#define SAYS(failure, ...)                                                                         \
	says((struct perf_failure)failure, (const char *const[]){__VA_ARGS__, NULL})
#define F(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void test_permission(void **state)
{
	(void)state;
	SAYS(F(.code = -EACCES, .paranoid = 2), "perf_event_paranoid is 2",
	     "no kernel profiling for users", "setcap cap_perfmon", "+ep /usr/bin/kontend",
	     "Permission denied");
	SAYS(F(.code = -EPERM, .paranoid = 0), "paranoid is 0", "no raw tracepoints");
	SAYS(F(.code = -EPERM, .paranoid = 1), "no CPU-wide events");
	SAYS(F(.code = -EPERM, .paranoid = 4), "paranoid is 4", "no perf events at all");
	SAYS(F(.code = -EACCES, .paranoid = 3), "setcap cap_perfmon",
	     "and 'sudo sysctl kernel.perf_event_paranoid=2'");
	SAYS(F(.code = -EACCES, .paranoid = 3, .perfmon = 1), "paranoid is 3", "only root",
	     "sysctl kernel.perf_event_paranoid=2");
	SAYS(F(.code = -EACCES, .paranoid = 2, .perfmon = 1), "setcap cap_perfmon");
	SAYS(F(.code = -EPERM, .paranoid = 99), "run as root");
	SAYS(F(.code = -EACCES, .root = 1, .users = 1), "root of a user namespace", "initial one");
	SAYS(F(.code = -EPERM, .root = 1), "refuses", "to root", "CAP_PERFMON");
	SAYS(F(.code = -EPERM, .root = 1, .lockdown = "confidentiality"), "locked down",
	     "lockdown=integrity");
	SAYS(F(.code = -EPERM, .root = 1, .lockdown = "integrity"), "to root");
}

static void test_open(void **state)
{
	(void)state;
	SAYS(F(.code = -EOPNOTSUPP, .lbr = true, .event = "the event of the profile"), "LBR",
	     "Operation not supported", "an Intel CPU", "--call-graph fp or dwarf");
	SAYS(F(.code = -ENOENT, .lbr = true), "LBR", "no PMU", "--call-graph fp or dwarf");
	SAYS(F(.code = -EOPNOTSUPP, .lbr = true, .clock = true), "a clock", "--event cpu-clock");
	SAYS(F(.code = -EMFILE, .fds = 3000, .fd_limit = 1024), "3000 events", "limit of 1024",
	     "ulimit -n 4152", "-C");
	SAYS(F(.code = -ENFILE, .fds = 3000), "fs.file-max");
	SAYS(F(.code = -ESRCH, .tid = 812), "no task 812", "ps -e");
	SAYS(F(.code = -ENODEV, .cpu = 5), "CPU 5", "offline", "-C");
	SAYS(F(.code = -ENOENT), "no event lock:contention_begin", "5.19");
	SAYS(F(.code = -ENOENT, .kind = TARGET_CGROUP, .cgroup = "/a"), "cgroup /a",
	     "cgroup.subtree_control", "No such file");
	SAYS(F(.code = -ENOSYS), "CONFIG_PERF_EVENTS");
	SAYS(F(.code = -ENOMEM, .cpu = 2), "no memory", "CPU 2");
	SAYS(F(.code = -EOVERFLOW), "call chains", "--max-stack");
	SAYS(F(.code = -EINVAL, .cpu = 1), "too old", "5.19");
	SAYS(F(.code = -EINVAL, .kind = TARGET_CGROUP, .cgroup = "/a"), "cgroup /a",
	     "CONFIG_CGROUP_PERF");
	SAYS(F(.code = -EIO, .cpu = 1, .tid = -1), "Cannot open lock:contention_begin on CPU 1",
	     "Input/output error");
}

static void test_other_steps(void **state)
{
	(void)state;
	SAYS(F(.step = PERF_STEP_MMAP, .code = -EPERM, .ring_kib = 4), "4 KiB",
	     "perf_event_mlock_kb", "cap_ipc_lock", "/usr/bin/kontend");
	SAYS(F(.step = PERF_STEP_MMAP, .code = -ENOMEM, .ring_kib = 8), "No memory even", "8 KiB");
	SAYS(F(.step = PERF_STEP_MMAP, .code = -EINVAL, .ring_kib = 8, .cpu = 3), "Cannot map",
	     "CPU 3");
	SAYS(F(.step = PERF_STEP_FILTER, .code = -EINVAL, .filter = "nope == 1"), "'nope == 1'",
	     "lock_addr and flags");
	SAYS(F(.step = PERF_STEP_FILTER, .code = -ENOMEM, .filter = "flags"), "Cannot set");
}

static void test_report_fills_in(void **state)
{
	struct perf_failure f = {.code = -EMFILE, .event = "x", .fds = 10};
	struct error err = {0};

	(void)state;
	assert_int_equal(perf_failure_report(&f, &err), -EMFILE);
	assert_true(f.fd_limit > 0);
	assert_non_null(strstr(err.text, "ulimit -n"));
}

static void test_attr(void **state)
{
	struct perf_attr_options o = {
		.how.max_stack = 24,
		.wanted = {.begin_id = 7, .end_id = 8},
		.ring_bytes = 65536,
		.cgroup = true,
		.kind = TARGET_SYSTEM,
	};
	struct perf_event_attr b, e, d;

	(void)state;
	perf_attr_init(&b, PERF_BEGIN, &o);
	perf_attr_init(&e, PERF_END, &o);
	perf_attr_init(&d, PERF_DUMMY, &o);
	assert_int_equal(b.config, 7);
	assert_int_equal(e.config, 8);
	assert_int_equal(b.size, 128);
	assert_int_equal(b.wakeup_watermark, 16384);
	assert_int_equal(b.sample_max_stack, 24);
	assert_int_equal(b.read_format, PERF_FORMAT_ID);
	assert_true(b.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_false(e.sample_type & PERF_SAMPLE_CALLCHAIN);
	assert_true(d.comm && d.comm_exec && d.task && d.cgroup);
	assert_true(b.disabled && e.disabled && d.disabled);
	assert_false(b.inherit || b.enable_on_exec);
	/* One layout of the trailer for all. */
	const uint64_t trailer = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_ID;
	assert_int_equal(b.sample_type & trailer, d.sample_type & trailer);
	assert_int_equal(b.sample_type & trailer, e.sample_type & trailer);
	o.how.max_stack = 0;
	o.kind = TARGET_COMMAND;
	o.cgroup = false;
	perf_attr_init(&b, PERF_BEGIN, &o);
	perf_attr_init(&d, PERF_DUMMY, &o);
	assert_false(b.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP));
	assert_true(b.inherit && b.enable_on_exec && d.inherit && d.enable_on_exec);
	assert_false(d.cgroup);
	o.lost = o.wanted.few_wakeups = true;
	perf_attr_init(&b, PERF_BEGIN, &o);
	perf_attr_init(&e, PERF_END, &o);
	perf_attr_init(&d, PERF_DUMMY, &o);
	assert_int_equal(b.read_format, PERF_FORMAT_ID | PERF_FORMAT_LOST);
	assert_int_equal(e.read_format, b.read_format);
	assert_int_equal(d.read_format, b.read_format);
	assert_in_range(b.wakeup_watermark, 65536 / 2, 65536 * 3 / 4);
	o.kind = TARGET_PIDS;
	perf_attr_init(&b, PERF_BEGIN, &o);
	assert_true(b.inherit && !b.enable_on_exec);
	o.kind = TARGET_TIDS;
	perf_attr_init(&b, PERF_BEGIN, &o);
	assert_false(b.inherit || b.enable_on_exec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permission),  cmocka_unit_test(test_open),
		cmocka_unit_test(test_other_steps), cmocka_unit_test(test_report_fills_in),
		cmocka_unit_test(test_attr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
