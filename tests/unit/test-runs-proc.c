// SPDX-License-Identifier: GPL-2.0-only
/* How holders are scheduled, from a tree of files like /proc, and cgroups of both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/locks/runs-limit.h"
#include "kontend/snapshot-runs.h"
#include "proc-tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
enum { HOLDER = 9, WAITER = 12 };

struct proc {
	struct snapshot_runs *runs;
	struct locksnap snap;
};

/* @head: priority and nice; @tail: CPU, real-time priority and policy. */
static void put_task(int tid, const char *head, const char *tail, const char *run_ns)
{
	char name[64], text[512];

	snprintf(name, sizeof(name), "%d/task/%d/stat", tid, tid);
	snprintf(text, sizeof(text),
		 "%d (a ) R b) R 1 2 3 0 -1 4194304 1 2 3 4 5 6 7 8 %s 1 0 5 6 7 "
		 "18446744073709551615 1 2 3 4 5 6 7 8 9 10 0 0 17 %s 0 0 0 0 0\n",
		 tid, head, tail);
	tree_file(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/status", tid, tid);
	tree_file(name, "Name:\ta\nCpus_allowed:\tf,00000001\nCpus_allowed_list:\t0,32-35\n");
	snprintf(name, sizeof(name), "%d/task/%d/schedstat", tid, tid);
	tree_file(name, run_ns);
}

static void put_throttled(const char *us)
{
	char text[64];

	snprintf(text, sizeof(text), "nr_periods 7\nthrottled_usec %s\n", us);
	tree_file("cgroup/app/cpu.stat", text);
}

static void put_stat(int steal)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "cpu  1 2 3 4 5 6 7 99 0 0\ncpu0 1 2 3 4 5 6 7 50 0 0\n"
		 "cpu3 1 2 3 4 5 6 7 %d 0 0\nintr 1\n",
		 steal);
	tree_file("stat", text);
}

static int setup(void **state)
{
	struct proc *p = calloc(1, sizeof(*p));
	char text[512];

	assert_non_null(p);
	assert_int_equal(tree_set_up(state), 0);
	snprintf(text, sizeof(text), "none /x tmpfs rw 0 0\nnone %s/cgroup cgroup2 rw 0 0\n",
		 tree_root);
	tree_file("self/mounts", text);
	tree_file("9/cgroup", "3:cpuset:/\n0::/app/worker\n");
	tree_file("cgroup/app/worker/cpu.max", "max 100000\n");
	tree_file("cgroup/app/cpu.max", "10000 100000\n");
	put_throttled("1000000");
	put_stat(100);
	put_task(HOLDER, "20 0", "3 0 0", "1000 2000 3\n");
	put_task(WAITER, "-81 0", "1 80 1", "5 6 7\n");
	p->runs = snapshot_runs_new(tree_root);
	assert_non_null(p->runs);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct proc *p = *state;

	snapshot_runs_free(p->runs);
	locksnap_deinit(&p->snap);
	free(p);
	return tree_tear_down(state);
}

static void look(struct proc *p, uint64_t ms, bool steal_only)
{
	locksnap_clear(&p->snap);
	p->snap.head.time_ns = ms * MS;
	assert_int_equal(
		locksnap_add_queue(&p->snap,
				   &(struct locksnap_queue){.certainty = LOCKSNAP_SURE,
							    .type = LOCKSNAP_FLOCK,
							    .holder_pid = HOLDER,
							    .holder_tid = HOLDER,
							    .holder_cpu = 3,
							    .holder_state = LOCKSNAP_RUNNING}),
		0);
	assert_int_equal(locksnap_add_waiter(
				 &p->snap, &(struct locksnap_waiter){.pid = WAITER, .tid = WAITER}),
			 0);
	assert_int_equal(snapshot_runs_add(p->runs, &p->snap, steal_only), 0);
}

