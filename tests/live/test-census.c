// SPDX-License-Identifier: GPL-2.0-only
/*
 * The census of blocked tasks against /proc, while threads fight for the mmap_lock of their
 * process. A walk through /proc takes as long as hundreds of their sleeps, so two sums are hardly
 * ever equal. But how often a thread has had a CPU is in its schedstat: one that is in state D
 * before and after the snapshot, and that no CPU has had since, was in state D during the snapshot,
 * and must be there. One that slept in another state all that time must not be there.
 *
 *     test-census [LOOKS [THREADS]]
 */
#include "kontend/clock.h"
#include "kontend/hash.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/procfs.h"
#include "kontend/snapshot-locks.h"
#include "kontend/sysinfo.h"
#include "live.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOKS = 40, THREADS = 32, PARENTS = 4, PAUSE_US = 20000, WAIT_US = 1000, MAPPED = 1 << 18 };
enum { SMALL = 1024, DIR_SIZE = 64 };

static int failures;

/* A thread in one pass. */
struct seen {
	uint64_t runs, start; /* how often it got a CPU; since the kernel started, in ticks */
	int32_t tid;
	char state;
};

struct pass {
	struct seen *tasks;
	size_t n, cap;
	struct map64 at; /* TID -> index */
	uint64_t ns;
};

/* Field 3 of a line of scheduling statistics. */
static bool read_runs(const char *dir, int32_t tid, uint64_t *ret)
{
	char path[SMALL], text[SMALL];
	const char *at = text;
	uint64_t unused;

	snprintf(path, sizeof(path), "%s/%d/schedstat", dir, tid);
	return sysinfo_read(path, text, sizeof(text)) > 0 &&
	       number_take(&at, UINT64_MAX, &unused) == 0 && *at++ == ' ' &&
	       number_take(&at, UINT64_MAX, &unused) == 0 && *at++ == ' ' &&
	       number_take(&at, UINT64_MAX, ret) == 0;
}

