// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes move others between two cgroups, as container runtimes move those that they start, at
 * the same moments, while one forks. A move takes cgroup_mutex, and is a writer of
 * cgroup_threadgroup_rwsem, a per-CPU rwsem: it waits for a grace period of RCU first, and then for
 * the readers, each of which is a fork or an exit. Moves that follow each other at once share a
 * grace period, so that the rounds are apart.
 */
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOVERS = 3, MOVES = 30, APART_NS = 60000000, REST_NS = 1000000, TRIES = 50 };

static const char *const names[] = {"", "/from", "/to"};

/* Each process writes one, and no other. */
struct member {
	uint64_t most_ns, sum_ns, n;
	int code;
};

struct herd {
	atomic_bool is_over;
	uint64_t start_ns;
	pid_t guard;
	struct member movers[MOVERS], forker;
};

/* Where they are: "", "/from" or "/to" below one whose name has the process that cleans up. */
static int path_of(pid_t guard, const char *name, char ret[CGROUP_PATH])
{
	char mount[CGROUP_PATH];

	if (cgroup_search("/proc/self/mounts", mount, sizeof(mount)) < 0)
		return -ENOENT;
	if (snprintf(ret, CGROUP_PATH, "%s/kontend-story-%d%s", mount, (int)guard, name) >=
	    CGROUP_PATH)
		return -ENAMETOOLONG;
	return 0;
}

int story_cgroup_check(struct error *err)
{
	char mount[CGROUP_PATH];

	if (cgroup_search("/proc/self/mounts", mount, sizeof(mount)) < 0)
		return error_set(err, -EOPNOTSUPP, "No cgroup file system is mounted here");
	if (access(mount, W_OK) < 0)
		return error_errno(err, -errno, "Cannot make cgroups in %s", mount);
	return 0;
}

void story_cgroup_remove(pid_t guard)
{
	char path[CGROUP_PATH];

	for (size_t i = sizeof(names) / sizeof(*names); i-- > 0;) {
		if (path_of(guard, names[i], path) < 0)
			return;
		/* Tasks that have been killed leave it a moment later. */
		for (int n = 0; n < TRIES && rmdir(path) < 0 && errno == EBUSY; n++)
			clock_sleep_ns(REST_NS);
	}
}

static int make(pid_t guard)
{
	char path[CGROUP_PATH];
	int code = 0;

	for (size_t i = 0; code == 0 && i < sizeof(names) / sizeof(*names); i++) {
		code = path_of(guard, names[i], path);
		if (code == 0 && mkdir(path, 0755) < 0 && errno != EEXIST)
			code = -errno;
	}
	return code;
}

/* The descriptor that moves a process into it. */
static int open_procs(pid_t guard, const char *name)
{
	char path[CGROUP_PATH];
	int code = path_of(guard, name, path);
	size_t n = strlen(path);

	if (code < 0 || n + sizeof("/cgroup.procs") > sizeof(path))
		return code < 0 ? code : -ENAMETOOLONG;
	strcpy(path + n, "/cgroup.procs");
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void end(pid_t pid, bool kills)
{
	if (pid <= 0)
		return;
	if (kills)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void fork_on(struct herd *h, struct member *m)
{
	while (!h->is_over && m->code == 0) {
		uint64_t from = clock_now_ns();
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		m->code = pid < 0 ? -errno : 0;
		story_work_add(&m->most_ns, &m->sum_ns, clock_now_ns() - from);
		m->n++;
		end(pid, false);
		clock_sleep_ns(REST_NS);
	}
}

static int move_once(pid_t moved, int fd, struct member *m)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", (int)moved);
	uint64_t from = clock_now_ns();

	if (write(fd, text, (size_t)n) != n)
		return -errno;
	story_work_add(&m->most_ns, &m->sum_ns, clock_now_ns() - from);
	m->n++;
	return 0;
}

static pid_t start_moved(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "container");
	while (getppid() == parent)
		pause();
	_exit(0);
}

/* Its own child. An open file has a lock of its own, so each process opens them itself. */
static void move_on(struct herd *h, struct member *m)
{
	const int fds[2] = {open_procs(h->guard, names[1]), open_procs(h->guard, names[2])};
	pid_t moved = fds[0] < 0 || fds[1] < 0 ? 0 : start_moved();

	m->code = moved < 0 ? -errno : fds[0] < 0 ? fds[0] : fds[1] < 0 ? fds[1] : 0;
	for (uint64_t i = 0; i < MOVES && m->code == 0; i++) {
		uint64_t at = h->start_ns + i * APART_NS, now = clock_now_ns();
		if (at > now)
			clock_sleep_ns(at - now);
		m->code = move_once(moved, fds[i % 2], m);
	}
	end(moved, true);
}

static pid_t start(struct herd *h, struct member *m, const char *name,
		   void (*act)(struct herd *h, struct member *m))
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	if (getppid() == parent)
		act(h, m);
	_exit(0);
}

static int run_herd(struct herd *h)
{
	pid_t pids[MOVERS] = {0}, forker = start(h, &h->forker, "forker", fork_on);
	int code = forker < 0 ? -errno : 0;

	h->start_ns = clock_now_ns() + APART_NS;
	for (int i = 0; code == 0 && i < MOVERS; i++)
		if ((pids[i] = start(h, &h->movers[i], "runtime", move_on)) < 0)
			code = -errno;
	for (int i = 0; i < MOVERS; i++) {
		end(pids[i], false);
		code = code ? code : h->movers[i].code;
	}
	h->is_over = true;
	end(forker, false);
	return code ? code : h->forker.code;
}

static void put(struct bench_figures *ret, const char *of, const struct member *m)
{
	static const struct bench_metric number = {"number", "1", BENCH_FACT},
					 longest = {"longest", "ns", BENCH_LOWER},
					 average = {"average", "ns", BENCH_LOWER};

	bench_figures_put(ret, &number, (double)m->n, "%s", of);
	bench_figures_put(ret, &longest, (double)m->most_ns, "%s", of);
	bench_figures_put(ret, &average, m->n ? (double)m->sum_ns / (double)m->n : 0, "%s", of);
}

int story_work_cgroup(struct bench_figures *ret, struct error *err)
{
	struct herd *h =
		mmap(NULL, sizeof(*h), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct member moves = {0};

	if (h == MAP_FAILED)
		return error_errno(err, -errno, "Cannot start processes");
	h->guard = getppid();
	int code = make(h->guard);
	if (code == 0)
		code = run_herd(h);
	for (int i = 0; i < MOVERS; i++) {
		moves.n += h->movers[i].n;
		moves.sum_ns += h->movers[i].sum_ns;
		if (h->movers[i].most_ns > moves.most_ns)
			moves.most_ns = h->movers[i].most_ns;
	}
	put(ret, "moves", &moves);
	put(ret, "forks", &h->forker);
	munmap(h, sizeof(*h));
	return code < 0 ? error_errno(err, code, "Cannot move a process between cgroups") : 0;
}
