// SPDX-License-Identifier: GPL-2.0-only
/*
 * A herd of processes that take turns with flock(2) on one file, as cron jobs with a lock file do:
 * one has it and sleeps, the others wait in the kernel, which has no event for that.
 */
#include "kontend/clock.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HERD = 12, TURNS = 8, HELD_NS = 25000000, APART_NS = 1000000, PATH = 512 };

static const char lock_name[] = "/cron.lock";

/* Where the file is: below $TMPDIR, /dev/shm or /tmp, by the process that cleans up. */
static void path_of(pid_t guard, const char *name, char ret[PATH])
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base || strlen(base) > PATH / 2)
		base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(ret, PATH, "%s/kontend-story-%d%s", base, (int)guard, name);
}

void story_flock_remove(pid_t guard)
{
	char path[PATH];

	path_of(guard, lock_name, path);
	unlink(path);
	path_of(guard, "", path);
	rmdir(path);
}

/* Each process writes one, and no other. */
struct member {
	uint64_t most_ns, sum_ns, n;
	int code;
};

/* Every process opens the file itself: a lock belongs to the open file. */
static int take_turns(const char *path, struct member *m)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (int i = 0; i < TURNS; i++) {
		uint64_t from = clock_now_ns();
		if (flock(fd, LOCK_EX) < 0)
			return -errno;
		story_work_add(&m->most_ns, &m->sum_ns, clock_now_ns() - from);
		m->n++;
		clock_sleep_ns(HELD_NS);
		flock(fd, LOCK_UN);
		clock_sleep_ns(APART_NS);
	}
	return 0;
}

static pid_t start(const char *path, struct member *m)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "cron-job");
	if (getppid() == parent)
		m->code = take_turns(path, m);
	_exit(m->code != 0);
}

/* 0, or the first error of them. */
static int run(const char *path, struct member members[HERD])
{
	pid_t pids[HERD];
	int n = 0, code = 0;

	while (n < HERD && (pids[n] = start(path, &members[n])) > 0)
		n++;
	if (n < HERD)
		code = -errno;
	for (int i = 0; i < n; i++) {
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
		code = code ? code : members[i].code;
	}
	return code;
}

static void put(struct bench_figures *ret, const struct member members[HERD], uint64_t took_ns)
{
	static const struct bench_metric number = {"number", "1", BENCH_FACT},
					 longest = {"longest", "ns", BENCH_LOWER},
					 total = {"total", "ns", BENCH_LOWER},
					 tasks = {"tasks", "1", BENCH_FACT};
	uint64_t most = 0, sum = 0, n = 0;

	for (int i = 0; i < HERD; i++) {
		n += members[i].n;
		sum += members[i].sum_ns;
		most = members[i].most_ns > most ? members[i].most_ns : most;
	}
	bench_figures_put(ret, &number, (double)n, "flock");
	bench_figures_put(ret, &longest, (double)most, "flock");
	bench_figures_put(ret, &total, (double)sum, "flock");
	bench_figures_put(ret, &tasks, took_ns ? (double)sum / (double)took_ns : 0, "flock");
}

int story_work_flock(struct bench_figures *ret, struct error *err)
{
	struct member *members = mmap(NULL, HERD * sizeof(*members), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t from = clock_now_ns();
	char path[PATH];

	if (members == MAP_FAILED)
		return error_errno(err, -errno, "Cannot start processes");
	path_of(getppid(), "", path);
	int code = mkdir(path, 0700) < 0 ? -errno : 0;
	path_of(getppid(), lock_name, path);
	int fd = code < 0 ? -1 : open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (code == 0 && fd < 0)
		code = -errno;
	if (code == 0)
		code = run(path, members);
	if (code == 0)
		put(ret, members, clock_now_ns() - from);
	if (fd >= 0)
		close(fd);
	munmap(members, HERD * sizeof(*members));
	return code < 0 ? error_errno(err, code, "Cannot have processes lock the file %s", path)
			: 0;
}
