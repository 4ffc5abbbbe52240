// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live source against the running kernel: a storm of mmap() and munmap() whose contention
 * events are counted by counters of our own must arrive, each once, in the order that record.h
 * promises. The test decodes records by hand, since it does not test the decoder. Only the storm's
 * own tasks are compared, so that other work of the machine (and an idle CPU, whose samples some
 * kernels drop) changes nothing.
 */
#include "kontend/cgroup.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include "source-test.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 64, SLOW_ROUNDS = 16 };

/* How many times slower than usual this machine is: set where it is interpreted. */
static uint64_t slowness(void)
{
	const char *text = getenv("KONTEND_SLOWNESS");

	return text ? strtoull(text, NULL, 10) : 1;
}

static int rounds(void)
{
	return slowness() > 1 ? SLOW_ROUNDS : ROUNDS;
}

static void print(const struct stream *st, const struct storm *storm)
{
	printf("begin %llu of %llu, end %llu of %llu, others %llu, lost %llu, rounds %llu\n",
	       (unsigned long long)st->begins, (unsigned long long)storm->begins,
	       (unsigned long long)st->ends, (unsigned long long)storm->ends,
	       (unsigned long long)st->others, (unsigned long long)st->lost,
	       (unsigned long long)st->rounds);
}

/*
 * Everything of the storm arrived, and every promise was kept. Where the stream went on while the
 * storm's threads exited, they may have contended @extra times more, unseen by the counters.
 */
static void check_all(const struct stream *st, const struct storm *storm, uint64_t extra)
{
	print(st, storm);
	assert_about(st->begins, storm->begins, extra);
	assert_about(st->ends, storm->ends, extra);
	assert_int_equal(st->lost, 0);
	assert_int_equal(st->dropped, 0);
	/* A CPU that is interpreted may be stopped between an event's time and its record. */
	assert_true(st->late <= (slowness() > 1 ? st->begins / 50 : 0));
	assert_true(st->chains > 0);
	assert_true(st->fills > 0);
}

static void test_all_cpus(void **state)
{
	/* Room for whatever else the machine contends for meanwhile: nothing may be lost. */
	struct live_options o = {
		.tick_ns = 200 * MS, .how.ring_pages = 4096, .queue_bytes = 512 << 20};
	struct live_info info;
	struct stream st;
	struct storm storm;
	(void)state;

	storm_fork(&storm, THREADS, rounds());
	struct source *s = open_source(&o, &info);
	assert_true(info.rings > 0);
	assert_false(info.pages_reduced);
	see_storm(s, &storm, &st);
	check_all(&st, &storm, 0);
	assert_true(st.comms > 10);
	assert_string_equal(st.pre_comm, "test-live-sourc");
	source_free(s);
}

/* The contention of another storm does not arrive; the end of the process is the end. */
static void test_pid(void **state)
{
	struct live_options o = {.tick_ns = 200 * MS};
	struct stream st;
	struct storm storm, other;
	struct error err = {0};
	char pid[16];
	(void)state;

	storm_fork(&other, 2, 1 << 20);
	storm_go(&other);
	storm_fork(&storm, THREADS, rounds());
	snprintf(pid, sizeof(pid), "%d", storm.pid);
	assert_int_equal(target_parse_ids(&o.target, TARGET_PIDS, pid, &err), 0);
	struct source *s = open_source(&o, NULL);
	start_source(s);
	stream_init(&st, storm.pid);
	ride_out(&storm, &st, s);
	assert_false(st.ended);
	storm_end(&storm);
	stream_take_all(&st, s);
	check_all(&st, &storm, 4 * THREADS);
	assert_int_equal(st.others, 0);
	assert_string_equal(st.pre_comm, "test-live-sourc");
	source_free(s);
	target_deinit(&o.target);
	kill(other.pid, SIGKILL);
	storm_end(&other);
}

/* The threads of @pid, once there are more than two. */
static size_t wait_threads(pid_t pid, pid_t **tids)
{
	size_t n = 0, cap = 0;

	for (; n <= 2; poll(NULL, 0, 5)) {
		n = 0;
		assert_int_equal(procfs_tids("/proc", pid, tids, &n, &cap), 0);
	}
	return n;
}

