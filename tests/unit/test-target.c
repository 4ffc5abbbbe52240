// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/target.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_cpulist(void **state)
{
	static const char *const bad[] = {
		"",    ",",   "0,",    ",1",	       "a",    "1-",	"-1", "3-1", "1--2",
		"1 2", "0x1", "65536", "1-9999999999", "1,,2", "1-2-3", "+1"};
	uint32_t *cpus = NULL;
	size_t n = 7;
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (cpulist_parse(bad[i], &cpus, &n) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	}
	assert_null(cpus);
	assert_int_equal(n, 7);
	assert_int_equal(cpulist_parse("5,0-3,2,65535", &cpus, &n), 0);
	assert_int_equal(n, 6);
	assert_int_equal(cpus[0], 0);
	assert_int_equal(cpus[4], 5);
	assert_int_equal(cpus[5], 65535);
	assert_true(cpulist_has(cpus, n, 3));
	assert_false(cpulist_has(cpus, n, 4));
	assert_string_equal(cpulist_format(cpus, n, buf, sizeof(buf)), "0-3,5,65535");
	assert_string_equal(cpulist_format(cpus, 0, buf, sizeof(buf)), "");
	assert_string_equal(cpulist_format(cpus, n, buf, 5), "0-3,");
	mem_free(cpus);
	for (long k = 0; k < 2; k++) {
		mem_fail_after(k);
		assert_int_equal(cpulist_parse("0-3", &cpus, &n), -ENOMEM);
	}
	mem_fail_after(-1);
}

static void write_text(int fd, const char *text)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* Only a changed text leads to a check of each CPU. An unreadable file gives none. */
static void test_watch(void **state)
{
	struct cpu_watch w;
	uint32_t *cpus;
	size_t n;
	char path[64];
	int fd = memfd_create("online", 0);

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	write_text(fd, "0-1023\n");
	cpu_watch_open(&w, path);
	assert_false(cpu_watch_look(&w));
	write_text(fd, "0-6,8-1023\n");
	assert_true(cpu_watch_look(&w));
	assert_false(cpu_watch_look(&w));
	assert_int_equal(cpu_watch_list(&w, &cpus, &n), 0);
	assert_int_equal(n, 1023);
	for (uint32_t cpu = 0; cpu < 1024; cpu++)
		assert_int_equal(cpulist_has(cpus, n, cpu), cpu != 7);
	mem_free(cpus);
	write_text(fd, "");
	assert_false(cpu_watch_look(&w));
	write_text(fd, "0-6");
	assert_true(cpu_watch_look(&w));
	cpu_watch_close(&w);
	close(fd);
	cpu_watch_open(&w, "/nowhere");
	assert_false(cpu_watch_look(&w));
	assert_int_equal(cpu_watch_list(&w, &cpus, &n), -ENOENT);
	cpu_watch_close(&w);
}

