// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of kontend live while little happens: runs it on a terminal of its own, reads what it
 * draws, and prints the CPU time of the program (both threads) as a share of one core after a
 * warm-up, its memory, and how many bytes it drew. "Idle" is what the machine is at the moment: the
 * busier, the higher. A second run beside the built-in workload shows the cost of a live picture.
 *
 *     idle-cost KONTEND [SECONDS]
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 77, WARM_UP_MS = 2000 };

struct cost {
	double cpu_s, wall_s;
	long peak_kib;
	size_t drawn;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* CPU time of all threads so far, to the nanosecond. */
static double cpu_s(pid_t pid)
{
	struct timespec ts = {0};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long peak_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	}
	if (f)
		fclose(f);
	return kib;
}

/* Reads what is drawn for so long; false when the program has closed the terminal. */
static bool drain(int fd, double seconds, size_t *drawn)
{
	double end = now_s() + seconds;
	char buf[1 << 14];

	for (double left = seconds; left > 0; left = end - now_s()) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			return false;
		*drawn += (size_t)n;
	}
	return true;
}

static pid_t start(const char *kontend, bool demo, int *ret_fd)
{
	struct winsize size = {.ws_row = 50, .ws_col = 160};
	pid_t pid = forkpty(ret_fd, NULL, NULL, &size);

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setenv("TERM", "xterm-256color", 1);
	if (demo)
		execl(kontend, kontend, "live", "--demo", (char *)NULL);
	else
		execl(kontend, kontend, "live", (char *)NULL);
	_exit(127);
}

static int measure(const char *kontend, bool demo, double seconds, struct cost *c)
{
	int fd, status;
	pid_t pid = start(kontend, demo, &fd);
	double cpu, wall;
	bool alive;

	if (pid < 0)
		return 1;
	alive = drain(fd, WARM_UP_MS / 1000.0, &c->drawn);
	c->drawn = 0;
	cpu = cpu_s(pid);
	wall = now_s();
	alive = alive && drain(fd, seconds, &c->drawn);
	c->cpu_s = cpu_s(pid) - cpu;
	c->wall_s = now_s() - wall;
	c->peak_kib = peak_kib(pid);
	if (alive && write(fd, "q", 1) == 1)
		drain(fd, 1, &(size_t){0});
	else
		kill(pid, SIGTERM);
	close(fd);
	waitpid(pid, &status, 0);
	return alive && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 10;

	if (argc < 2 || seconds <= 0) {
		fprintf(stderr, "usage: idle-cost KONTEND [SECONDS]\n");
		return 129;
	}
	if (geteuid()) {
		printf("skipped: needs root\n");
		return SKIP;
	}
	for (int demo = 0; demo < 2; demo++) {
		struct cost c = {0};

		if (measure(argv[1], demo, seconds, &c)) {
			printf("FAIL kontend live%s did not run and end by q\n",
			       demo ? " --demo" : "");
			return 1;
		}
		printf("live%-7s %5.2f %% of a core over %.1f s (goal when idle: 1 %%), %ld MiB at "
		       "most, %.1f KiB/s drawn\n",
		       demo ? " --demo" : "", 100 * c.cpu_s / c.wall_s, c.wall_s, c.peak_kib >> 10,
		       (double)c.drawn / 1024 / c.wall_s);
	}
	return 0;
}
