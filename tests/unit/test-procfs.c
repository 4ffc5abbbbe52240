// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/decode.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/kontend-procfs-XXXXXX";

static void file(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	/* Directories on the way. */
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	file("1/task/1/comm", "init\n");
	file("812/task/812/comm", "kworker/0:1-events_freezable\n");
	file("900/task/900/comm", "a (b) c\n");
	file("900/task/901/comm", "worker\n");
	file("900/task/902/other", "");
	file("900/task/x/comm", "not a task\n");
	file("0/task/0/comm", "not a pid\n");
	file("12x/task/1/comm", "not a pid\n");
	file("self/task/1/comm", "not a pid\n");
	file("901/comm", "worker\n");
	file("901/status", "Name:\tworker\nUmask:\t0022\nTgid:\t900\nPid:\t901\n");
	file("901/stat", "901 (a) (b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n");
	file("905/comm", "worker\n");
	file("905/status", "Name:\tworker\nTgid:\t905\n");
	file("905/stat", "905 (worker) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 42 20\n");
	file("906/comm", "kworker/0:1-events_freezable\n");
	file("906/status", "Name:\tkworker\nTgid:\t906\n");
	file("906/stat", "906 (kworker) I 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 42 20\n");
	file("950/comm", "worker\n");
	file("950/status", "Name:\tz\nTgid:\t950\n");
	file("950/stat", "950 (z) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 77 20\n");
	file("960/stat", "960 (cut) S 1 2\n");
	file("960/status", "Tgid:\t960\n");
	file("970/maps", "55d0-55e0 r--p 00000000 fe:01 7   /usr/bin/a b (deleted)\n"
			 "55e0-55f0 r-xp 00001000 fe:01 7   /usr/bin/a b (deleted)\n"
			 "7000-8000 rwxp 00000000 00:00 0 \n"
			 "9000-a000 r-xs 00000000 00:05 9   /memfd:jit (deleted)\n"
			 "b000-c000 r-xp 00000000 00:00 0   [vdso]\n"
			 "d000-e000 r-xp 00000000 00:00 0   [vsyscall]\n"
			 "not a line\n"
			 "f000-e000 r-xp 00000000 00:00 0   /backwards\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* The COMM record at @at is for (pid, tid, name); returns the next one's place. */
static size_t check_comm(const struct sideband *s, size_t at, uint32_t pid, uint32_t tid,
			 const char *name)
{
	struct perf_event_header h;
	uint32_t ids[2];
	uint64_t id;

	assert_true(at + sizeof(h) <= s->len);
	memcpy(&h, s->data + at, sizeof(h));
	assert_int_equal(h.type, PERF_RECORD_COMM);
	assert_int_equal(h.size % 8, 0);
	assert_true(at + h.size <= s->len);
	memcpy(ids, s->data + at + 8, 8);
	assert_int_equal(ids[0], pid);
	assert_int_equal(ids[1], tid);
	assert_string_equal((const char *)s->data + at + 16, name);
	memcpy(&id, s->data + at + h.size - 8, 8);
	assert_int_equal(id, s->id);
	return at + h.size;
}

static void test_comms(void **state)
{
	struct sideband s = {.id = 99};

	(void)state;
	assert_int_equal(procfs_comms(root, 1, &s), 0);
	assert_int_equal(check_comm(&s, 0, 1, 1, "init"), s.len);
	s.len = 0;
	assert_int_equal(procfs_comms(root, 812, &s), 0);
	assert_int_equal(check_comm(&s, 0, 812, 812, "kworker/0:1"), s.len);
	s.len = 0;
	assert_int_equal(procfs_comm_of(root, 901, &s), 0);
	assert_int_equal(check_comm(&s, 0, 900, 901, "worker"), s.len);
	s.len = 0;
	assert_int_equal(procfs_comms(root, 4711, &s), 0);
	assert_int_equal(procfs_comm_of(root, 4711, &s), 0);
	assert_int_equal(s.len, 0);
	sideband_deinit(&s);
}

static void test_comms_all(void **state)
{
	struct sideband s = {.id = 5};
	struct perf_event_header h;
	unsigned seen = 0;

	(void)state;
	assert_int_equal(procfs_comms_all(root, &s), 0);
	for (size_t at = 0; at < s.len; at += h.size) {
		uint32_t ids[2];
		memcpy(&h, s.data + at, sizeof(h));
		memcpy(ids, s.data + at + 8, 8);
		assert_int_not_equal(ids[0], 0);
		seen += ids[1];
	}
	assert_int_equal(seen, 1 + 812 + 900 + 901);
	assert_int_equal(procfs_comms_all("/kontend-none", &s), -ENOENT);
	sideband_deinit(&s);
}

/* Records of the mapping as the kernel would write them: the decoder reads them back. */
static void check_map(struct decode *d, const struct sideband *s, size_t *at, const char *path,
		      uint64_t start, uint64_t pgoff)
{
	struct event ev;
	size_t size;

	assert_int_equal(decode_event(d, s->data + *at, s->len - *at, 0, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_MMAP);
	assert_int_equal(ev.pid, 970);
	assert_string_equal(ev.mmap.path, path);
	assert_int_equal(ev.mmap.start, start);
	assert_int_equal(ev.mmap.len, start == 0x55e0 ? 0x10 : 0x1000);
	assert_int_equal(ev.mmap.pgoff, pgoff);
	*at += size;
}

static void test_maps(void **state)
{
	struct sideband s = {.id = 99};
	struct error err = {0};
	struct decode d;
	const pid_t pid = 970, none = 4711;
	size_t at = 0, left;

	(void)state;
	assert_int_equal(decode_init(&d, &err), 0);
	assert_int_equal(procfs_maps(root, &pid, 1, &s, &left), 0);
	assert_int_equal(left, 0);
	check_map(&d, &s, &at, "/usr/bin/a b", 0x55e0, 0x1000);
	check_map(&d, &s, &at, "//anon", 0x7000, 0);
	check_map(&d, &s, &at, "/memfd:jit (deleted)", 0x9000, 0);
	check_map(&d, &s, &at, "[vdso]", 0xb000, 0);
	assert_int_equal(at, s.len);
	assert_int_equal(procfs_maps(root, &none, 1, &s, &left), 0);
	assert_int_equal(procfs_maps_all(root, &s, &left), 0);
	assert_int_equal(procfs_maps_all("/kontend-none", &s, &left), -ENOENT);
	assert_int_equal(s.len, 2 * at);
	s.data_maps = true;
	assert_int_equal(procfs_maps(root, &pid, 1, &s, &left), 0);
	assert_true(s.len > 3 * at);
	decode_deinit(&d);
	sideband_deinit(&s);
}

static void test_tids(void **state)
{
	pid_t *tids = NULL;
	size_t n = 0, cap = 0;

	(void)state;
	assert_int_equal(procfs_tids(root, 900, &tids, &n, &cap), 0);
	assert_int_equal(n, 3);
	assert_int_equal(tids[0] + tids[1] + tids[2], 900 + 901 + 902);
	assert_int_equal(procfs_tids(root, 1, &tids, &n, &cap), 0);
	assert_int_equal(n, 4);
	assert_int_equal(procfs_tids(root, 4711, &tids, &n, &cap), -ESRCH);
	assert_int_equal(n, 4);
	mem_free(tids);
}

/* Not the thread 901 of the same name, nor the process 950, which has ended. */
static void test_named(void **state)
{
	static const struct {
		const char *name;
		pid_t pid;
	} cases[] = {{"worker", 905},
		     {"kworker/0:1-eve", 906},
		     {"kworker/0:1-events", 906},
		     {"kworker/0:1-even", 906},
		     {"kworker/0:1", 0},
		     {"work", 0},
		     {"workers", 0},
		     {"init", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pid_t *pids = NULL;
		size_t n = 0, cap = 0, len = strlen(cases[i].name);
		assert_int_equal(procfs_named(root, cases[i].name, len, &pids, &n, &cap), 0);
		assert_int_equal(n, cases[i].pid != 0);
		if (n)
			assert_int_equal(pids[0], cases[i].pid);
		mem_free(pids);
	}
	assert_int_equal(procfs_named("/kontend-none", "x", 1, NULL, NULL, NULL), -ENOENT);
}

static void test_identify(void **state)
{
	struct procfs_task t = {0};

	(void)state;
	assert_int_equal(procfs_identify(root, 901, &t), 0);
	assert_int_equal(t.id, 901);
	assert_int_equal(t.tgid, 900);
	assert_int_equal(t.start, 4242);
	assert_false(t.ended);
	assert_true(procfs_alive(root, &t));
	t.start = 4243;
	assert_false(procfs_alive(root, &t));
	assert_int_equal(procfs_identify(root, 950, &t), 0);
	assert_true(t.ended);
	assert_false(procfs_alive(root, &t));
	t.id = 3;
	assert_int_equal(procfs_identify(root, 960, &t), -ESRCH);
	assert_int_equal(procfs_identify(root, 4711, &t), -ESRCH);
	assert_int_equal(t.id, 3);
	assert_false(procfs_alive(root, &t));
}

/* The real thing: ourselves, and a child before and after its end. */
static void test_real(void **state)
{
	struct procfs_task t;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(procfs_identify("/proc", tid, &t), 0);
	assert_int_equal(t.tgid, getpid());
	assert_true(procfs_alive("/proc", &t));
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(fds[1]);
		_exit(read(fds[0], &c, 1) == 1);
	}
	assert_int_equal(procfs_identify("/proc", pid, &t), 0);
	assert_true(procfs_alive("/proc", &t));
	close(fds[0]);
	close(fds[1]);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(procfs_alive("/proc", &t));
	waitpid(pid, NULL, 0);
	assert_false(procfs_alive("/proc", &t));
}

/* The decoder reads our records as if the kernel had written them. */
static void test_decodes(void **state)
{
	struct attr_record {
		struct perf_event_attr attr;
		uint64_t id;
	} a = {.id = 77};
	struct decode d;
	struct error err = {0};
	struct sideband s = {.id = 77};
	struct event ev;
	size_t size;

	(void)state;
	a.attr.size = offsetof(struct attr_record, id);
	a.attr.type = PERF_TYPE_SOFTWARE;
	a.attr.config = PERF_COUNT_SW_DUMMY;
	a.attr.sample_id_all = 1;
	a.attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	assert_int_equal(decode_init(&d, &err), 0);
	assert_int_equal(decode_add_attr(&d, &a, sizeof(a), &err), 0);
	assert_int_equal(sideband_comm(&s, 900, 901, "exactly8"), 0);
	assert_int_equal(sideband_cgroup(&s, 1234567890123, "/system.slice"), 0);
	assert_int_equal(decode_event(&d, s.data, s.len, 3, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_COMM);
	assert_int_equal(ev.time, 0);
	assert_int_equal(ev.pid, 900);
	assert_int_equal(ev.tid, 901);
	assert_string_equal(ev.comm.name, "exactly8");
	assert_int_equal(decode_event(&d, s.data + size, s.len - size, 3, &ev, &size), 0);
	assert_int_equal(ev.kind, EVENT_CGROUP);
	assert_int_equal(ev.time, 0);
	assert_int_equal(ev.cg.id, 1234567890123);
	assert_string_equal(ev.cg.path, "/system.slice");
	sideband_deinit(&s);
	decode_deinit(&d);
}

static void test_runs(void **state)
{
	struct sideband s = {0};
	char longest[10000];
	size_t at = 0, n, runs = 0;

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(sideband_cgroup(&s, 1, longest), 0);
	assert_true(s.len < 5000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(sideband_comm(&s, i, i, "name"), 0);
	for (; at < s.len; at += n, runs++) {
		n = sideband_run(&s, at, 4096);
		assert_true(n && (n <= 4096 || at == 0));
	}
	assert_int_equal(at, s.len);
	assert_true(runs >= s.len / 4096);
	assert_int_equal(sideband_run(&s, at, 4096), 0);
	size_t len = s.len;
	s.cap = s.len;
	mem_fail_after(0);
	assert_int_equal(sideband_comm(&s, 1, 1, "name"), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(s.len, len);
	sideband_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comms), cmocka_unit_test(test_comms_all),
		cmocka_unit_test(test_maps),  cmocka_unit_test(test_tids),
		cmocka_unit_test(test_named), cmocka_unit_test(test_identify),
		cmocka_unit_test(test_real),  cmocka_unit_test(test_decodes),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
