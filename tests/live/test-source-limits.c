// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live source at its limits: rings and a queue that are too small, missing rights and
 * descriptors, targets that do not exist. Losses are counted, refusals end in a sentence that
 * helps, and nothing remains open. Rights are given up in a child, which answers by its exit
 * status.
 */
#include "kontend/mem.h"
#include "source-test.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };

/* A child that stops us for a while: the rings are not drained, as on a slow machine. */
static pid_t stop_us(unsigned ms)
{
	pid_t us = getpid(), pid = fork();

	if (pid == 0) {
		kill(us, SIGSTOP);
		poll(NULL, 0, (int)ms);
		kill(us, SIGCONT);
		_exit(0);
	}
	return pid;
}

static void test_tiny_ring(void **state)
{
	struct live_options o = {.tick_ns = 100 * MS, .how.ring_pages = 1};
	struct live_info info;
	struct stream st;
	struct storm storm;
	(void)state;

	storm_fork(&storm, THREADS, 1 << 20);
	storm_go(&storm);
	struct source *s = open_source(&o, &info);
	assert_int_equal(info.ring_pages, 1);
	assert_false(info.pages_reduced);
	start_source(s);
	stream_init(&st, storm.pid);
	for (int i = 0; i < 20 && !st.lost; i++) {
		pid_t stopper = stop_us(100u << (i < 4 ? i : 4));
		waitpid(stopper, NULL, 0);
		for (int k = 0; k < 4; k++)
			stream_take(&st, s, 50);
	}
	live_stop(s);
	stream_take_all(&st, s);
	printf("%llu lost, %llu begins\n", (unsigned long long)st.lost,
	       (unsigned long long)st.begins);
	assert_true(st.lost > 0);
	assert_int_equal(st.dropped, 0);
	source_free(s);
	kill(storm.pid, SIGKILL);
	storm_end(&storm);
}

/* Takes no records: the queue fills up, and the records that it refuses are counted. */
static void test_full_queue(void **state)
{
	struct live_options o = {.tick_ns = 100 * MS, .queue_bytes = 16384};
	struct stream st;
	struct storm storm;
	(void)state;

	storm_fork(&storm, THREADS, 100);
	struct source *s = open_source(&o, NULL);
	start_source(s);
	storm_go(&storm);
	while (!storm_finished(&storm))
		poll(NULL, 0, 20);
	live_stop(s);
	stream_init(&st, storm.pid);
	stream_take_all(&st, s);
	storm_end(&storm);
	uint64_t got = st.begins + st.ends, all = storm.begins + storm.ends;
	printf("%llu of %llu taken, %llu dropped\n", (unsigned long long)got,
	       (unsigned long long)all, (unsigned long long)st.dropped);
	assert_true(st.dropped > 0);
	assert_true(got + st.others + st.lost + st.dropped >= all);
	assert_int_equal(st.late, 0);
	source_free(s);
}

/* live_new() fails with @code and a text that has both words. */
static void refuses(const struct live_options *o, int code, const char *says, const char *helps)
{
	struct source *s = NULL;
	struct error err = {0};

	assert_int_equal(live_new(&s, o, NULL, &err), code);
	assert_null(s);
	printf("%s\n", err.text);
	if (!strstr(err.text, says) || !strstr(err.text, helps))
		fail_msg("'%s' or '%s' is not in it", says, helps);
}

static void test_bad_targets(void **state)
{
	uint32_t cpus[] = {1000};
	char cgroup[] = "/kontend/none";
	struct live_options cpu = {.target = {.cpus = cpus, .n_cpus = 1}};
	struct live_options group = {.target = {.kind = TARGET_CGROUP, .cgroup = cgroup}};
	struct live_options pages = {.how.ring_pages = 3};
	struct live_options filter = {.event_filter = "nope == 1"};
	pid_t gone = fork();
	struct live_options pid = {.target = {.kind = TARGET_PIDS, .ids = &gone, .n_ids = 1}};
	(void)state;

	if (gone == 0)
		_exit(0);
	waitpid(gone, NULL, 0);
	refuses(&cpu, -ENODEV, "CPU 1000", "offline");
	refuses(&group, -ENOENT, "No such cgroup: /kontend/none", "systemd-cgls");
	refuses(&pages, -EINVAL, "3 pages", "power of two");
	refuses(&filter, -EINVAL, "'nope == 1'", "lock_addr and flags");
	refuses(&pid, -ESRCH, "no task", "ps -e");
	pid.target.kind = TARGET_TIDS;
	refuses(&pid, -ESRCH, "no task", "ps -e");
}