/* Fields 3 and 22. */
static bool read_state(const char *dir, int32_t tid, struct seen *ret)
{
	char path[SMALL], text[SMALL];

	snprintf(path, sizeof(path), "%s/%d/stat", dir, tid);
	const char *at = sysinfo_read(path, text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	if (!at || at[1] != ' ')
		return false;
	ret->state = at[2];
	at += 2;
	for (int i = 3; at && i < 22; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && number_take(&at, UINT64_MAX, &ret->start) == 0;
}

/* @first: then the runs are read before the state, else after it, so they cover both states. */
static void see_thread(struct pass *p, const char *dir, int32_t tid, bool first)
{
	struct seen s = {.tid = tid};

	if (first && !read_runs(dir, tid, &s.runs))
		return;
	if (!read_state(dir, tid, &s) || (!first && !read_runs(dir, tid, &s.runs)))
		return;
	if (mem_grow(&p->tasks, &p->cap, p->n, sizeof(s)) ||
	    map64_put(&p->at, (uint32_t)tid, (uint32_t)p->n) < 0)
		abort();
	p->tasks[p->n++] = s;
}

static void look_at_proc(struct pass *p, bool first)
{
	uint64_t from = clock_now_ns();
	DIR *proc = opendir("/proc");
	pid_t *tids = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;
	uint64_t pid;

	p->n = 0;
	map64_clear(&p->at);
	while (proc && (e = readdir(proc)) != NULL) {
		char dir[DIR_SIZE];
		if (number_parse(e->d_name, 1, INT_MAX, &pid) < 0)
			continue;
		n = 0;
		(void)procfs_tids("/proc", (pid_t)pid, &tids, &n, &cap);
		snprintf(dir, sizeof(dir), "/proc/%d/task", (int)pid);
		for (size_t i = 0; i < n; i++)
			see_thread(p, dir, tids[i], first);
	}
	if (proc)
		closedir(proc);
	mem_free(tids);
	p->ns = clock_now_ns() - from;
}

static const struct seen *find(const struct pass *p, int32_t tid)
{
	const uint32_t *at = map64_get(&p->at, (uint32_t)tid);

	return at ? &p->tasks[*at] : NULL;
}

/* The state in which it slept during all of that time; 0: it ran, or may have. */
static char slept_in(const struct seen *before, const struct seen *after)
{
	bool same = before && after && before->start == after->start &&
		    before->runs == after->runs && before->state == after->state;

	return same && before->state != 'R' ? before->state : 0;
}

/* Sums over all looks. */
struct sums {
	unsigned long looks, before, after, stable, census, possible, most;
	uint64_t walk_ns, census_ns;
};

static size_t count_d(const struct pass *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->tasks[i].state == 'D';
	return n;
}

/* Those of the census in state D, which slept in no other one. */
static size_t check_census(const struct locksnap *s, const struct pass *before,
			   const struct pass *after, struct map64 *ret)
{
	size_t n = 0;

	map64_clear(ret);
	for (size_t i = 0; i < s->n_blocked; i++) {
		const struct locksnap_blocked *b = &s->blocked[i];
		char state = slept_in(find(before, b->tid), find(after, b->tid));
		if (b->state != LOCKSNAP_BLOCKED_D)
			continue;
		n++;
		live_check(&failures, !map64_get(ret, (uint32_t)b->tid), "%d is there twice",
			   b->tid);
		if (map64_put(ret, (uint32_t)b->tid, 1) < 0)
			abort();
		live_check(&failures, !state || state == 'D',
			   "%s/%d is there in state D, but slept in state %c",
			   locksnap_text(s, b->comm), b->tid, state);
	}
	return n;
}

static void compare(const struct locksnap *s, const struct pass *before, const struct pass *after,
		    struct sums *to)
{
	static struct map64 in_d;
	size_t n = check_census(s, before, after, &in_d), stable = 0, fixed = 0;

	for (size_t i = 0; i < before->n; i++) {
		const struct seen *t = &before->tasks[i];
		char state = slept_in(t, find(after, t->tid));
		fixed += state && state != 'D';
		if (state != 'D')
			continue;
		stable++;
		live_check(
			&failures, map64_get(&in_d, (uint32_t)t->tid) != NULL,
			"%d slept in state D before, during and after the snapshot, which has it "
			"not",
			t->tid);
	}
	to->looks++;
	to->before += count_d(before);
	to->after += count_d(after);
	to->stable += stable;
	to->possible += before->n - fixed;
	to->census += n;
	to->most = n > to->most ? n : to->most;
	to->walk_ns += before->ns + after->ns;
	to->census_ns += s->head.cost_ns;
}

/* Each of these maps and unmaps, for which it needs the mmap_lock. */
static void *map_memory(void *arg)
{
	for (;;) {
		char *at = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (at == MAP_FAILED)
			abort();
		memset(at, 1, MAPPED);
		munmap(at, MAPPED);
	}
	return arg;
}

static void *wait_for_child(void *arg)
{
	pid_t child = vfork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return arg;
}

static void begin(void *(*run)(void *), int n)
{
	pthread_t t;

	for (int i = 0; i < n; i++)
		if (pthread_create(&t, NULL, run, NULL))
			abort();
}

static bool parents_sleep(void)
{
	pid_t *tids = NULL;
	size_t n = 0, cap = 0, in_d = 0;

	(void)procfs_tids("/proc", getpid(), &tids, &n, &cap);
	for (size_t i = 0; i < n; i++) {
		struct seen s;
		in_d += read_state("/proc/self/task", tids[i], &s) && s.state == 'D';
	}
	mem_free(tids);
	return in_d == PARENTS;
}

static _Noreturn void fight(int threads, int tell)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "census-test");
	begin(wait_for_child, PARENTS);
	while (!parents_sleep())
		usleep(WAIT_US);
	begin(map_memory, threads);
	if (write(tell, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start(int threads)
{
	int begun[2];
	char one;

	if (pipe(begun) < 0)
		abort();
	pid_t child = fork();
	if (child == 0)
		fight(threads, begun[1]);
	close(begun[1]);
	if (read(begun[0], &one, 1) != 1)
		abort();
	return child;
}

static void look(struct snapshot_locks *w, struct sums *to)
{
	static struct pass before, after;
	static struct locksnap s;
	struct error err = {0};

	usleep((useconds_t)random() % PAUSE_US);
	look_at_proc(&before, true);
	live_must(snapshot_locks_take(w, NULL, 0, &s, &err), &err);
	look_at_proc(&after, false);
	live_check(&failures, s.head.knows_blocked, "not known: %s",
		   locksnap_text(&s, s.head.no_sleepers));
	compare(&s, &before, &after, to);
}

static double mean(unsigned long sum, const struct sums *s)
{
	return (double)sum / (double)s->looks;
}

int main(int argc, char **argv)
{
	unsigned long looks = argc > 1 ? strtoul(argv[1], NULL, 10) : LOOKS;
	int threads = argc > 2 ? atoi(argv[2]) : THREADS;
	struct snapshot_locks *w;
	struct error err = {0};
	struct sums s = {0};

	live_need_root();
	pid_t child = start(threads);
	live_must(snapshot_locks_new(&w, false, NULL, &err), &err);
	while (s.looks < looks)
		look(w, &s);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	snapshot_locks_free(w);
	printf("%lu looks; in state D %.1f before, %.1f in the census, %.1f after; %.1f all the "
	       "time, %.1f possible\nwalk %.2f ms, census %.2f ms\n",
	       s.looks, mean(s.before, &s), mean(s.census, &s), mean(s.after, &s),
	       mean(s.stable, &s), mean(s.possible, &s), (double)s.walk_ns / 2e6 / (double)s.looks,
	       (double)s.census_ns / 1e6 / (double)s.looks);
	live_check(&failures, s.stable >= PARENTS * looks, "too few slept all the time");
	return failures != 0;
}