static void test_cpus(void **state)
{
	struct target t = {0};
	struct error err = {0};
	uint32_t *online;
	size_t n;
	char list[64], buf[128];

	(void)state;
	assert_int_equal(cpulist_read("online", &online, &n), 0);
	snprintf(list, sizeof(list), "%u,%u", online[0], online[0]);
	assert_int_equal(target_parse_cpus(&t, list, &err), 0);
	assert_int_equal(t.n_cpus, 1);
	assert_int_equal(t.cpus[0], online[0]);
	snprintf(list, sizeof(list), "cpu %u", online[0]);
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), list);
	assert_int_equal(target_parse_cpus(&t, "9-", &err), -EINVAL);
	assert_non_null(strstr(err.text, "'9-' is no CPU list"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(target_parse_cpus(&t, "60000", &err), -ENODEV);
	assert_non_null(strstr(err.text, "CPU 60000 is not online: choose from"));
	assert_int_equal(t.n_cpus, 1);
	mem_free(online);
	target_deinit(&t);
	assert_null(t.cpus);
}

static void rejects(enum target_kind kind, const char *list, int code, const char *says)
{
	struct target t = {0};
	struct error err = {0};

	assert_int_equal(target_parse_ids(&t, kind, list, &err), code);
	if (!strstr(err.text, says))
		fail_msg("'%s' lacks '%s'", err.text, says);
	assert_int_equal(t.n_ids, 0);
	assert_null(t.ids);
	assert_int_equal(t.kind, TARGET_SYSTEM);
}

static void test_bad_ids(void **state)
{
	static const char *const bad[] = {"", ",", "0", "-5", "1,", "99999999999", "1,,2"};
	static const char *const nobody[] = {"kt-no-such", "1x", "1 2", "1,kt-no-such"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		rejects(TARGET_PIDS, bad[i], -EINVAL, "is no list of pids");
	for (size_t i = 0; i < sizeof(nobody) / sizeof(*nobody); i++)
		rejects(TARGET_PIDS, nobody[i], -ESRCH, "There is no process called '");
	rejects(TARGET_TIDS, "1x", -EINVAL, "'1x' is no list of thread ids");
	rejects(TARGET_TIDS, "init", -EINVAL, "is no list of thread ids");
	rejects(TARGET_PIDS, "2147483647", -ESRCH, "There is no process 2147483647");
	rejects(TARGET_TIDS, "2147483647", -ESRCH, "There is no thread 2147483647");
	rejects(TARGET_TIDS, "1,2147483647", -ESRCH, "There is no thread 2147483647");
}

static pid_t start_named(const char *name)
{
	char byte;
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		_exit(write(ready[1], "x", 1) == 1 ? pause() : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* A name means all processes that have it, and may be mixed with pids. */
static void test_names(void **state)
{
	pid_t a = start_named("kt-unit-named"), b = start_named("kt-unit-named");
	pid_t c = start_named("kt-unit-other");
	struct target t = {0};
	struct error err = {0};
	char list[64];

	(void)state;
	assert_int_equal(target_parse_ids(&t, TARGET_PIDS, "kt-unit-named", &err), 0);
	assert_int_equal(t.n_ids, 2);
	assert_int_equal(t.ids[0] + t.ids[1], a + b);
	snprintf(list, sizeof(list), "%d,kt-unit-named,kt-unit-other", a);
	assert_int_equal(target_parse_ids(&t, TARGET_PIDS, list, &err), 0);
	assert_int_equal(t.n_ids, 3);
	assert_int_equal(t.ids[0], a);
	assert_int_equal(t.ids[0] + t.ids[1] + t.ids[2], a + b + c);
	target_deinit(&t);
	for (int i = 0; i < 3; i++) {
		pid_t pid = i == 0 ? a : i == 1 ? b : c;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

struct helper {
	pthread_barrier_t go;
	pid_t tid;
};

static void *helper(void *arg)
{
	struct helper *h = arg;

	h->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&h->go);
	pthread_barrier_wait(&h->go);
	return NULL;
}

static void test_ids(void **state)
{
	struct target t = {0};
	struct error err = {0};
	struct helper h;
	pthread_t thread;
	char list[64], want[64], buf[128];

	(void)state;
	pthread_barrier_init(&h.go, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, helper, &h), 0);
	pthread_barrier_wait(&h.go);
	snprintf(list, sizeof(list), "%d,1,%d", getpid(), getpid());
	assert_int_equal(target_parse_ids(&t, TARGET_PIDS, list, &err), 0);
	assert_int_equal(t.kind, TARGET_PIDS);
	assert_int_equal(t.n_ids, 2);
	snprintf(want, sizeof(want), "pid %d,1", getpid());
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), want);
	snprintf(list, sizeof(list), "%d", h.tid);
	assert_int_equal(target_parse_ids(&t, TARGET_TIDS, list, &err), 0);
	assert_int_equal(t.kind, TARGET_TIDS);
	assert_int_equal(t.n_ids, 1);
	assert_int_equal(t.ids[0], h.tid);
	/* A thread's number is no pid. */
	assert_int_equal(target_parse_ids(&t, TARGET_PIDS, list, &err), -ESRCH);
	snprintf(want, sizeof(want), "use --tid %d or -p %d", h.tid, getpid());
	assert_non_null(strstr(err.text, want));
	assert_int_equal(t.kind, TARGET_TIDS);
	pthread_barrier_wait(&h.go);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&h.go);
	target_deinit(&t);
}

static void test_zombie(void **state)
{
	pid_t pid = fork();
	siginfo_t info;
	char list[32];

	(void)state;
	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	snprintf(list, sizeof(list), "%d", pid);
	rejects(TARGET_PIDS, list, -ESRCH, "has ended");
	waitpid(pid, NULL, 0);
	rejects(TARGET_PIDS, list, -ESRCH, "There is no process");
}

static void test_describe(void **state)
{
	char *command[] = {(char[]){"make"}, (char[]){"-j5"}, NULL};
	uint32_t cpus[] = {0, 1, 2};
	struct target t = {0};
	struct error err = {0};
	char buf[128];

	(void)state;
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), "all CPUs");
	assert_int_equal(target_set_cgroup(&t, "/a", &err), 0);
	assert_int_equal(target_set_cgroup(&t, "/system.slice", &err), 0);
	assert_int_equal(t.kind, TARGET_CGROUP);
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), "cgroup /system.slice");
	assert_int_equal(target_set_cgroup(&t, "", &err), -EINVAL);
	target_deinit(&t);
	t = (struct target){.kind = TARGET_COMMAND, .command = command};
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), "make -j5");
	t.cpus = cpus;
	t.n_cpus = 3;
	assert_string_equal(target_describe(&t, buf, sizeof(buf)), "make -j5 on cpu 0-2");
	assert_string_equal(target_describe(&t, buf, 8), "make -j");
	assert_string_equal(target_describe(&t, buf, 1), "");
}