static void test_filter(void **state)
{
	struct live_options o = {.tick_ns = 100 * MS, .event_filter = "lock_addr == 0"};
	struct stream st;
	struct storm storm;
	(void)state;

	storm_fork(&storm, THREADS, 50);
	struct source *s = open_source(&o, NULL);
	see_storm(s, &storm, &st);
	assert_int_equal(st.begins, 0);
	assert_about(st.ends, storm.ends, 0);
	source_free(s);
}

static void test_bad_commands(void **state)
{
	char none[] = "kontend-no-such-command", data[] = "/proc/self/status";
	char *argv[] = {none, NULL};
	struct live_options o = {.target = {.kind = TARGET_COMMAND, .command = argv}};
	const struct {
		char *name;
		int code, status;
		const char *says;
	} bad[] = {{none, LIVE_NO_COMMAND, 127, "no such command"},
		   {data, LIVE_CANNOT_RUN, 126, "not executable"}};
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		struct error err = {0};
		struct stream st;
		int status;
		argv[0] = bad[i].name;
		struct source *s = open_source(&o, NULL);
		assert_int_equal(live_start(s, &err), bad[i].code);
		assert_non_null(strstr(err.text, bad[i].says));
		assert_non_null(strstr(err.text, bad[i].name));
		/* It ends all the same, for who wants to read on. */
		stream_init(&st, 0);
		stream_take_all(&st, s);
		assert_int_equal(live_child(s, &status), 1);
		assert_int_equal(WEXITSTATUS(status), bad[i].status);
		source_free(s);
	}
}

static void test_never_started(void **state)
{
	char name[] = "true", sleep[] = "sleep", hour[] = "3600";
	char *held[] = {name, NULL}, *endless[] = {sleep, hour, NULL};
	struct live_options o = {.target = {.kind = TARGET_COMMAND, .command = held}};
	(void)state;

	source_free(open_source(&o, NULL));
	o.target.command = endless;
	struct source *s = open_source(&o, NULL);
	start_source(s);
	/* A command that still runs goes with us: count_after() sees that no child is left. */
	source_free(s);
	struct live_options all = {0};
	s = open_source(&all, NULL);
	live_stop(s);
	source_set_tick(s, 1);
	source_free(s);
}

/* Whichever of our allocations fails: there is a message, and nothing leaks. */
static void test_no_memory(void **state)
{
	char name[] = "true";
	char *argv[] = {name, NULL};
	struct live_options o = {.target = {.kind = TARGET_COMMAND, .command = argv}};
	int failed = 0;
	(void)state;

	for (long k = 0;; k++) {
		struct source *s = NULL;
		struct error err = {0};
		mem_fail_after(k);
		int r = live_new(&s, &o, NULL, &err);
		mem_fail_after(-1);
		source_free(s);
		if (r < 0) {
			assert_int_equal(r, -ENOMEM);
			assert_true(err.text[0]);
			failed++;
		} else if (k > failed + 32) {
			/* CPU lists and PMUs are looked at where they can be and left out where
			 * not. */
			break;
		}
	}
	printf("%d allocations failed\n", failed);
	assert_true(failed > 10);
}

/* Gives up a capability. */
static void drop(unsigned int cap)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) < 0)
		_exit(100);
	d[cap / 32].effective &= ~(1u << cap % 32);
	d[cap / 32].permitted &= ~(1u << cap % 32);
	if (syscall(SYS_capset, &h, d) < 0)
		_exit(101);
}

