// SPDX-License-Identifier: GPL-2.0-only
/*
 * What looking at perf events costs: a snapshot, at 1000 events in one process, and at 500
 * processes of 20 descriptors with 1000 events among them (goals 1 ms and 10 ms); and how much
 * slower a program gets that opens and closes breakpoints as fast as it can, on all CPUs, while the
 * inspector, and all of kontend, looks once and ten times a second (goal: below 2 %). Runs are
 * interleaved; figures are medians. What the others take from each other is in the same run.
 *
 *     inspect KONTEND [ROUNDS [OPENS]]
 */
#include "kontend/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 500, FDS = 20, EVENTS = 1000, SNAPSHOTS = 101, MOST_ROUNDS = 99, THREADS = 16 };

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return n ? v[n / 2] : 0;
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void open_events(int n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};

	for (int i = 0; i < n; i++)
		if (open_event(&attr, 0, -1) < 0) {
			perror("inspect: perf_event_open");
			_exit(1);
		}
}

/* A process with @fds descriptors, @events of them perf events; tells when it has them. */
static pid_t start_holder(int fds, int events, int told)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_events(events);
	for (int i = events; i < fds; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			_exit(1);
	if (write(told, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void time_snapshots(const char *state)
{
	struct inspect_options o = {0};
	struct inspect *i;
	struct error err = {0};
	struct snap s = {0};
	double us[SNAPSHOTS], cpu[SNAPSHOTS];

	if (inspect_bpf_new(&i, &o, &err) < 0) {
		printf("%s: %s\n", state, err.text);
		return;
	}
	for (int k = 0; k < SNAPSHOTS; k++) {
		uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (inspect_take(i, INSPECT_ALL, &s, &err) < 0) {
			printf("%s: %s\n", state, err.text);
			break;
		}
		cpu[k] = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - from) / 1000;
		us[k] = (double)s.head.cost_ns / 1000;
	}
	double all = median(us, SNAPSHOTS), ours = median(cpu, SNAPSHOTS);
	printf("%-44s %6.0f us, CPU %6.0f us (least %.0f)  %zu events, %zu contexts, %zu fds\n",
	       state, all, ours, cpu[0], s.n_events, s.n_contexts, s.n_holders);
	snap_deinit(&s);
	inspect_free(i);
}

/* In the presence of @n processes; the first has @first events, each has @each. */
static void time_state(const char *state, int n, int fds, int events)
{
	pid_t *pids = calloc((size_t)n + 1, sizeof(*pids));
	int told[2], started = 0;
	char byte;

	if (!pids || pipe(told) < 0)
		return;
	fflush(stdout);
	for (; started < n; started++) {
		pids[started] = start_holder(fds, events, told[1]);
		if (pids[started] < 0 || read(told[0], &byte, 1) != 1)
			break;
	}
	time_snapshots(state);
	for (int i = 0; i < started; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(told[0]);
	close(told[1]);
	free(pids);
}

static long opens;

static void *churn(void *arg)
{
	static const long watched = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	for (long i = 0; i < opens; i++) {
		int fd = open_event(&attr, 0, -1);
		if (fd >= 0)
			close(fd);
	}
	return arg;
}

struct figures {
	double elapsed, cpu;
};

/* A process with a thread a CPU; what it takes. */
static struct figures run_churn(void)
{
	struct rusage before, after;
	uint64_t from = now_ns(CLOCK_MONOTONIC);
	int status;

	getrusage(RUSAGE_CHILDREN, &before);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t threads[THREADS];
		long n = sysconf(_SC_NPROCESSORS_ONLN);
		n = n > THREADS ? THREADS : n;
		for (long i = 0; i < n; i++)
			if (pthread_create(&threads[i], NULL, churn, NULL))
				_exit(1);
		for (long i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	uint64_t to = now_ns(CLOCK_MONOTONIC);
	getrusage(RUSAGE_CHILDREN, &after);
	return (struct figures){
		(double)(to - from) / 1e9,
		(double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
			(double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
			(double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6 +
			(double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6};
}

static void look_on(unsigned pause_us)
{
	struct inspect_options o = {0};
	struct inspect *i;
	struct error err = {0};
	struct snap s = {0};

	if (inspect_new(&i, &o, &err) < 0)
		_exit(1);
	for (;;) {
		if (inspect_take(i, INSPECT_ALL, &s, &err) < 0)
			_exit(1);
		usleep(pause_us);
	}
}

struct way {
	const char *name;
	unsigned pause_us;
	const char *delay; /* of kontend; NULL: the inspector alone */
	struct figures runs[MOST_ROUNDS];
};

static pid_t start_watcher(const struct way *w, const char *kontend)
{
	pid_t pid;

	if (!w->pause_us && !w->delay)
		return 0;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!w->delay)
			look_on(w->pause_us);
		execl(kontend, "kontend", "report", "--quiet", "--duration", "1h", "--delay",
		      w->delay, "--output", "/dev/null", (char *)NULL);
		_exit(127);
	}
	usleep(700000); /* until it looks */
	return pid;
}

static void compare(const char *kontend, int rounds)
{
	static struct way ways[] = {
		{.name = "nobody looks"},
		{.name = "the inspector, once a second", .pause_us = 1000000},
		{.name = "the inspector, 10 a second", .pause_us = 100000},
		{.name = "kontend report --delay 1s", .delay = "1s"},
		{.name = "kontend report --delay 100ms", .delay = "100ms"},
	};
	enum { WAYS = sizeof(ways) / sizeof(*ways) };
	double first[2] = {0};

	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < WAYS; k++) {
			pid_t pid = start_watcher(&ways[k], kontend);
			ways[k].runs[r] = run_churn();
			if (pid > 0) {
				kill(pid, SIGKILL);
				waitpid(pid, NULL, 0);
			}
		}
	for (int k = 0; k < WAYS; k++) {
		double v[2][MOST_ROUNDS], m[2];
		for (int r = 0; r < rounds; r++) {
			v[0][r] = ways[k].runs[r].elapsed;
			v[1][r] = ways[k].runs[r].cpu;
		}
		for (int x = 0; x < 2; x++) {
			m[x] = median(v[x], (size_t)rounds);
			first[x] = k ? first[x] : m[x];
		}
		printf("%-32s %6.3f s %+6.1f %%, CPU %6.3f s %+6.1f %%\n", ways[k].name, m[0],
		       100 * (m[0] / first[0] - 1), m[1], 100 * (m[1] / first[1] - 1));
	}
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	printf("that is %.0f breakpoints a second\n",
	       (double)(opens * (n > THREADS ? THREADS : n)) / first[0]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	struct rlimit files = {EVENTS + 64, EVENTS + 64};

	opens = argc > 3 ? atol(argv[3]) : 50000;
	if (geteuid() != 0) {
		printf("skipped: perf events of all processes need root\n");
		return 77;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	setvbuf(stdout, NULL, _IOLBF, 0);
	time_snapshots("as it is here");
	time_state("1000 events of one process", 1, EVENTS, EVENTS);
	time_state("500 processes of 20 descriptors, 1000 events", PROCESSES, FDS,
		   EVENTS / PROCESSES);
	if (argc > 1)
		compare(argv[1], rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds);
	return 0;
}
