// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps in state D: a process sleeps so each time that its child of vfork() runs, for a
 * time that the child takes itself. The number of sleeps, their time and the waker are checked;
 * a sleep that had begun before is in no sum, nor is one of a process that is not measured.
 */
#include "kontend/clock.h"
#include "kontend/snapshot-slept.h"
#include "kontend/target.h"
#include "kontend/waitfeed.h"
#include "live.h"
#include "workloads/asleep.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 20, SLEEP_NS = 50000000, SETTLE_NS = 1000000 };

static int failures;
static struct waitfeed *feed; /* that has the programs */

/* Times and events of the children and their parent; shared. */
static struct seen {
	volatile uint64_t child_ns, wall_ns;
	volatile int waker;
	volatile int begun, go_on;
} * seen;

static void sleep_ns(long ns)
{
	const struct timespec t = {.tv_nsec = ns};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* One sleep of this process: it lasts for at least as long as the child measures. */
static void sleep_once(pid_t parent)
{
	uint64_t from = clock_now_ns();
	pid_t child = vfork();

	if (child == 0) {
		wait_until_asleep(parent);
		uint64_t begin = clock_now_ns();
		seen->begun = 1;
		do
			sleep_ns(SLEEP_NS);
		while (!seen->go_on);
		seen->child_ns += clock_now_ns() - begin;
		_exit(0);
	}
	seen->wall_ns += clock_now_ns() - from;
	seen->waker = child;
	waitpid(child, NULL, 0);
}

static pid_t start(int times)
{
	*seen = (struct seen){.go_on = times > 1};
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "slept-test");
	for (int i = 0; i < times; i++)
		sleep_once(getpid());
	_exit(0);
}

/* Where the code of a kernel function begins and ends; both 0: not known. */
static void find_function(const char *name, uint64_t *ret_from, uint64_t *ret_to)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256];
	uint64_t addr;

	*ret_from = *ret_to = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, symbol) != 2)
			continue;
		if (strcmp(symbol, name) == 0)
			*ret_from = addr;
		else if (*ret_from && addr > *ret_from && (!*ret_to || addr < *ret_to))
			*ret_to = addr;
	}
	if (f)
		fclose(f);
}

static bool is_called_in(const struct sleptsnap *s, const struct sleptsnap_row *r, uint64_t from,
			 uint64_t to)
{
	for (uint32_t i = 0; i < r->n_frames; i++)
		if (s->frames[r->frame + i] >= from && s->frames[r->frame + i] < to)
			return true;
	return false;
}

/* The sleeps of @pid for children of vfork(), which are in kernel_clone(). */
static struct sleptsnap_row sum_of(struct snapshot_slept *w, pid_t pid)
{
	struct sleptsnap_row sum = {0};
	struct sleptsnap s = {0};
	uint64_t from, to;

	find_function("kernel_clone", &from, &to);
	live_check(&failures, from && to, "kernel_clone is not in kallsyms");
	live_check(&failures, snapshot_slept_take(w, &s) == 0 && !s.head.reason, "no sums: %s",
		   sleptsnap_text(&s, s.head.reason));
	for (size_t i = 0; i < s.n_rows; i++) {
		const struct sleptsnap_row *r = &s.rows[i];
		if (r->pid != pid || !is_called_in(&s, r, from, to))
			continue;
		live_check(&failures, strcmp(sleptsnap_text(&s, r->comm), "slept-test") == 0,
			   "its name is %s", sleptsnap_text(&s, r->comm));
		live_check(&failures, r->kind == LOCKSNAP_DISK, "its kind is %u", r->kind);
		sum.sleeps += r->sleeps;
		sum.total_ns += r->total_ns;
		sum.max_ns = r->max_ns > sum.max_ns ? r->max_ns : sum.max_ns;
		/* Another one's program at the tracepoint adds a frame, and so a row. */
		if (!sum.waker || r->waker == seen->waker)
			sum.waker = r->waker;
	}
	live_check(&failures, !s.head.dropped, "%" PRIu64 " sleeps were dropped", s.head.dropped);
	sleptsnap_deinit(&s);
	return sum;
}

static struct snapshot_slept *open_slept(const struct target *t)
{
	struct snapshot_slept *w;
	struct sleptsnap s = {0};
	struct error err = {0};

	const struct waitfeed_options o = {.target = t, .sleeps = true};