static void test_target_has(void **state)
{
	pid_t ids[] = {812, 900};
	uint32_t cpus[] = {0, 3};
	struct target t = {0};

	(void)state;
	assert_true(target_has(&t, 1, 2, false, -1));
	t = (struct target){.kind = TARGET_PIDS, .ids = ids, .n_ids = 2};
	assert_true(target_has(&t, 900, 901, false, -1));
	assert_false(target_has(&t, 901, 900, false, 0));
	t.kind = TARGET_TIDS;
	assert_true(target_has(&t, 901, 900, false, -1));
	assert_false(target_has(&t, 900, 901, false, 0));
	t.cpus = cpus;
	t.n_cpus = 2;
	assert_true(target_has(&t, 901, 900, false, 3));
	assert_false(target_has(&t, 901, 900, false, 1));
	assert_false(target_has(&t, 901, 900, false, -1));
	t.kind = TARGET_SYSTEM;
	assert_true(target_has(&t, 1, 2, false, 0));
	t = (struct target){.kind = TARGET_CGROUP};
	assert_false(target_has(&t, 1, 2, false, 0));
	assert_true(target_has(&t, 1, 2, true, -1));
	t.cpus = cpus;
	t.n_cpus = 2;
	assert_true(target_has(&t, 1, 2, true, 3));
	assert_false(target_has(&t, 1, 2, true, 1));
	t.kind = TARGET_PIDS;
	assert_false(target_has(&t, 1, 2, true, 3));
}

/* Its own threads and all that it has started. */
static void test_target_has_command(void **state)
{
	struct target t = {.kind = TARGET_COMMAND};
	int to_child[2];
	pid_t child, parent = getpid();
	char byte;

	(void)state;
	assert_int_equal(pipe(to_child), 0);
	child = fork();
	if (!child)
		_exit(read(to_child[0], &byte, 1) == 1 ? 0 : 1);
	assert_true(child > 0);
	assert_false(target_has(&t, child, child, false, -1));
	t.child = parent;
	assert_true(target_has(&t, parent, parent + 1, false, -1));
	assert_true(target_has(&t, child, child, false, 0));
	assert_false(target_has(&t, getppid(), getppid(), false, -1));
	assert_false(target_has(&t, -child, -child, false, -1));
	t.child = child;
	assert_true(target_has(&t, child, child, false, -1));
	assert_false(target_has(&t, parent, parent, false, -1));
	assert_int_equal(write(to_child[1], "x", 1), 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target_has), cmocka_unit_test(test_target_has_command),
		cmocka_unit_test(test_cpulist),	   cmocka_unit_test(test_watch),
		cmocka_unit_test(test_cpus),	   cmocka_unit_test(test_bad_ids),
		cmocka_unit_test(test_ids),	   cmocka_unit_test(test_names),
		cmocka_unit_test(test_zombie),	   cmocka_unit_test(test_describe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