static void policies_are_of_stat(void **state)
{
	struct proc *p = *state;

	look(p, 1000, false);
	assert_int_equal(p->snap.n_runs, 2);
	const struct locksnap_run *r = p->snap.runs;
	assert_int_equal(r[0].tid, HOLDER);
	assert_int_equal(r[0].policy, 0);
	assert_int_equal(r[0].prio, 120);
	assert_int_equal(r[0].normal_prio, 120);
	assert_int_equal(r[0].cpu, 3);
	assert_int_equal(r[0].cpus, 5);
	assert_int_equal(r[0].state, LOCKSNAP_RUNNING);
	assert_false(r[0].is_throttled);
	assert_int_equal(r[1].tid, WAITER);
	assert_int_equal(r[1].policy, 1);
	assert_int_equal(r[1].rt_priority, 80);
	assert_int_equal(r[1].prio, 19);
	assert_int_equal(r[1].normal_prio, 19);
	assert_false(p->snap.queues[0].steal_of_ns);
}

static void what_changed_is_of_the_time_between(void **state)
{
	struct proc *p = *state;

	look(p, 1000, false);
	put_throttled("1700000");
	put_stat(112);
	look(p, 2000, false);
	const struct locksnap_run *r = p->snap.runs;
	assert_true(r->is_throttled);
	assert_string_equal(locksnap_text(&p->snap, r->limit), "/app");
	assert_int_equal(r->throttled_ns, 700 * MS);
	assert_int_equal(r->throttled_of_ns, 1000 * MS);
	assert_int_equal(r->quota_ns, 10 * MS);
	assert_int_equal(r->period_ns, 100 * MS);
	/* Its running time is that of before. */
	assert_int_equal(r->state, LOCKSNAP_RUNNABLE);
	assert_int_equal(p->snap.queues[0].holder_state, LOCKSNAP_RUNNABLE);
	assert_int_equal(p->snap.queues[0].steal_ns, 120 * MS);
	assert_int_equal(p->snap.queues[0].steal_of_ns, 1000 * MS);
	/* Too soon after that one: it is compared with the one before. */
	put_task(HOLDER, "20 0", "3 0 0", "2000 2000 4\n");
	look(p, 2010, false);
	assert_int_equal(p->snap.runs->throttled_of_ns, 1010 * MS);
	assert_int_equal(p->snap.runs->state, LOCKSNAP_RUNNING);
	assert_int_equal(p->snap.queues[0].steal_of_ns, 1010 * MS);
	/* Too late. */
	look(p, 100000, false);
	assert_false(p->snap.runs->is_throttled);
	assert_false(p->snap.queues[0].steal_of_ns);
}

static void with_bpf_only_steal_is_read(void **state)
{
	struct proc *p = *state;

	look(p, 1000, true);
	look(p, 2000, true);
	assert_int_equal(p->snap.n_runs, 0);
	assert_int_equal(p->snap.queues[0].steal_of_ns, 1000 * MS);
	assert_int_equal(p->snap.queues[0].steal_ns, 0);
}

static void version_1_has_limits_as_well(void **state)
{
	struct runs_limit l;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "none %s/v1 cgroup rw,cpu,cpuacct 0 0\n", tree_root);
	tree_file("self/mounts", text);
	tree_file("9/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/app/worker\n0::/\n");
	tree_file("v1/app/worker/cpu.cfs_quota_us", "-1\n");
	tree_file("v1/app/cpu.cfs_quota_us", "20000\n");
	tree_file("v1/app/cpu.cfs_period_us", "50000\n");
	tree_file("v1/app/cpu.stat", "nr_throttled 3\nthrottled_time 12345\n");
	assert_true(runs_limit_read(tree_root, HOLDER, &l));
	assert_string_equal(l.group, "/app");
	assert_int_equal(l.quota_ns, 20 * MS);
	assert_int_equal(l.period_ns, 50 * MS);
	assert_int_equal(l.throttled_ns, 12345);
	tree_file("v1/app/cpu.cfs_quota_us", "-1\n");
	assert_false(runs_limit_read(tree_root, HOLDER, &l));
	assert_false(runs_limit_read(tree_root, 77, &l));
}

static void damaged_files_say_nothing(void **state)
{
	struct proc *p = *state;

	tree_file("9/task/9/stat", "9 (a) R 1 2");
	tree_file("stat", "cpu 1\ncpu0\ncpu99999999 1 2 3 4 5 6 7 8\nx");
	tree_file("9/cgroup", "0::no\n:::\n");
	look(p, 1000, false);
	look(p, 2000, false);
	assert_int_equal(p->snap.n_runs, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(policies_are_of_stat),	   TEST(what_changed_is_of_the_time_between),
		TEST(with_bpf_only_steal_is_read), TEST(version_1_has_limits_as_well),
		TEST(damaged_files_say_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