	int code = waitfeed_new(&feed, &o, NULL, &err);
	code = code < 0 ? code : snapshot_slept_new(&w, feed, t, SNAPSHOT_SLEPT_ALL_PPM, &err);
	if (code == -EPERM || code == -ENOTSUP) {
		printf("%s\n", err.text);
		exit(LIVE_SKIP);
	}
	live_must(code, &err);
	live_check(&failures, snapshot_slept_take(w, &s) == 0, "the first snapshot failed");
	live_check(&failures, !s.head.reason, "nothing is summed up: %s",
		   sleptsnap_text(&s, s.head.reason));
	sleptsnap_deinit(&s);
	return w;
}

static void close_slept(struct snapshot_slept *w)
{
	snapshot_slept_free(w);
	waitfeed_free(feed);
}

static void check_sums(const struct target *t)
{
	struct snapshot_slept *w = open_slept(t);
	pid_t pid = start(TIMES);

	waitpid(pid, NULL, 0);
	const struct sleptsnap_row sum = sum_of(w, pid);
	live_check(&failures, sum.sleeps == TIMES, "it slept %" PRIu64 " times", sum.sleeps);
	live_check(&failures, sum.total_ns >= seen->child_ns && sum.total_ns <= seen->wall_ns,
		   "it slept for %" PRIu64 " ns, children took %" PRIu64 ", calls %" PRIu64,
		   sum.total_ns, seen->child_ns, seen->wall_ns);
	live_check(&failures,
		   sum.max_ns >= seen->child_ns / TIMES && sum.max_ns <= sum.total_ns / 2,
		   "the longest took %" PRIu64 " ns", sum.max_ns);
	live_check(&failures, sum.waker == seen->waker, "task %d has woken it, not %d", sum.waker,
		   seen->waker);
	/* Sums only grow. */
	live_check(&failures, sum_of(w, pid).sleeps == TIMES, "a sleep is gone");
	close_slept(w);
}

static void check_begun_before(void)
{
	pid_t pid = start(1);

	while (!seen->begun)
		sleep_ns(SETTLE_NS);
	struct snapshot_slept *w = open_slept(NULL);
	seen->go_on = 1;
	waitpid(pid, NULL, 0);
	const struct sleptsnap_row sum = sum_of(w, pid);
	live_check(&failures, !sum.sleeps, "a sleep that had begun before took %" PRIu64 " ns",
		   sum.total_ns);
	close_slept(w);
}

/* A sleep that lasts is in no sum yet, but counted, with its time. */
static void check_lasting(const struct target *one)
{
	struct snapshot_slept *w = open_slept(one);
	struct sleptsnap s = {0};
	pid_t pid = start(1);

	while (!seen->begun)
		sleep_ns(SETTLE_NS);
	uint64_t from = clock_now_ns();
	sleep_ns(SLEEP_NS);
	uint64_t least = clock_now_ns() - from;
	live_check(&failures,
		   snapshot_slept_take(w, &s) == 0 && s.head.now >= 1 && s.head.now_ns >= least,
		   "%" PRIu64 " tasks sleep, for %" PRIu64 " ns", s.head.now, s.head.now_ns);
	seen->go_on = 1;
	waitpid(pid, NULL, 0);
	live_check(&failures, snapshot_slept_take(w, &s) == 0 && !s.head.now && !s.head.now_ns,
		   "%" PRIu64 " tasks sleep at the end", s.head.now);
	sleptsnap_deinit(&s);
	close_slept(w);
}

static void check_others(void)
{
	pid_t nobody = 1 << 22; /* above any that a kernel gives */
	const struct target t = {.kind = TARGET_PIDS, .ids = &nobody, .n_ids = 1};
	struct snapshot_slept *w = open_slept(&t);
	pid_t pid = start(2);

	waitpid(pid, NULL, 0);
	const struct sleptsnap_row sum = sum_of(w, pid);
	live_check(&failures, !sum.sleeps, "a process that is not measured slept %" PRIu64 " times",
		   sum.sleeps);
	close_slept(w);
}

int main(void)
{
	pid_t own = getpid();
	const struct target one = {.kind = TARGET_PIDS, .ids = &own, .n_ids = 1};

	live_need_root();
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return LIVE_SKIP;
	check_sums(NULL);
	check_sums(&one);
	check_begun_before();
	check_lasting(&one);
	check_others();
	return failures != 0;
}
