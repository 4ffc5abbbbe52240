// SPDX-License-Identifier: GPL-2.0-only
/*
 * The count of all acquisitions of mmap_locks, which scales the acquisitions that are sampled for a
 * part of the time, for every kind of target: a thread that maps and unmaps is counted at least as
 * often as it did so, and one that sleeps is not counted.
 */
#include "../../src/source/live-internal.h"
#include "kontend/cpulist.h"
#include "kontend/tracefs.h"
#include "live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 500, BYTES = 4096 };

static int failures;
static int asleep[2];

static void map_and_unmap(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			munmap(p, BYTES);
	}
}

static void check(uint32_t id, const char *name, const struct target *t)
{
	struct live_mmap_count c = {0};

	live_mmap_count_open(&c, id, t, 0);
	uint64_t before = live_mmap_count_now(&c);
	map_and_unmap();
	uint64_t n = live_mmap_count_now(&c) - before;
	live_check(&failures, c.n > 0, "%s: nothing is counted", name);
	live_check(&failures, n >= 2 * ROUNDS, "%s: %" PRIu64 " acquisitions, not %d", name, n,
		   2 * ROUNDS);
	live_mmap_count_close(&c);
}

static void *sleeper(void *tid)
{
	char byte;

	*(pid_t *)tid = gettid();
	(void)!write(asleep[1], "", 1);
	/* Until the test ends. */
	pause();
	return read(asleep[0], &byte, 1) < 0 ? tid : NULL;
}

static void check_sleeper(uint32_t id)
{
	struct live_mmap_count c = {0};
	struct target t = {.kind = TARGET_TIDS, .n_ids = 1};
	pthread_t thread;
	pid_t tid = 0;
	char byte;

	if (pipe(asleep) || pthread_create(&thread, NULL, sleeper, &tid) ||
	    read(asleep[0], &byte, 1) != 1) {
		live_check(&failures, false, "no thread that sleeps");
		return;
	}
	t.ids = &tid;
	live_mmap_count_open(&c, id, &t, 0);
	map_and_unmap();
	uint64_t n = live_mmap_count_now(&c);
	live_check(&failures, c.n == 1 && n < ROUNDS, "a thread that sleeps: %" PRIu64, n);
	live_mmap_count_close(&c);
}

static uint32_t find_event(void)
{
	struct tracepoint tp = {0};
	struct error err = {0};
	char path[TRACEFS_PATH];
	uint32_t id = 0;

	if (tracefs_find(path, &err) == 0 &&
	    tracepoint_read(&tp, path, "mmap_lock", "mmap_lock_acquire_returned", &err) == 0)
		id = tp.id;
	else
		printf("%s\n", err.text);
	tracepoint_deinit(&tp);
	return id;
}

int main(void)
{
	char root[] = "/";
	pid_t self = getpid();
	uint32_t *cpus;
	size_t n;

	live_need_root();
	uint32_t id = find_event();
	if (!id || cpulist_read("online", &cpus, &n) < 0)
		return LIVE_SKIP;
	check(id, "all CPUs", &(struct target){.kind = TARGET_SYSTEM});
	check(id, "CPUs", &(struct target){.kind = TARGET_SYSTEM, .cpus = cpus, .n_cpus = n});
	check(id, "cgroup", &(struct target){.kind = TARGET_CGROUP, .cgroup = root});
	check(id, "thread", &(struct target){.kind = TARGET_TIDS, .ids = &self, .n_ids = 1});
	check(id, "process", &(struct target){.kind = TARGET_PIDS, .ids = &self, .n_ids = 1});
	check(id, "process on CPUs",
	      &(struct target){
		      .kind = TARGET_PIDS, .ids = &self, .n_ids = 1, .cpus = cpus, .n_cpus = n});
	check_sleeper(id);
	return failures != 0;
}
