// SPDX-License-Identifier: GPL-2.0-only
/*
 * mux-load N MODE SECONDS [FREQUENCY]: a process that opens N counters of hardware events: MODE
 * cpu: on each CPU; task: on a busy child for each CPU; taskcpu: on these for each CPU; one: on a
 * busy child on the last CPU, for each CPU. With a FREQUENCY they sample. Prints "ready" when all
 * is open, and after SECONDS, or SIGTERM, the values that read() gives: how long they were enabled
 * and running.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
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

enum { MOST_CPUS = 16, MOST_EVENTS = 4096 };

struct load {
	int n, cpus, fds[MOST_EVENTS], n_fds;
	const char *mode;
	unsigned frequency;
	pid_t children[MOST_CPUS];
};

static pid_t busy_child(int cpu)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned long x = 0;;)
		x++;
}

static void open_one(struct load *l, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.freq = l->frequency != 0,
		.sample_freq = l->frequency,
		.exclude_kernel = l->frequency != 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	if (fd < 0 || l->n_fds == MOST_EVENTS) {
		perror("perf_event_open");
		exit(1);
	}
	l->fds[l->n_fds++] = fd;
}

static void start_children(struct load *l)
{
	if (!strcmp(l->mode, "one"))
		l->children[0] = busy_child(l->cpus - 1);
	for (int c = 0; !strncmp(l->mode, "task", 4) && c < l->cpus && c < MOST_CPUS; c++)
		l->children[c] = busy_child(c);
}

static void open_all(struct load *l)
{
	for (int i = 0; i < l->n; i++) {
		for (int c = 0; c < l->cpus; c++) {
			if (!strcmp(l->mode, "cpu"))
				open_one(l, -1, c);
			else if (!strcmp(l->mode, "task"))
				open_one(l, l->children[c], -1);
			else if (!strcmp(l->mode, "one"))
				open_one(l, l->children[0], c);
			for (int k = 0; !strcmp(l->mode, "taskcpu") && k < l->cpus; k++)
				open_one(l, l->children[k], c);
		}
	}
}

static void say_times(const struct load *l)
{
	uint64_t enabled = 0, running = 0, v[3];

	for (int i = 0; i < l->n_fds; i++) {
		if (read(l->fds[i], v, sizeof(v)) != (ssize_t)sizeof(v))
			continue;
		enabled += v[1];
		running += v[2];
	}
	printf("load %s n=%d fds=%d running_pct=%.3f\n", l->mode, l->n, l->n_fds,
	       enabled ? 100.0 * (double)running / (double)enabled : 0.0);
}

int main(int argc, char **argv)
{
	static struct load l;
	struct rlimit many = {1 << 16, 1 << 16};
	sigset_t end;

	if (argc < 4)
		return 2;
	/* The children end by SIGKILL. */
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	l.n = atoi(argv[1]);
	l.mode = argv[2];
	l.frequency = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	l.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	setrlimit(RLIMIT_NOFILE, &many);
	start_children(&l);
	open_all(&l);
	printf("ready\n");
	fflush(stdout);
	double seconds = atof(argv[3]);
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	sigtimedwait(&end, NULL, &t);
	say_times(&l);
	for (int c = 0; c < MOST_CPUS && l.children[c]; c++) {
		kill(l.children[c], SIGKILL);
		waitpid(l.children[c], NULL, 0);
	}
	return 0;
}
