// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of snapshots of perf events: of the slots and of everything, at 1000 events in one
 * process, and at 500 processes of 20 descriptors with 1000 events or breakpoints among them
 * (goals: slots 1 ms, everything 10 ms). inspect-churn measures the cost for other programs.
 */
#include "kontend/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
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

enum { PROCESSES = 500, FDS = 20, EVENTS = 1000, SNAPSHOTS = 101 };

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

static void open_all(struct perf_event_attr *attr, int n)
{
	for (int i = 0; i < n; i++)
		if (open_event(attr, 0, -1) < 0) {
			perror("inspect: perf_event_open");
			_exit(1);
		}
}

static void open_events(int n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};

	open_all(&attr, n);
}

static void open_breakpoints(int n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&attr,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
	};

	open_all(&attr, n);
}

/* A process with @fds descriptors, @events of them perf events; reports when it has opened them. */
static pid_t start_holder(int fds, int events, int reported, void (*open_them)(int n))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_them(events);
	for (int i = events; i < fds; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			_exit(1);
	if (write(reported, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void time_looks(struct inspect *i, enum inspect_what what, const char *state)
{
	struct error err = {0};
	struct perfsnap s = {0};
	double us[SNAPSHOTS], cpu[SNAPSHOTS];

	for (int k = 0; k < SNAPSHOTS; k++) {
		uint64_t from = now_ns(CLOCK_MONOTONIC);
		if (inspect_take(i, what, &s, &err) < 0) {
			printf("%s: %s\n", state, err.text);
			break;
		}
		us[k] = (double)(now_ns(CLOCK_MONOTONIC) - from) / 1000;
		cpu[k] = (double)s.head.cost_ns / 1000;
	}
	double all = median(us, SNAPSHOTS), ours = median(cpu, SNAPSHOTS);
	printf("%-50s %-6s %6.0f us, CPU %6.0f us (least %.0f)  %zu events, %zu contexts, %zu "
	       "fds\n",
	       state, what == INSPECT_SLOTS ? "slots" : "all", all, ours, cpu[0], s.n_events,
	       s.n_contexts, s.n_holders);
	perfsnap_deinit(&s);
}

static void time_snapshots(const char *state)
{
	struct inspect_options o = {0};
	struct inspect *i;
	struct error err = {0};

	if (inspect_bpf_new(&i, &o, &err) < 0) {
		printf("%s: %s\n", state, err.text);
		return;
	}
	time_looks(i, INSPECT_ALL, state);
	time_looks(i, INSPECT_SLOTS, state);
	inspect_free(i);
}

/* In the presence of @n processes; the first has @first events, each has @each. */
static void time_state(const char *state, int n, int fds, int events, void (*open_them)(int n))
{
	pid_t *pids = calloc((size_t)n + 1, sizeof(*pids));
	int reported[2], started = 0;
	char byte;

	if (!pids || pipe(reported) < 0)
		return;
	fflush(stdout);
	for (; started < n; started++) {
		pids[started] = start_holder(fds, events, reported[1], open_them);
		if (pids[started] < 0 || read(reported[0], &byte, 1) != 1)
			break;
	}
	time_snapshots(state);
	for (int i = 0; i < started; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(reported[0]);
	close(reported[1]);
	free(pids);
}

int main(void)
{
	struct rlimit files = {EVENTS + 64, EVENTS + 64};

	if (geteuid() != 0) {
		printf("skipped: perf events of all processes need root\n");
		return 77;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	setvbuf(stdout, NULL, _IOLBF, 0);
	time_state("as it is here", 0, 0, 0, open_events);
	time_state("1000 events of one process", 1, EVENTS, EVENTS, open_events);
	time_state("500 processes of 20 descriptors, 1000 events", PROCESSES, FDS,
		   EVENTS / PROCESSES, open_events);
	time_state("500 processes of 20 descriptors, 1000 breakpoints", PROCESSES, FDS,
		   EVENTS / PROCESSES, open_breakpoints);
	return 0;
}