/* Threads that ran before we came are measured; with --tid, one of them alone. */
static void test_running_threads(void **state)
{
	const enum target_kind kinds[] = {TARGET_PIDS, TARGET_TIDS};
	(void)state;

	for (size_t k = 0; k < 2; k++) {
		struct live_options o = {.tick_ns = 100 * MS};
		struct error err = {0};
		struct stream st;
		struct storm storm;
		pid_t *tids = NULL;
		char id[16];

		storm_fork(&storm, THREADS, 1 << 20);
		storm_go(&storm);
		size_t n = wait_threads(storm.pid, &tids);
		pid_t tid = tids[n - 1];
		snprintf(id, sizeof(id), "%d", k ? tid : storm.pid);
		assert_int_equal(target_parse_ids(&o.target, kinds[k], id, &err), 0);
		struct source *s = open_source(&o, NULL);
		start_source(s);
		stream_init(&st, storm.pid);
		st.tid = tid;
		while (st.begins < 20 || (!k && !st.other_tids))
			stream_take(&st, s, 50);
		kill(storm.pid, SIGKILL);
		stream_take_all(&st, s);
		print(&st, &storm);
		assert_true(st.begins >= 20);
		assert_int_equal(st.others, 0);
		if (k)
			assert_int_equal(st.other_tids, 0);
		else
			assert_true(st.other_tids > 0);
		assert_int_equal(st.late, 0);
		source_free(s);
		target_deinit(&o.target);
		storm_end(&storm);
		mem_free(tids);
	}
}

static void test_one_cpu(void **state)
{
	struct live_options o = {.tick_ns = 200 * MS};
	struct live_info info;
	struct stream st;
	struct storm storm;
	struct error err = {0};
	(void)state;

	storm_fork(&storm, THREADS, rounds());
	assert_int_equal(target_parse_cpus(&o.target, "0", &err), 0);
	struct source *s = open_source(&o, &info);
	assert_int_equal(info.rings, 1);
	see_storm(s, &storm, &st);
	print(&st, &storm);
	assert_true(st.per_cpu[0] > 0);
	assert_int_equal(st.per_cpu[0], st.begins + st.ends);
	source_free(s);
	target_deinit(&o.target);
}

/* Moves @pid into a cgroup of its own; false where that cannot be. */
static bool make_cgroup(char *path, size_t size, pid_t pid)
{
	char mount[1024], procs[1300];

	if (cgroup_search("/proc/self/mounts", mount, sizeof(mount)) < 0)
		return false;
	snprintf(path, size, "%s/kontend-test-%d", mount, getpid());
	if (mkdir(path, 0755) < 0)
		return false;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	FILE *f = fopen(procs, "w");
	bool ok = f && fprintf(f, "%d\n", pid) > 0;
	return f && fclose(f) == 0 && ok;
}

static void test_cgroup(void **state)
{
	struct live_options o = {.tick_ns = 200 * MS};
	struct live_info info;
	struct stream st;
	struct storm storm, other;
	struct stat sb;
	struct error err = {0};
	char path[1200];
	(void)state;

	storm_fork(&storm, THREADS, rounds());
	if (!make_cgroup(path, sizeof(path), storm.pid)) {
		puts("no cgroup can be made here");
		storm_end(&storm);
		skip();
	}
	assert_int_equal(stat(path, &sb), 0);
	storm_fork(&other, 2, 1 << 20);
	storm_go(&other);
	assert_int_equal(target_set_cgroup(&o.target, strrchr(path, '/'), &err), 0);
	struct source *s = open_source(&o, &info);
	start_source(s);
	stream_init(&st, storm.pid);
	st.cgroup_want = sb.st_ino;
	ride_out(&storm, &st, s);
	live_stop(s);
	stream_take_all(&st, s);
	source_free(s);
	target_deinit(&o.target);
	storm_end(&storm);
	kill(other.pid, SIGKILL);
	storm_end(&other);
	rmdir(path);
	check_all(&st, &storm, 0);
	assert_int_equal(st.others, 0);
	if (!info.no_cgroup) {
		assert_int_equal(st.cgroup_id, sb.st_ino);
		assert_string_equal(st.cgroup_path, strrchr(path, '/'));
	}
}

static void test_command(void **state)
{
	char self[] = "/proc/self/exe", word[] = "storm";
	char *argv[] = {self, word, NULL};
	struct live_options o = {
		.tick_ns = 200 * MS,
		.target = {.kind = TARGET_COMMAND, .command = argv},
	};
	struct stream st;
	int status = 0;
	(void)state;

	struct source *s = open_source(&o, NULL);
	assert_int_equal(live_child(s, &status), 0);
	start_source(s);
	stream_init(&st, 0);
	stream_take_all(&st, s);
	assert_int_equal(live_child(s, &status), 1);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 9);
	printf("begin %llu, end %llu\n", (unsigned long long)st.begins,
	       (unsigned long long)st.ends);
	assert_true(st.begins > 0);
	assert_int_equal(st.others, 0);
	assert_int_equal(st.late, 0);
	assert_int_equal(st.lost, 0);
	/* Nothing of before the exec: not even our own name. */
	assert_string_equal(st.comm, "exe");
	source_free(s);
}

