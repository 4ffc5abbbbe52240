// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch-pair N SECONDS [CGROUP CGROUP]: two processes on CPU 0 that pass a byte to and fro, each
 * with N counters of its own for whatever CPU, or each in one of the cgroups, of which there are N
 * counters on that CPU; a few hundred times a second, since switching counters is slow where they
 * are emulated. Says "ready" with their numbers, and after SECONDS, or SIGTERM, how long half a
 * round took, which is a context switch: the median, by the clock of the one who begins each.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 18, ROUNDS = 10, PAUSE_NS = 10000000 };

struct shared {
	size_t n;
	uint64_t ns[MOST];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* One byte in each direction and back; the process that begins takes the time. */
static void play(const int in[2], const int out[2], struct shared *times)
{
	char byte = 0;

	for (unsigned i = 0;; i++) {
		if (times && i % ROUNDS == 0)
			nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
		uint64_t from = now();
		if (times && write(out[1], &byte, 1) != 1)
			_exit(1);
		if (read(in[0], &byte, 1) != 1)
			_exit(1);
		if (!times && write(out[1], &byte, 1) != 1)
			_exit(1);
		if (times && times->n < MOST)
			times->ns[times->n++] = now() - from;
	}
}

/* Moves the calling process into the cgroup. */
static void enter(const char *cgroup)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	FILE *f = fopen(path, "w");
	if (!f || fputs("0", f) < 0 || fclose(f)) {
		perror(path);
		_exit(1);
	}
}

static pid_t start(const char *cgroup, const int go[2], const int in[2], const int out[2],
		   struct shared *times)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	on_cpu(0);
	if (cgroup)
		enter(cgroup);
	if (read(go[0], &byte, 1) == 1)
		play(in, out, times);
	_exit(1);
}

/* @cgroup: of its tasks on CPU 0, in place of @pid. */
static void open_events(pid_t pid, const char *cgroup, int n)
{
	int dir = cgroup ? open(cgroup, O_RDONLY | O_DIRECTORY) : -1;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	for (int i = 0; i < n;) {
		if (syscall(SYS_perf_event_open, &attr, cgroup ? dir : pid, cgroup ? 0 : -1, -1,
			    cgroup ? PERF_FLAG_PID_CGROUP : 0) >= 0) {
			i++;
		} else if (cgroup && attr.type == PERF_TYPE_HARDWARE) {
			/* A machine without counters switches cgroups, too. */
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_CPU_CLOCK;
		} else {
			perror("perf_event_open");
			exit(1);
		}
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void wait_for(double seconds, pid_t one, pid_t other)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	printf("ready %d %d\n", one, other);
	fflush(stdout);
	sigtimedwait(&end, NULL, &t);
}

int main(int argc, char **argv)
{
	struct rlimit many = {1 << 12, 1 << 12};
	int go[2], a[2], b[2];

	const char *groups[2] = {NULL, NULL};

	if ((argc != 3 && argc != 5) || pipe(go) || pipe(a) || pipe(b))
		return 2;
	struct shared *times = mmap(NULL, sizeof(*times), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (times == MAP_FAILED)
		return 2;
	setrlimit(RLIMIT_NOFILE, &many);
	for (int i = 3; i < argc; i++)
		groups[i - 3] = argv[i];
	pid_t one = start(groups[0], go, a, b, times), other = start(groups[1], go, b, a, NULL);
	on_cpu(1);
	open_events(one, groups[0], atoi(argv[1]));
	open_events(other, groups[1], atoi(argv[1]));
	if (write(go[1], "go", 2) != 2)
		return 2;
	wait_for(atof(argv[2]), one, other);
	kill(one, SIGKILL);
	kill(other, SIGKILL);
	waitpid(one, NULL, 0);
	waitpid(other, NULL, 0);
	qsort(times->ns, times->n, sizeof(times->ns[0]), by_size);
	printf("pair n=%s rounds=%zu switch_ns=%" PRIu64 "\n", argv[1], times->n,
	       times->n ? times->ns[times->n / 2] / 2 : 0);
	return 0;
}