/* Exit status of a child in which @check returns 0 for success. */
static void in_child(int (*check)(void))
{
	int status;

	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(check());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int fails_with(const struct live_options *o, int code, const char *says)
{
	struct source *s = NULL;
	struct error err = {0};
	int r = live_new(&s, o, NULL, &err);

	dprintf(STDOUT_FILENO, "%s\n", err.text);
	return r != code ? 1 : !strstr(err.text, says) ? 2 : 0;
}

static int as_nobody(void)
{
	struct live_options o = {0};

	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 90;
	return fails_with(&o, -EACCES, "sudo setcap cap_perfmon");
}

/* May read tracefs, but not open kernel events. */
static int without_perfmon(void)
{
	struct live_options o = {0};

	drop(CAP_SYS_ADMIN);
	drop(CAP_PERFMON);
	struct source *s = NULL;
	struct error err = {0};
	int r = live_new(&s, &o, NULL, &err);
	dprintf(STDOUT_FILENO, "%s\n", err.text);
	return r != -EACCES && r != -EPERM ? 1 : !strstr(err.text, "lock:contention_begin") ? 2 : 0;
}

static int without_descriptors(void)
{
	struct rlimit few = {12, 12};
	struct live_options o = {0};

	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return 90;
	drop(CAP_SYS_RESOURCE);
	for (int fd; (fd = open("/dev/null", O_RDONLY)) < 9;) {
		if (fd < 0)
			return 91;
	}
	return fails_with(&o, -EMFILE, "ulimit -n");
}

/* Raises the soft limit by itself. */
static int with_soft_limit(void)
{
	struct rlimit few;
	struct live_options o = {0};
	struct source *s = NULL;
	struct error err = {0};

	if (getrlimit(RLIMIT_NOFILE, &few) < 0)
		return 90;
	few.rlim_cur = 8;
	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return 91;
	int r = live_new(&s, &o, NULL, &err);
	source_free(s);
	return r != 0;
}

/* Another user, with no right but those that the error texts name, and CAP_IPC_LOCK not even. */
static int become_user(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {0};
	const unsigned int caps[] = {CAP_PERFMON, CAP_DAC_READ_SEARCH, CAP_SYSLOG};

	for (size_t i = 0; i < 3; i++) {
		d[caps[i] / 32].effective |= 1u << caps[i] % 32;
		d[caps[i] / 32].permitted |= 1u << caps[i] % 32;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgid(64321) < 0 || setuid(64321) < 0)
		return -1;
	return (int)syscall(SYS_capset, &h, d);
}

/* Large rings are not allowed: smaller ones, with a message. */
static int with_setcap_rights(void)
{
	struct rlimit none = {0, 0};
	struct live_options o = {.how.ring_pages = 8192};
	struct live_info info = {0};
	struct source *s = NULL;
	struct error err = {0};

	if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 || become_user() < 0)
		return 90;
	int r = live_new(&s, &o, &info, &err);
	if (r == 0)
		r = live_start(s, &err);
	source_free(s);
	dprintf(STDOUT_FILENO, "%s%s\n", err.text, info.note);
	/* Beyond level 2, kernels of some distributions do not ask for capabilities. */
	if (r == -EACCES && strstr(err.text, "sysctl kernel.perf_event_paranoid=2"))
		return 0;
	if (r < 0 || !info.pages_reduced || info.ring_pages >= 8192)
		return 1;
	return !strstr(info.note, "instead of 32768 KiB");
}

/* As by the thread that loads the programs of snapshots after measuring has begun. */
static void test_fails_later(void **state)
{
	struct live_options o = {.tick_ns = 100 * MS};
	struct source *s = open_source(&o, NULL);
	struct error why = {0}, err = {0};
	struct record rec;
	int r;
	(void)state;

	start_source(s);
	error_set(&why, -ENOMEM, "No memory for snapshots");
	live_fail(s, &why);
	while ((r = source_next(s, 100, &rec, &err)) == 0 || r == SOURCE_IDLE)
		if (r == 0)
			source_release(s, &rec);
	assert_int_equal(r, -ENOMEM);
	assert_string_equal(err.text, why.text);
	source_free(s);
}

static void test_rights(void **state)
{
	(void)state;
	in_child(as_nobody);
	in_child(without_perfmon);
	in_child(without_descriptors);
	in_child(with_soft_limit);
	in_child(with_setcap_rights);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, count_before, count_after)
	const struct CMUnitTest tests[] = {
		TEST(test_tiny_ring), TEST(test_full_queue),   TEST(test_bad_targets),
		TEST(test_filter),    TEST(test_bad_commands), TEST(test_never_started),
		TEST(test_no_memory), TEST(test_fails_later),  TEST(test_rights),
	};

	if (geteuid() != 0) {
		puts("not root: no live tests");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