/* Both children of the command are followed; the measurement ends with the command. */
static void test_children(void **state)
{
	char self[512] = "", line[1024], sh[] = "/bin/sh", c[] = "-c";
	char *argv[] = {sh, c, line, NULL};
	struct live_options o = {.target = {.kind = TARGET_COMMAND, .command = argv}};
	struct stream st;
	int status = 0;
	(void)state;

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(line, sizeof(line), "'%s' storm; '%s' storm; kill -INT $$", self, self);
	struct source *s = open_source(&o, NULL);
	start_source(s);
	stream_init(&st, 0);
	stream_take_all(&st, s);
	assert_int_equal(live_child(s, &status), 1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	print(&st, &(struct storm){0});
	/* Which process is the first is chance, as rings are read one after the other. */
	assert_true(st.others > 0);
	assert_int_equal(st.late, 0);
	source_free(s);
}

/* The command runs only while all CPUs are measured. */
static void test_command_beside(void **state)
{
	char name[] = "false";
	char *argv[] = {name, NULL};
	struct live_options o = {.target = {.command = argv}};
	struct stream st;
	int status = 0;
	(void)state;

	struct source *s = open_source(&o, NULL);
	start_source(s);
	stream_init(&st, 1);
	stream_take_all(&st, s);
	assert_int_equal(live_child(s, &status), 1);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(st.comms > 10);
	source_free(s);
}

static void test_ticks(void **state)
{
	struct live_options o = {.tick_ns = 200 * MS};
	struct stream st;
	(void)state;

	struct source *s = open_source(&o, NULL);
	start_source(s);
	stream_init(&st, getpid());
	st.tick_ns = 200 * MS;
	while (st.gaps < 4)
		stream_take(&st, s, 100);
	assert_int_equal(st.odd_gaps, 0);
	source_set_tick(s, 50 * MS);
	st.tick_ns = 50 * MS;
	st.gaps = 0;
	while (st.gaps < 8)
		stream_take(&st, s, 100);
	/* From an old tick to a new one that is overdue. */
	assert_in_range(st.odd_gaps, 0, 1);
	live_stop(s);
	live_stop(s);
	stream_take_all(&st, s);
	assert_int_equal(st.late, 0);
	assert_int_equal(live_child(s, NULL), -ECHILD);
	source_free(s);
}

static void test_stop_in_storm(void **state)
{
	struct live_options o = {.tick_ns = 100 * MS};
	struct stream st;
	struct storm storm;
	(void)state;

	storm_fork(&storm, THREADS, 1 << 20);
	storm_go(&storm);
	struct source *s = open_source(&o, NULL);
	start_source(s);
	stream_init(&st, storm.pid);
	while (st.begins < 50)
		stream_take(&st, s, 50);
	live_stop(s);
	stream_take_all(&st, s);
	assert_int_equal(st.late, 0);
	source_free(s);
	/* And if the caller does not take the rest. */
	s = open_source(&o, NULL);
	start_source(s);
	source_free(s);
	kill(storm.pid, SIGKILL);
	storm_end(&storm);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* CPU time of watching a process that sleeps for 2 s, of all threads. */
static uint64_t cost_of_sleep(void)
{
	char name[] = "sleep", time[] = "2";
	char *argv[] = {name, time, NULL};
	struct live_options o = {.target = {.kind = TARGET_COMMAND, .command = argv}};
	struct stream st;

	struct source *s = open_source(&o, NULL);
	start_source(s);
	uint64_t before = cpu_ns();
	stream_init(&st, 0);
	stream_take_all(&st, s);
	uint64_t cost = cpu_ns() - before;
	printf("2 s idle: %llu us of CPU, %llu rounds\n", (unsigned long long)cost / 1000,
	       (unsigned long long)st.rounds);
	source_free(s);
	return cost;
}

/*
 * Steal time of the host is charged to the running task, and so are interrupts: our own cost is the
 * minimum of several runs.
 */
static void test_idle_cost(void **state)
{
	uint64_t least = UINT64_MAX, enough = 20 * MS * slowness();
	(void)state;

	for (int i = 0; i < 10 && least > enough; i++) {
		uint64_t cost = cost_of_sleep();
		least = cost < least ? cost : least;
	}
	assert_in_range(least, 1, enough);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, count_before, count_after)
	const struct CMUnitTest tests[] = {
		TEST(test_all_cpus),	    TEST(test_pid),
		TEST(test_running_threads), TEST(test_one_cpu),
		TEST(test_cgroup),	    TEST(test_command),
		TEST(test_children),	    TEST(test_command_beside),
		TEST(test_ticks),	    TEST(test_stop_in_storm),
		TEST(test_idle_cost),
	};

	if (argc == 2 && !strcmp(argv[1], "storm")) {
		storm_run(THREADS, rounds());
		/* Not by main()'s end: a sanitizer would look for leaks there, in a child. */
		_exit(9);
	}
	if (geteuid() != 0) {
		puts("not root: no live tests");
		return 77;
	}
	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
